/** The assistant of a workspace: its settings, conversations, and answers as they come. */
import type { ConversationEntry, ToolCall } from '../../../src/core/assistant/conversation.ts'
import { clientOf } from './client.ts'
import { type Query, queries } from './queries.ts'

export type Call = ToolCall

export type Approval = Call & {
  readonly state: 'pending' | 'approved' | 'declined' | 'expired'
  readonly expiresAt: string
}

export type Listed = { readonly id: string; readonly title: string; readonly allowsWrites: boolean }
export type Conversation = Listed & {
  readonly entries: readonly ConversationEntry[]
  readonly approvals: readonly Approval[]
}

export type Settings = {
  readonly connector: 'openai' | 'anthropic' | null
  readonly connectorOptions: { readonly address?: string }
  readonly chatModel: string | null
  readonly fastModel: string | null
  readonly chatReasoningEnabled: boolean
  readonly chatReasoningLevel: string | null
  readonly dataLevel: 'model' | 'rows'
  readonly hasCredentials: boolean
  /** Otherwise provider, address and key are others' to choose, and that rows are sent. */
  readonly mayChooseProvider: boolean
  readonly limits: Readonly<Record<LimitName, number>>
  /** By day, the latest first. */
  readonly usage: readonly { readonly day: string; readonly requests: number; readonly tokens: number }[]
}

export const limitNames = ['requestsPerUser', 'tokensPerUser', 'requests', 'tokens'] as const
export type LimitName = (typeof limitNames)[number]

/** What comes while an answer is made. */
export type AnswerEvent =
  | { readonly name: 'conversation'; readonly data: { readonly id: string } }
  | { readonly name: 'text'; readonly data: { readonly text: string } }
  | { readonly name: 'tool'; readonly data: Call & { readonly result: string; readonly isError: boolean } }
  | { readonly name: 'approval'; readonly data: Omit<Approval, 'state'> }
  | { readonly name: 'usage'; readonly data: object }
  | { readonly name: 'error'; readonly data: { readonly message: string } }
  | { readonly name: 'done'; readonly data: { readonly isWaiting: boolean } }

type ConversationList = { readonly data: readonly Listed[]; readonly meta: { readonly isReady: boolean } }

export function conversationsQuery(workspace: string): Query<ConversationList> {
  return {
    queryKey: ['assistant', workspace],
    queryFn: () => clientOf(workspace).$request<ConversationList>('GET', 'ai/conversations').orThrow(),
  }
}

export function settingsQuery(workspace: string): Query<Settings> {
  return {
    queryKey: ['assistant', workspace, 'settings'],
    queryFn: async () => (await clientOf(workspace).$request<{ data: Settings }>('GET', 'ai/settings').orThrow()).data,
  }
}

export async function readConversation(workspace: string, id: string): Promise<Conversation> {
  const path = `ai/conversations/${encodeURIComponent(id)}`
  return (await clientOf(workspace).$request<{ data: Conversation }>('GET', path).orThrow()).data
}

export function assistantChanged(workspace: string): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['assistant', workspace] })
}

type QuestionBody = { readonly conversationId?: string; readonly message?: string; readonly context?: object }

/** Nobody waits so long for one answer. */
const LONGEST = 3_600_000

/** The events of an answer as they come; ends with `signal`. Throws what refuses the question. */
export async function* ask(workspace: string, body: QuestionBody, signal: AbortSignal): AsyncGenerator<AnswerEvent> {
  let pieces: ReadableStream<Uint8Array> | undefined
  // The client reads answers as a whole: it is given none, once there is something to read.
  const fetched: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || response.body === null) return response
    pieces = response.body
    return new Response('{}', { headers: { 'Content-Type': 'application/json' } })
  }
  await clientOf(workspace).$request('POST', 'ai/chat', { body, signal, timeout: LONGEST, fetch: fetched }).orThrow()
  if (pieces === undefined) return
  let rest = ''
  const reader = pieces.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (rest + part.value).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(event) ?? []
      if (name !== undefined && data !== undefined) yield { name, data: JSON.parse(data) } as AnswerEvent
    }
  }
}
