/** Chat completions, as OpenAI has them and as most others take them. */
import { isObject } from '../json-object.ts'
import type { Turn } from './conversation.ts'
import { countOf, gatheredCalls, ProviderFailure, parsedEvent, textOf, type Usage, type Wire } from './wire.ts'

export const chatCompletions: Wire = {
  request: ({ model, key, prompt, turns, tools, mostTokens, reasoning }) => ({
    path: '/chat/completions',
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({
      model,
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: mostTokens,
      ...(reasoning !== undefined && { reasoning_effort: reasoning }),
      messages: [{ role: 'system', content: prompt }, ...turns.flatMap(messagesOf)],
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, schema }) => ({
          type: 'function',
          function: { name, description, parameters: schema },
        })),
      }),
    }),
  }),

  answer() {
    const calls = gatheredCalls()
    let usage: Usage = { input: 0, output: 0 }
    let ended = false
    return {
      take(data) {
        if (data === '[DONE]') {
          ended = true
          return ''
        }
        const event = parsedEvent(data)
        if (event.error !== undefined) throw new ProviderFailure('failed while it answered')
        if (isObject(event.usage)) {
          usage = { input: countOf(event.usage.prompt_tokens), output: countOf(event.usage.completion_tokens) }
        }
        const [choice] = Array.isArray(event.choices) ? event.choices : []
        if (!isObject(choice)) return ''
        if (textOf(choice.finish_reason) !== '') ended = true
        const delta = isObject(choice.delta) ? choice.delta : {}
        for (const [at, part] of (Array.isArray(delta.tool_calls) ? delta.tool_calls : []).entries()) {
          if (!isObject(part)) continue
          const made = isObject(part.function) ? part.function : {}
          const position = Number.isSafeInteger(part.index) ? Number(part.index) : at
          calls.add(position, { id: textOf(part.id), tool: textOf(made.name), text: textOf(made.arguments) })
        }
        return textOf(delta.content)
      },
      calls: () => (ended ? calls.all() : []),
      reasoning: () => [],
      unshown: calls.length,
      usage: () => usage,
      hasEnded: () => ended,
    }
  },
}

function messagesOf(turn: Turn): readonly object[] {
  if (turn.kind === 'assistant') {
    const calls = turn.calls.map(({ id, tool, arguments: text }) => ({
      id,
      type: 'function',
      function: { name: tool, arguments: text },
    }))
    return [{ role: 'assistant', content: turn.text, ...(calls.length > 0 && { tool_calls: calls }) }]
  }
  const results = turn.results.map(({ callId, text }) => ({ role: 'tool', tool_call_id: callId, content: text }))
  return turn.text === '' ? results : [...results, { role: 'user', content: turn.text }]
}
