/**
 * A provider of models on loopback that speaks both protocols from scripts, over real HTTP: each request takes the next answer of its
 * script. Which script is meant says the model's name, so that files share one provider.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ScriptedCall = { readonly tool: string; readonly arguments: unknown }

export type ScriptedAnswer = {
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  /** What is thought before, with a signature; by messages alone. */
  readonly thinking?: string
  /** Instead of an answer. */
  readonly status?: number
  /** Ends the connection, or says nothing more, behind the text and before anything else. */
  readonly end?: 'cut' | 'stall'
  /** Sent as it is, in place of events. */
  readonly raw?: string
}

/** What a provider was asked. */
export type ChatRequest = {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
}

export type ChatProvider = {
  readonly url: string
  /** Answers, in order, for a model of this name; a function is given how many requests it has had. */
  script(
    model: string,
    answers: readonly ScriptedAnswer[] | ((count: number, request: ChatRequest) => ScriptedAnswer),
  ): void
  requests(model: string): readonly ChatRequest[]
  close(): Promise<void>
}

export async function startChatProvider(): Promise<ChatProvider> {
  const scripts = new Map<string, (count: number, request: ChatRequest) => ScriptedAnswer>()
  const requests = new Map<string, ChatRequest[]>()
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Readonly<Record<string, unknown>>
    const model = String(body.model)
    const received: ChatRequest = { path: request.url ?? '', headers: request.headers, body }
    const known = [...(requests.get(model) ?? []), received]
    requests.set(model, known)
    const made = scripts.get(model)?.(known.length - 1, received) ?? { text: 'No more answers.' }
    if (made.status !== undefined)
      return void response.writeHead(made.status).end('{"error":{"message":"secret detail"}}')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = made.raw ?? (received.path.endsWith('/v1/messages') ? messages(made) : completions(made))
    // In pieces of seven bytes, which end within characters, lines and arguments.
    const bytes = Buffer.from(events)
    for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7))
    if (made.end === 'cut') return void setImmediate(() => response.destroy())
    if (made.end === undefined) response.end()
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    script: (model, answers) => {
      scripts.set(
        model,
        typeof answers === 'function' ? answers : (count) => answers[count] ?? { text: 'No more answers.' },
      )
    },
    requests: (model) => requests.get(model) ?? [],
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const event = (data: object | string, name?: string) =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

const textOf = (sent: unknown) => (typeof sent === 'string' ? sent : JSON.stringify(sent))

function completions({ text = '', calls = [], end }: ScriptedAnswer): string {
  const delta = (made: object, reason: string | null = null) =>
    event({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: made, finish_reason: reason }] })
  const deltas = [...text].map((character) => delta({ content: character })).join('')
  if (end !== undefined) return deltas
  const called = calls.flatMap((call, index) => {
    const sent = textOf(call.arguments)
    const half = Math.floor(sent.length / 2)
    return [
      delta({
        tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name: call.tool, arguments: '' } }],
      }),
      delta({ tool_calls: [{ index, function: { arguments: sent.slice(0, half) } }] }),
      delta({ tool_calls: [{ index, function: { arguments: sent.slice(half) } }] }),
    ]
  })
  const ended = delta({}, calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = event({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } })
  return `${deltas}${called.join('')}${ended}${usage}${event('[DONE]')}`
}

function messages({ text = '', calls = [], thinking, end }: ScriptedAnswer): string {
  const made = (type: string, data: object) => event({ type, ...data }, type)
  const start = made('message_start', { message: { usage: { input_tokens: 11, output_tokens: 1 } } })
  const thought = (piece: object) => made('content_block_delta', { index: 90, delta: piece })
  const thoughts =
    thinking === undefined
      ? ''
      : [
          made('content_block_start', { index: 90, content_block: { type: 'thinking', thinking: '', signature: '' } }),
          ...[...thinking].map((character) => thought({ type: 'thinking_delta', thinking: character })),
          thought({ type: 'signature_delta', signature: 'signed' }),
          made('content_block_start', { index: 91, content_block: { type: 'redacted_thinking', data: 'hidden' } }),
        ].join('')
  const block = made('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  const deltas = [...text]
    .map((character) => made('content_block_delta', { index: 0, delta: { type: 'text_delta', text: character } }))
    .join('')
  if (end !== undefined) return `${start}${thoughts}${block}${deltas}`
  const called = calls.flatMap((call, at) => {
    const index = at + 1
    const sent = textOf(call.arguments)
    const half = Math.floor(sent.length / 2)
    const piece = (part: string) =>
      made('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: part } })
    return [
      made('content_block_start', {
        index,
        content_block: { type: 'tool_use', id: `toolu_${at}`, name: call.tool, input: {} },
      }),
      piece(sent.slice(0, half)),
      piece(sent.slice(half)),
      made('content_block_stop', { index }),
    ]
  })
  const ended = made('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } })
  return `${start}${made('ping', {})}${thoughts}${block}${deltas}${called.join('')}${ended}${made('message_stop', {})}`
}
