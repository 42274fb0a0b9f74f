/**
 * Conversations with the assistant (docs/contract.md#assistant): a model answers, its calls of tools run under the rights of the user,
 * and those that delete, change the model or open something wait for the user's own yes. What was said is kept as it comes, so that a
 * conversation goes on wherever it ended.
 */
import { asksFor, isOffered } from '../../core/assistant/approval.ts'
import { type ConversationEntry, type ToolCall, turnsOf } from '../../core/assistant/conversation.ts'
import { type Context, cutResult, promptOf } from '../../core/assistant/prompt.ts'
import { type OfferedTool, ProviderTrouble } from '../../core/assistant/wire.ts'
import { nested, ServiceError } from '../../core/error.ts'
import { isObject } from '../../core/json-object.ts'
import type { Instant, Ports } from '../../ports.ts'
import {
  addEntries,
  addOutcome,
  countRequest,
  countTokens,
  decideApproval,
  holdConversation,
  insertApproval,
  insertConversation,
  loadApproval,
  loadConversation,
  type Owner,
  releaseConversation,
} from '../../store/assistant.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { LazyBody } from '../caller/directory.ts'
import { noConversation, ownerOf } from './conversations.ts'
import { askModel } from './provider.ts'
import { type AssistantSettingsService, dayOf, type OpenedSettings } from './settings.ts'

export type AssistantRequest = {
  /** A new one where it is absent. */
  readonly conversationId?: string | undefined
  /** Absent where the assistant goes on, such as after a decision. */
  readonly message?: string | undefined
  readonly context?: Context | undefined
}

export type ToolAnswer = { readonly text: string; readonly isError: boolean }

/** Tools with the rights of the user, as they are at each call. */
export type AssistantTools = {
  offered(): Promise<readonly OfferedTool[]>
  /** `sent` is the JSON text of an object. */
  run(tool: string, sent: string): Promise<ToolAnswer>
}

export type AssistantEvent =
  | { readonly name: 'conversation'; readonly data: { readonly id: string } }
  | { readonly name: 'text'; readonly data: { readonly text: string } }
  | { readonly name: 'tool'; readonly data: ToolCall & { readonly result: string; readonly isError: boolean } }
  | { readonly name: 'approval'; readonly data: WaitingCall }
  | { readonly name: 'usage'; readonly data: { readonly input: number; readonly output: number } }
  | { readonly name: 'error'; readonly data: { readonly message: string } }
  | { readonly name: 'done'; readonly data: { readonly isWaiting: boolean } }

/** `leave` ends it where it waits for the model. */
export type AnswerUnderWay = { readonly events: AsyncGenerator<AssistantEvent>; readonly leave: () => Promise<void> }

export type WaitingCall = {
  readonly id: string
  readonly tool: string
  readonly arguments: string
  readonly expiresAt: string
}

export type Decision = { readonly state: 'approved' | 'declined'; readonly result?: string; readonly isError?: boolean }

export type Assistant = {
  /**
   * Begins an answer; its events come while it is made, and it ends when whoever takes them leaves. Throws 403 without ai:mcp, 422 where
   * the assistant is not set up, 404 for a conversation of somebody else, 409 where an answer is under way in it, 429 over a limit.
   */
  ask(scope: RequestScope, sent: LazyBody<AssistantRequest>, tools: AssistantTools): Promise<AnswerUnderWay>
  /**
   * Declines a call that waits, or runs it as it was kept, once. Throws 404 for a call of somebody else, 409 for one that is decided, is older than
   * ten minutes, or was made for another version of the model.
   */
  decide(
    scope: RequestScope,
    id: string,
    sent: LazyBody<{ readonly approve: boolean }>,
    tools: AssistantTools,
  ): Promise<Decision>
}

/** Answers of the model to one question. */
const MOST_STEPS = 8
const MOST_TOKENS = 8_192
/** Entries that are read of a conversation. */
const MOST_ENTRIES = 400
/** Milliseconds for which an answer holds its conversation without saying anything. */
const HOLD = 150_000
const APPROVAL = 10 * 60_000
const MOST_TITLE = 80
const DAY = 86_400_000

const WAITS = 'This call waits for the approval of the user, and was not run.'
const NOT_YET = 'This was not run: another call waits for the approval of the user.'

export type AssistantDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids' | 'observe' | 'providerGate'>
  readonly settings: Pick<AssistantSettingsService, 'open'>
}

export function createAssistant(deps: AssistantDeps): Assistant {
  const { ports, settings } = deps
  const { clock, database, ids } = ports
  const held = (holder: string) => ({ holder, now: clock.now(), until: clock.now() + HOLD })

  /** Holds the conversation, a new one where none is named, once the request is counted. */
  async function begin(
    owner: Owner,
    { conversationId, message }: AssistantRequest,
    work: Pick<Work, 'holder' | 'day' | 'opened'>,
  ): Promise<string> {
    const { holder, day, opened } = work
    const isCounted = () => countRequest(database, owner, { day, limits: opened.limits })
    if (conversationId !== undefined) {
      if (!(await holdConversation(database, owner, conversationId, held(holder))))
        throw await unheld(owner, conversationId)
      if (await isCounted()) return conversationId
      await releaseConversation(database, conversationId, holder)
      throw limitReached(clock.now())
    }
    if (message === undefined) throw nested('invalid', ['Invalid question', 'message', 'must be given'])
    if (!(await isCounted())) throw limitReached(clock.now())
    const id = ids.next()
    await database.batch([insertConversation(id, owner, titleOf(message))])
    await holdConversation(database, owner, id, held(holder))
    return id
  }

  async function unheld(owner: Owner, id: string): Promise<ServiceError> {
    const known = await loadConversation(database, owner, { id, most: 1, now: clock.now() })
    if (known === undefined) return noConversation()
    return new ServiceError('conflict', 'The assistant is answering in this conversation')
  }

  async function* answer(scope: RequestScope, work: Work): AsyncGenerator<AssistantEvent> {
    const { id, holder, ended } = work
    const partial = { text: '' }
    try {
      yield { name: 'conversation', data: { id } }
      for (let step = 0; step < MOST_STEPS; step += 1) {
        const { isWaiting, isWithin, hasCalls } = yield* oneStep(scope, work, partial)
        if (!hasCalls || isWaiting) {
          yield { name: 'done', data: { isWaiting } }
          return
        }
        if (!isWithin) throw limitReached(clock.now())
      }
      yield {
        name: 'error',
        data: { message: `The assistant stopped after ${MOST_STEPS} steps. Write “go on” to continue.` },
      }
    } catch (cause) {
      if (!(cause instanceof ProviderTrouble || cause instanceof ServiceError))
        ports.observe({ kind: 'fault', error: cause })
      yield { name: 'error', data: { message: messageOf(cause) } }
    } finally {
      ended.abort()
      const said: readonly ConversationEntry[] =
        partial.text === '' ? [] : [{ kind: 'assistant', text: partial.text, calls: [] }]
      if (said.length > 0) await addEntries(database, id, held(holder), said)
      await releaseConversation(database, id, holder)
    }
  }

  async function* oneStep(
    scope: RequestScope,
    { id, holder, owner, opened, tools, context, day, ended }: Work,
    partial: { text: string },
  ): AsyncGenerator<AssistantEvent, { isWaiting: boolean; isWithin: boolean; hasCalls: boolean }> {
    const conversation = await loadConversation(database, owner, { id, most: MOST_ENTRIES, now: clock.now() })
    if (conversation === undefined) return noConversation()
    const add = async (...entries: readonly ConversationEntry[]) => {
      if (!(await addEntries(database, id, held(holder), entries)))
        throw new ServiceError('conflict', 'The conversation is gone, or goes on elsewhere')
    }
    const offered = (await tools.offered()).filter(({ name }) => isOffered(name, opened.dataLevel))
    const asked = {
      prompt: promptOf({ workspace: scope.workspace.apiName, context }),
      turns: turnsOf(conversation.entries),
      tools: offered,
      mostTokens: MOST_TOKENS,
    }
    const said = askModel(ports.providerGate, opened, {
      asked,
      signal: ended.signal,
      onText: (text) => {
        partial.text = text
      },
    })
    let next = await said.next()
    try {
      for (; next.done !== true; next = await said.next()) yield { name: 'text', data: { text: next.value } }
    } finally {
      await said.return(undefined as never)
    }
    const { text, calls, usage } = next.value
    const isWithin = await countTokens(database, owner, {
      day,
      tokens: usage.input + usage.output,
      limits: opened.limits,
    })
    await add({ kind: 'assistant', text, calls })
    partial.text = ''
    yield { name: 'usage', data: usage }
    let isWaiting = false
    for (const call of calls) {
      const asks = argumentsOf(call) === undefined ? 'never' : asksFor(call.tool, argumentsOf(call))
      const isKnown = offered.some(({ name }) => name === call.tool)
      if (isWaiting || !isKnown || argumentsOf(call) === undefined) {
        const told = isWaiting ? NOT_YET : isKnown ? 'The arguments are not a JSON object.' : 'There is no such tool.'
        await add({ kind: 'result', callId: call.id, text: told, isError: true })
        yield { name: 'tool', data: { ...call, result: told, isError: true } }
        continue
      }
      if (asks === 'always' || (asks === 'writes' && !conversation.allowsWrites)) {
        isWaiting = true
        await add({ kind: 'result', callId: call.id, text: WAITS, isError: false })
        yield { name: 'approval', data: await keepWaiting(scope, id, call) }
        continue
      }
      if (asks === 'writes') await record(scope, 'assistant.run.v1', id, call.tool)
      const { text: result, isError } = await tools.run(call.tool, call.arguments)
      const told = cutResult(result)
      await add({ kind: 'result', callId: call.id, text: told, isError })
      yield { name: 'tool', data: { ...call, result: told, isError } }
    }
    return { isWaiting, isWithin, hasCalls: calls.length > 0 }
  }

  async function keepWaiting({ snapshot }: RequestScope, conversationId: string, call: ToolCall): Promise<WaitingCall> {
    const [id, expiresAt] = [ids.next(), clock.now() + APPROVAL]
    const { tool, arguments: sent } = call
    const { modelVersion } = snapshot
    await database.batch([insertApproval({ id, conversationId, tool, arguments: sent, modelVersion, expiresAt })])
    return { id, tool, arguments: sent, expiresAt: new Date(expiresAt).toISOString() }
  }

  async function record(scope: RequestScope, action: Recorded, conversationId: string, tool?: string): Promise<void> {
    const target = { type: 'conversation', id: conversationId } as const
    const payload = tool === undefined ? {} : { tool }
    await database.batch([recordWorkspaceEvent(ids, scope, { action, target, payload })])
  }

  return {
    async ask(scope, sent, tools) {
      const owner = ownerOf(scope)
      const question = await sent()
      const opened = await settings.open(scope.workspace.id)
      if (opened === undefined) throw new ServiceError('invalid', 'The assistant of this workspace is not set up')
      const holder = ids.next()
      const day = dayOf(clock.now())
      const id = await begin(owner, question, { holder, day, opened })
      const { message, context = {} } = question
      await record(scope, 'assistant.ask.v1', id)
      if (message !== undefined) await addEntries(database, id, held(holder), [{ kind: 'user', text: message }])
      const ended = new AbortController()
      const events = answer(scope, { id, holder, owner, opened, tools, context, day, ended })
      const leave = async () => {
        // A generator ends only behind what it waits for.
        ended.abort()
        await events.return(undefined)
      }
      return { events, leave }
    },

    async decide(scope, id, sent, tools) {
      const owner = ownerOf(scope)
      const { approve: isApproved } = await sent()
      const now = clock.now()
      const call = await decideApproval(database, owner, { id, isApproved, now })
      if (call === undefined) throw await undecided(owner, { id, now })
      const { conversationId, tool } = call
      await record(scope, isApproved ? 'assistant.approve.v1' : 'assistant.decline.v1', conversationId, tool)
      if (!isApproved) return { state: 'declined' }
      const { text, isError } = await tools.run(tool, call.arguments)
      const result = cutResult(text)
      await addOutcome(database, conversationId, { kind: 'outcome', tool, text: result, isError })
      return { state: 'approved', result, isError }
    },
  }

  async function undecided(owner: Owner, asked: { readonly id: string; readonly now: Instant }): Promise<ServiceError> {
    const state = await loadApproval(database, owner, asked)
    if (state === undefined) return new ServiceError('notFound', 'Approval does not exist')
    if (state === 'pending')
      return new ServiceError('conflict', 'The data model has changed since: the call is not run any more')
    const why = state === 'expired' ? 'The call waited for more than ten minutes' : `The call was ${state} already`
    return new ServiceError('conflict', why)
  }
}

type Recorded = 'assistant.ask.v1' | 'assistant.run.v1' | 'assistant.approve.v1' | 'assistant.decline.v1'

/** An answer under way. */
type Work = {
  readonly id: string
  readonly holder: string
  readonly owner: Owner
  readonly opened: OpenedSettings
  readonly tools: AssistantTools
  readonly context: Context
  readonly day: string
  readonly ended: AbortController
}

function argumentsOf({ arguments: text }: ToolCall): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function titleOf(message: string): string {
  const line = message.trim().replaceAll(/\s+/g, ' ')
  return line.length <= MOST_TITLE ? line : `${line.slice(0, MOST_TITLE - 1).toWellFormed()}…`
}

/** Until the next day begins. */
function limitReached(now: Instant): ServiceError {
  const retryAfter = Math.ceil((DAY - (now % DAY)) / 1_000)
  return new ServiceError('throttled', 'The limit of the assistant for today is used up', { meta: { retryAfter } })
}

function messageOf(cause: unknown): string {
  if (cause instanceof ProviderTrouble) return `The provider of the model ${cause.message}.`
  return cause instanceof ServiceError ? cause.message : 'Internal error'
}
