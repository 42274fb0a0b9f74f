/** Messages, as Anthropic has them. */
import { isObject, jsonIn } from '../json-object.ts'
import type { Turn } from './conversation.ts'
import { countOf, gatheredCalls, ProviderFailure, parsedEvent, textOf, type Usage, type Wire } from './wire.ts'

export const messagesApi: Wire = {
  request: ({ model, key, prompt, turns, tools, mostTokens, reasoning }) => ({
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01', ...(key !== undefined && { 'x-api-key': key }) },
    body: JSON.stringify({
      model,
      stream: true,
      max_tokens: mostTokens,
      system: prompt,
      ...(reasoning !== undefined && { thinking: { type: 'adaptive' }, output_config: { effort: reasoning } }),
      messages: turns.map(messageOf),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
      }),
    }),
  }),

  answer() {
    const calls = gatheredCalls()
    const thoughts = gatheredThoughts()
    let usage: Usage = { input: 0, output: 0 }
    let ended = false
    const count = (reported: unknown) => {
      if (!isObject(reported)) return
      usage = {
        input: Math.max(usage.input, countOf(reported.input_tokens)),
        output: Math.max(usage.output, countOf(reported.output_tokens)),
      }
    }
    return {
      take(data) {
        const event = parsedEvent(data)
        switch (event.type) {
          case 'message_start':
            if (isObject(event.message)) count(event.message.usage)
            return ''
          case 'content_block_start': {
            const block = isObject(event.content_block) ? event.content_block : {}
            if (block.type === 'tool_use') {
              calls.add(countOf(event.index), { id: textOf(block.id), tool: textOf(block.name) })
            }
            thoughts.begin(countOf(event.index), block)
            return block.type === 'text' ? textOf(block.text) : ''
          }
          case 'content_block_delta': {
            const delta = isObject(event.delta) ? event.delta : {}
            if (delta.type === 'input_json_delta') calls.add(countOf(event.index), { text: textOf(delta.partial_json) })
            thoughts.add(countOf(event.index), delta)
            return delta.type === 'text_delta' ? textOf(delta.text) : ''
          }
          case 'message_delta':
            count(event.usage)
            return ''
          case 'message_stop':
            ended = true
            return ''
          case 'error':
            throw new ProviderFailure('failed while it answered')
          default:
            return ''
        }
      },
      calls: () => (ended ? calls.all() : []),
      reasoning: thoughts.all,
      unshown: () => calls.length() + thoughts.length(),
      usage: () => usage,
      hasEnded: () => ended,
    }
  },
}

/** Characters and blocks of what a model thought of one answer. */
const MOST_THOUGHT = 200_000
const MOST_BLOCKS = 100

/** Blocks of thinking, which come in pieces and end with a signature; redacted ones come whole. */
function gatheredThoughts() {
  const blocks = new Map<number, { type: 'thinking'; thinking: string; signature: string } | object>()
  let length = 0
  const count = (text: string) => {
    length += text.length
    if (length > MOST_THOUGHT) throw new ProviderFailure('thinks too much')
    return text
  }
  return {
    begin(position: number, { type, data }: Readonly<Record<string, unknown>>): void {
      if (blocks.size >= MOST_BLOCKS) throw new ProviderFailure('thinks too much')
      if (type === 'thinking') blocks.set(position, { type, thinking: '', signature: '' })
      if (type === 'redacted_thinking') blocks.set(position, { type, data: count(textOf(data)) })
    },
    add(position: number, { type, thinking, signature }: Readonly<Record<string, unknown>>): void {
      const block = blocks.get(position)
      if (block === undefined || !('signature' in block)) return
      if (type === 'thinking_delta') block.thinking += count(textOf(thinking))
      if (type === 'signature_delta') block.signature += count(textOf(signature))
    },
    length: () => length,
    all: (): readonly object[] => [...blocks.values()],
  }
}

function messageOf(turn: Turn): object {
  if (turn.kind === 'assistant') {
    const text = turn.text === '' ? [] : [{ type: 'text', text: turn.text }]
    const calls = turn.calls.map(({ id, tool, arguments: sent }) => ({
      type: 'tool_use',
      id,
      name: tool,
      input: inputOf(sent),
    }))
    return { role: 'assistant', content: [...(turn.reasoning ?? []), ...text, ...calls] }
  }
  const results = turn.results.map(({ callId, text, isError }) => ({
    type: 'tool_result',
    tool_use_id: callId,
    content: text,
    is_error: isError,
  }))
  const text = turn.text === '' ? [] : [{ type: 'text', text: turn.text }]
  return { role: 'user', content: [...results, ...text] }
}

/** Of what was no object the provider is shown an empty one: its result says what was wrong. */
function inputOf(text: string): object {
  const value = jsonIn(text)
  return isObject(value) ? value : {}
}
