/** What the two protocols of models have in common: a request made of a conversation, and an answer that comes in pieces. */
import { isObject, jsonIn } from '../json-object.ts'
import type { ToolCall, Turn } from './conversation.ts'

export type OfferedTool = { readonly name: string; readonly description: string; readonly schema: object }

export type ModelRequest = {
  readonly model: string
  readonly key: string | undefined
  readonly prompt: string
  readonly turns: readonly Turn[]
  readonly tools: readonly OfferedTool[]
  readonly mostTokens: number
  /** How much a model that reasons is to do so; undefined where the request does not say. */
  readonly reasoning?: string | undefined
}

export type WireRequest = {
  /** Below the address of the provider. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Usage = { readonly input: number; readonly output: number }

/** An answer as it grows. */
export type Answering = {
  /** Takes the data of an event and returns the text that it adds. Throws ProviderFailure for what is none of the protocol. */
  take(data: string): string
  /** What has come. Calls that did not come whole are left out where the answer has not ended. */
  calls(): readonly ToolCall[]
  /** What the provider wants back with the results of the calls, as it came. Throws ProviderFailure where that is too much. */
  reasoning(): readonly object[]
  /** Characters that have come besides its text: of reasoning and of the arguments of calls. */
  unshown(): number
  usage(): Usage
  hasEnded(): boolean
}

export type Wire = { readonly request: (modelRequest: ModelRequest) => WireRequest; readonly answer: () => Answering }

/** A provider's answer that cannot be used; its message may be shown. */
export class ProviderFailure extends Error {}

/** Calls, and characters of all arguments, of one answer. */
const MOST_CALLS = 8
const MOST_ARGUMENTS = 100_000

/** Calls that come in pieces, told apart by their position. */
export function gatheredCalls() {
  const known = new Map<number, { id: string; tool: string; text: string }>()
  let length = 0
  return {
    add(position: number, piece: { readonly id?: string; readonly tool?: string; readonly text?: string }): void {
      const call = known.get(position) ?? { id: '', tool: '', text: '' }
      known.set(position, call)
      call.id ||= piece.id ?? ''
      call.tool ||= piece.tool ?? ''
      call.text += piece.text ?? ''
      length += piece.text?.length ?? 0
      if (known.size > MOST_CALLS || length > MOST_ARGUMENTS) throw new ProviderFailure('asks for too much at once')
    },
    length: () => length,
    /** Each has an id of its own, whatever the provider sent. */
    all(): readonly ToolCall[] {
      const used = new Set<string>()
      return [...known].map(([position, { id, tool, text }]) => {
        const own = id === '' || id.length > 200 || used.has(id) ? `call_${position}_${used.size}` : id
        used.add(own)
        return { id: own, tool: tool.slice(0, 100), arguments: text === '' ? '{}' : text }
      })
    },
  }
}

export function parsedEvent(data: string): Readonly<Record<string, unknown>> {
  const value = jsonIn(data)
  if (isObject(value)) return value
  throw new ProviderFailure('sends an event that is not JSON')
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const countOf = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0
