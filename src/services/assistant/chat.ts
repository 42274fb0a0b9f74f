/**
 * Conversations with the assistant (docs/contract.md#assistant): a model answers, its tool calls run with the user's rights,
 * and those that delete, change the model or link to files wait for the user's approval. Each entry is stored at once, so that
 * an interrupted conversation can continue.
 */
import { asksFor, isOffered } from '../../core/assistant/approval.ts'
import {
  type ConversationEntry,
  charactersOfResults,
  type ToolCall,
  turnsOf,
} from '../../core/assistant/conversation.ts'
import { type Context, cutResult, promptOf } from '../../core/assistant/prompt.ts'
import { ProviderFailure } from '../../core/assistant/wire.ts'
import { nested, ServiceError } from '../../core/error.ts'
import { isObject, jsonIn } from '../../core/json-object.ts'
import { lazily } from '../../core/lazily.ts'
import type { Instant } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import {
  addEntries,
  changeConversation,
  countRequest,
  countTokens,
  holdConversation,
  insertConversation,
  loadConversation,
  type Owner,
  releaseConversation,
} from '../../store/assistant.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { LazyBody } from '../caller/directory.ts'
import { createAnswerRoom } from './answer-room.ts'
import { type AssistantTools, type Calls, recordAssistantAction, type WaitingCall } from './calls.ts'
import { MOST_READ, noConversation, ownerOf } from './conversations.ts'
import { askModel, askOnce, type PartialAnswer, tokensOf } from './provider.ts'
import { type AssistantSettingsService, dayOf, type OpenedSettings } from './settings.ts'

export type AssistantRequest = {
  /** Absent for a new conversation. */
  readonly conversationId?: string | undefined
  /** Absent if the assistant continues, such as after a decision. */
  readonly message?: string | undefined
  readonly context?: Context | undefined
}

export type AssistantEvent =
  | { readonly name: 'conversation'; readonly data: { readonly id: string } }
  | { readonly name: 'text'; readonly data: { readonly text: string } }
  | { readonly name: 'tool'; readonly data: ToolCall & { readonly result: string; readonly isError: boolean } }
  | { readonly name: 'approval'; readonly data: WaitingCall }
  | { readonly name: 'usage'; readonly data: { readonly input: number; readonly output: number } }
  | { readonly name: 'error'; readonly data: { readonly message: string } }
  | { readonly name: 'done'; readonly data: { readonly isWaiting: boolean } }

/** `leave` ends the answer while it waits for the model. */
export type AnswerUnderWay = { readonly events: AsyncGenerator<AssistantEvent>; readonly leave: () => Promise<void> }

export type Answers = {
  /**
   * Begins an answer; yields events as the answer is made, and ends it when the consumer stops. Throws 403 without ai:mcp, 422
   * if the assistant is not set up, 404 for another user's conversation, 409 if the conversation has an answer in progress, and
   * 429 over a limit.
   */
  ask(scope: RequestScope, sent: LazyBody<AssistantRequest>, tools: AssistantTools): Promise<AnswerUnderWay>
}

/** Maximum number of model turns per question. */
const MOST_STEPS = 8
/** Maximum tokens of one turn; with reasoning, reasoning tokens included. */
const MOST_TOKENS = 8_192
const MOST_TOKENS_REASONING = 32_000
const TITLE_TOKENS = 100
/** Milliseconds for making a title. */
const TITLING = 15_000
/** Milliseconds of silence after which an answer loses its hold on the conversation. */
const HOLD = 150_000
const MOST_TITLE = 80
const DAY = 86_400_000

const TITLE =
  'Name the conversation that begins with this message, in at most six words of its language. Answer with the name alone.'
const WAITS = 'This call waits for the approval of the user, and was not run.'
const NOT_YET = 'This was not run: another call waits for the approval of the user.'

export type AnswersDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids' | 'observe' | 'providerGate'>
  readonly settings: Pick<AssistantSettingsService, 'open'>
  readonly calls: Pick<Calls, 'keepWaiting'>
}

export function createAnswers(deps: AnswersDeps): Answers {
  const { calls, ports, settings } = deps
  const { clock, database, ids } = ports
  const room = createAnswerRoom()
  const held = (holder: string) => ({ holder, now: clock.now(), until: clock.now() + HOLD })

  /** Counts the request and holds its conversation; creates a conversation if none is named. */
  async function begin(
    owner: Owner,
    { conversationId, message }: AssistantRequest,
    work: Pick<Work, 'holder' | 'day'> & { readonly opened: OpenedSettings },
  ): Promise<string> {
    const { holder, day, opened } = work
    const isCounted = () => countRequest(database, owner, { day, limits: opened.limits })
    if (conversationId !== undefined) {
      const found = await holdConversation(database, owner, conversationId, held(holder))
      if (found === undefined) throw await unheld(owner, conversationId)
      const refusal = mayContinue(found, opened)
        ? (await isCounted())
          ? undefined
          : limitReached(clock.now())
        : noRows()
      if (refusal === undefined) return conversationId
      await releaseConversation(database, conversationId, holder)
      throw refusal
    }
    if (message === undefined) throw nested('invalid', ['Invalid question', 'message', 'must be given'])
    if (!(await isCounted())) throw limitReached(clock.now())
    const id = ids.next()
    const made = { title: titleOf(message), hasRows: opened.dataLevel === 'rows' }
    await database.batch([insertConversation(id, owner, made)])
    await holdConversation(database, owner, id, held(holder))
    return id
  }

  async function unheld(owner: Owner, id: string): Promise<ServiceError> {
    const known = await loadConversation(database, owner, { id, most: 1, now: clock.now() })
    if (known === undefined) return noConversation()
    return new ServiceError('conflict', 'The assistant is answering in this conversation')
  }

  async function* answer(scope: RequestScope, work: Work): AsyncGenerator<AssistantEvent> {
    const { id } = work
    try {
      yield { name: 'conversation', data: { id } }
      for (let step = 0; step < MOST_STEPS; step += 1) {
        const { isWaiting, isWithin, hasCalls } = yield* oneStep(scope, work)
        if (!hasCalls || isWaiting) {
          if (isWithin) await entitle(scope, work)
          yield { name: 'done', data: { isWaiting } }
          return
        }
        if (!isWithin) throw limitReached(clock.now())
      }
      const message = `The assistant stopped after ${MOST_STEPS} steps. Write “go on” to continue.`
      yield { name: 'error', data: { message } }
    } catch (cause) {
      if (!(cause instanceof ProviderFailure || cause instanceof ServiceError)) {
        ports.observe({ kind: 'fault', error: cause })
      }
      await keepPartial(work)
      yield { name: 'error', data: { message: messageOf(cause) } }
    } finally {
      await work.finish()
    }
  }

  async function add(id: string, holder: string, ...entries: readonly ConversationEntry[]): Promise<void> {
    if (await addEntries(database, id, held(holder), entries)) return
    throw new ServiceError('conflict', 'The conversation is full, gone, or goes on elsewhere: begin a new one')
  }

  /** Stores the text of an incomplete answer, and counts its tokens as far as they are known. */
  async function keepPartial({ id, holder, owner, opened, partial, day }: Work): Promise<void> {
    const { text } = partial
    const tokens = tokensOf(partial)
    partial.text = ''
    partial.characters = 0
    if (text !== '') await addEntries(database, id, held(holder), [{ kind: 'assistant', text, calls: [] }])
    if (tokens > 0) await countTokens(database, owner, { day, tokens, limits: opened.limits })
  }

  /** Lets the fast model, if there is one, name a new conversation; otherwise its first words are the title. */
  async function entitle({ workspace }: RequestScope, { id, owner, untitled, ended, day }: Work): Promise<void> {
    if (untitled === undefined) return
    // Loads the settings again, because the provider may have changed meanwhile.
    const opened = await settings.open(workspace.id)
    if (opened === undefined || opened.fastModel === null) return
    const { fastModel: chatModel, limits } = opened
    const partial: PartialAnswer = { text: '', characters: 0 }
    const count = (tokens: number) => countTokens(database, owner, { day, tokens, limits })
    try {
      const { turn, usage } = await askOnce(
        ports.providerGate,
        { ...opened, chatModel, chatReasoningEnabled: false },
        { prompt: TITLE, turns: [{ kind: 'user', text: untitled, results: [] }], tools: [], mostTokens: TITLE_TOKENS },
        { signal: AbortSignal.any([ended.signal, AbortSignal.timeout(TITLING)]), partial },
      )
      await count(usage.input + usage.output)
      const title = titleOf(turn.text)
      if (title !== '') await changeConversation(database, owner, id, { title })
    } catch (cause) {
      if (!(cause instanceof ProviderFailure)) throw cause
      await count(tokensOf(partial))
    }
  }

  async function* oneStep(
    scope: RequestScope,
    { id, holder, owner, tools, context, day, ended, partial }: Work,
  ): AsyncGenerator<AssistantEvent, { isWaiting: boolean; isWithin: boolean; hasCalls: boolean }> {
    const conversation = await loadConversation(database, owner, { id, most: MOST_READ, now: clock.now() })
    if (conversation === undefined) return noConversation()
    const opened = await settings.open(scope.workspace.id)
    if (opened === undefined) throw notSetUp()
    if (!mayContinue(conversation, opened)) throw noRows()
    // A conversation that began without values of items continues without them.
    const level = conversation.hasRows ? opened.dataLevel : 'model'
    const offered = (await tools.offered()).filter(({ name }) => isOffered(name, level))
    const modelRequest = {
      prompt: promptOf({ workspace: scope.workspace.apiName, context }),
      turns: turnsOf(conversation.entries),
      tools: offered,
      mostTokens: opened.chatReasoningEnabled ? MOST_TOKENS_REASONING : MOST_TOKENS,
    }
    const stream = askModel(ports.providerGate, opened, {
      modelRequest,
      signal: ended.signal,
      partial,
    })
    let next = await stream.next()
    try {
      for (; next.done !== true; next = await stream.next()) yield { name: 'text', data: { text: next.value } }
    } finally {
      await stream.return(undefined as never)
    }
    const { turn: answered, usage } = next.value
    const { calls: wanted } = answered
    const tokens = usage.input + usage.output
    const isWithin = await countTokens(database, owner, { day, tokens, limits: opened.limits })
    partial.characters = 0
    await add(id, holder, { kind: 'assistant', ...answered })
    partial.text = ''
    yield { name: 'usage', data: usage }
    let isWaiting = false
    let characters = charactersOfResults(conversation.entries)
    for (const call of wanted) {
      const sent = argumentsOf(call)
      const isKnown = offered.some(({ name }) => name === call.tool)
      if (isWaiting || !isKnown || sent === undefined) {
        const message = isWaiting
          ? NOT_YET
          : isKnown
            ? 'The arguments are not a JSON object.'
            : 'There is no such tool.'
        await add(id, holder, { kind: 'result', callId: call.id, text: message, isError: true })
        yield { name: 'tool', data: { ...call, result: message, isError: true } }
        continue
      }
      const asks = asksFor(call.tool, sent)
      if (asks === 'always' || (asks === 'writes' && !conversation.allowsWrites)) {
        isWaiting = true
        await add(id, holder, { kind: 'result', callId: call.id, text: WAITS, isError: false })
        yield { name: 'approval', data: await calls.keepWaiting(scope, id, call) }
        continue
      }
      if (asks === 'writes')
        await recordAssistantAction(ports, scope, { action: 'assistant.run.v1', conversationId: id, tool: call.tool })
      const { text: result, isError } = await tools.run(call.tool, call.arguments)
      const shortened = cutResult(result, characters)
      characters += shortened.length
      await add(id, holder, { kind: 'result', callId: call.id, text: shortened, isError })
      yield { name: 'tool', data: { ...call, result: shortened, isError } }
    }
    return { isWaiting, isWithin, hasCalls: wanted.length > 0 }
  }

  return {
    async ask(scope, sent, tools) {
      const owner = ownerOf(scope)
      const request = await sent()
      const opened = await settings.open(scope.workspace.id)
      if (opened === undefined) throw notSetUp()
      const leaveRoom = room.take(owner)
      const [holder, day] = [ids.next(), dayOf(clock.now())]
      let id: string | undefined
      try {
        id = await begin(owner, request, { holder, day, opened })
        const { message, context = {} } = request
        await recordAssistantAction(ports, scope, { action: 'assistant.ask.v1', conversationId: id })
        if (message !== undefined) await add(id, holder, { kind: 'user', text: message })
        const untitled = request.conversationId === undefined ? message : undefined
        return underWay(scope, { id, holder, owner, opened, tools, context, day, untitled }, leaveRoom)
      } catch (cause) {
        leaveRoom()
        if (id !== undefined) await releaseConversation(database, id, holder)
        throw cause
      }
    },
  }

  function underWay(
    scope: RequestScope,
    started: Omit<Work, 'ended' | 'partial' | 'finish'>,
    leaveRoom: () => void,
  ): AnswerUnderWay {
    const ended = new AbortController()
    const finish = lazily(async () => {
      ended.abort()
      leaveRoom()
      await keepPartial(work)
      await releaseConversation(database, started.id, started.holder)
    })
    const work: Work = { ...started, ended, partial: { text: '', characters: 0 }, finish }
    const events = answer(scope, work)
    const leave = async () => {
      // `return` takes effect only when the pending await ends, and runs no `finally` before the first `next`.
      ended.abort()
      await events.return(undefined)
      await finish()
    }
    return { events, leave }
  }
}

/** State of an answer in progress. */
type Work = {
  readonly id: string
  readonly holder: string
  readonly owner: Owner
  readonly opened: OpenedSettings
  readonly tools: AssistantTools
  readonly context: Context
  readonly day: string
  /** The first message of a new conversation. */
  readonly untitled: string | undefined
  readonly ended: AbortController
  readonly partial: PartialAnswer
  /** Runs once. */
  readonly finish: () => Promise<void>
}

/** A conversation that contains values of items may continue only if the model may still be sent such values. */
function mayContinue({ hasRows }: { readonly hasRows: boolean }, { dataLevel }: OpenedSettings): boolean {
  return !hasRows || dataLevel === 'rows'
}

function noRows(): ServiceError {
  return new ServiceError(
    'conflict',
    'The conversation may have rows in it, which the model is not told any more: begin a new one',
  )
}

function notSetUp(): ServiceError {
  return new ServiceError('invalid', 'The assistant of this workspace is not set up')
}

function argumentsOf({ arguments: text }: ToolCall): object | undefined {
  // What is stored and run must equal what is shown, so ill-formed Unicode is refused.
  if (!text.isWellFormed()) return undefined
  const value = jsonIn(text)
  return isObject(value) ? value : undefined
}

function titleOf(message: string): string {
  const line = message.replaceAll(/[\s\0]+/g, ' ').trim()
  return line.length <= MOST_TITLE ? line : `${line.slice(0, MOST_TITLE - 1).toWellFormed()}…`
}

/** `retryAfter` is the time until the next day begins. */
function limitReached(now: Instant): ServiceError {
  const retryAfter = Math.ceil((DAY - (now % DAY)) / 1_000)
  return new ServiceError('throttled', 'The limit of the assistant for today is used up', { meta: { retryAfter } })
}

function messageOf(cause: unknown): string {
  if (cause instanceof ProviderFailure) return `The provider of the model ${cause.message}.`
  return cause instanceof ServiceError ? cause.message : 'Internal error'
}
