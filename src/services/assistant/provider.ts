/** Streams one answer of a model (docs/contract.md#assistant). */

import { chatCompletions } from '../../core/assistant/chat-completions.ts'
import type { AssistantConnector } from '../../core/assistant/choices.ts'
import type { ModelTurn } from '../../core/assistant/conversation.ts'
import { messagesApi } from '../../core/assistant/messages-api.ts'
import { eventReader } from '../../core/assistant/server-events.ts'
import { type ModelRequest, ProviderFailure, type Usage, type Wire } from '../../core/assistant/wire.ts'
import type { ProviderGate } from '../../ports/accounts.ts'
import type { OpenedSettings } from './settings.ts'

export type ModelAnswer = { readonly turn: ModelTurn; readonly usage: Usage }

const wires: Readonly<Record<AssistantConnector, Wire>> = { openai: chatCompletions, anthropic: messagesApi }

/** The received part of an answer that may stay incomplete: its text, and the number of characters to be charged. */
export type PartialAnswer = { text: string; characters: number }

/** Estimate for providers that do not report usage. */
const CHARACTERS_OF_TOKEN = 4

export const tokensOf = ({ characters }: PartialAnswer): number => Math.ceil(characters / CHARACTERS_OF_TOKEN)

/** Milliseconds without data after which the answer fails. */
const IDLE = 60_000
/** Maximum milliseconds of a whole answer. */
const LONGEST = 300_000
/** Maximum characters of an answer's text, and of the whole response. */
const MOST_TEXT = 100_000
const MOST_READ = 8_000_000

/**
 * Asks a model, yields its text piece by piece and returns the whole answer. Throws ProviderFailure, whose message may be
 * shown, if the provider does not answer, refuses, or violates its protocol. Error messages of a provider are never shown.
 */
export async function* askModel(
  gate: ProviderGate,
  settings: OpenedSettings,
  {
    modelRequest,
    signal,
    partial,
  }: {
    readonly modelRequest: Omit<ModelRequest, 'model' | 'key' | 'reasoning'>
    readonly signal: AbortSignal
    readonly partial: PartialAnswer
  },
): AsyncGenerator<string, ModelAnswer> {
  const wire = wires[settings.connector]
  const { path, headers, body } = wire.request({
    ...modelRequest,
    model: settings.chatModel,
    key: settings.key,
    reasoning: settings.chatReasoningEnabled ? (settings.chatReasoningLevel ?? 'medium') : undefined,
  })
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST)]),
  }
  const response = await gate.stream(`${settings.address}${path}`, request, IDLE).catch(() => {
    throw new ProviderFailure('does not answer')
  })
  if (!response.ok || response.body === null) {
    await response.body?.cancel().catch(() => {})
    throw new ProviderFailure(refusalOf(response.status))
  }
  // Characters count from here on, since a refused request costs nothing.
  partial.characters = body.length
  const answer = wire.answer()
  const read = eventReader()
  let text = ''
  let length = 0
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw new ProviderFailure('stopped in the middle of its answer')
      })
      if (done) break
      length += value.byteLength
      if (length > MOST_READ) throw new ProviderFailure('answers too much')
      const added = read(decoder.decode(value, { stream: true }))
        .map((data) => answer.take(data))
        .join('')
      text += added
      partial.text = text
      partial.characters = body.length + text.length + answer.unshown()
      if (text.length > MOST_TEXT) throw new ProviderFailure('answers too much')
      if (added !== '') yield added
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
  if (!answer.hasEnded()) throw new ProviderFailure('stopped in the middle of its answer')
  const reasoning = answer.reasoning()
  const turn = { text, calls: answer.calls(), ...(reasoning.length > 0 && { reasoning }) }
  const usage = answer.usage()
  const isReported = usage.input + usage.output > 0
  return { turn, usage: isReported ? usage : { input: 0, output: tokensOf(partial) } }
}

/** Returns the whole answer of a model without streaming it. Throws ProviderFailure as `askModel` does. */
export async function askOnce(
  gate: ProviderGate,
  settings: OpenedSettings,
  modelRequest: Omit<ModelRequest, 'model' | 'key' | 'reasoning'>,
  { signal, partial }: { readonly signal: AbortSignal; readonly partial: PartialAnswer },
): Promise<ModelAnswer> {
  const stream = askModel(gate, settings, { modelRequest, signal, partial })
  let next = await stream.next()
  while (next.done !== true) next = await stream.next()
  return next.value
}

function refusalOf(status: number): string {
  if (status === 401 || status === 403) return 'refuses its key'
  if (status === 404) return 'knows no such model, or nothing at this address'
  if (status === 429) return 'has too many requests, or its own limit is used up; try again later'
  return `answers ${status}`
}
