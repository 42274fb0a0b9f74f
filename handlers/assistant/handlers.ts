/** Handlers of the assistant's routes (docs/contract.md#assistant), loaded on the first request. */
import * as z from 'zod'
import { connectors, dataLevels } from '../../src/core/assistant/choices.ts'
import { eventText } from '../../src/core/assistant/server-events.ts'
import { rawNumbers } from '../../src/core/exact-json.ts'
import { lazily } from '../../src/core/lazily.ts'
import type { Background } from '../../src/ports/ports.ts'
import type { Assistant } from '../../src/services/assistant/assistant.ts'
import type { AssistantTools } from '../../src/services/assistant/calls.ts'
import type { AnswerUnderWay, AssistantEvent } from '../../src/services/assistant/chat.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { requirePlan } from '../../src/services/model/reviewed.ts'
import { type Answer, data, dataText, EVENTS, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { authorize, identify } from '../http/context.ts'
import type { Handler } from '../http/mount.ts'
import { publicAddress } from '../http/origin.ts'
import { type AppContext, isDisconnected } from '../http/request.ts'
import { idOf, lineOf, nameSchema, textSchema } from '../http/schemas.ts'
import { withSent } from '../http/sent.ts'

/** One line, because some of these are sent as headers. */
const name = (most: number) => lineOf(most).trim().min(1, 'must not be empty')

const limit = () =>
  z.int('must be an integer').min(0, 'must not be negative').max(1_000_000_000, 'is too much').optional()

export const settingsBody = lazily(() =>
  z.strictObject({
    connector: z
      .enum(connectors, `must be ${connectors.join(' or ')}`)
      .nullable()
      .optional(),
    connectorCredentials: z
      .strictObject({ apiKey: name(4_000) })
      .nullable()
      .optional(),
    connectorOptions: z
      .strictObject({
        // The path of a request is appended to the address.
        address: name(1_000)
          .refine((text) => !/[?#]/.test(text), 'must have no query and no fragment')
          .optional(),
      })
      .optional(),
    chatModel: name(200).nullable().optional(),
    fastModel: name(200).nullable().optional(),
    chatReasoningEnabled: z.boolean('must be true or false').optional(),
    chatReasoningLevel: name(40).nullable().optional(),
    dataLevel: z.enum(dataLevels, 'must be model or rows').optional(),
    limits: z
      .strictObject({ requestsPerUser: limit(), tokensPerUser: limit(), requests: limit(), tokens: limit() })
      .optional(),
  }),
)

const MOST_MESSAGE = 32_000

export const questionBody = lazily(() => {
  const place = () => textSchema(500).optional()
  return z.strictObject({
    conversationId: z.uuid('must be a UUID').toLowerCase().optional(),
    message: textSchema(MOST_MESSAGE).trim().min(1, 'must not be empty').optional(),
    context: z.strictObject({ screen: place(), collection: place(), key: place() }).optional(),
  })
})

export const decisionBody = lazily(() => z.strictObject({ approve: z.boolean('must be true or false') }))

export const conversationBody = lazily(() =>
  z.strictObject({ title: nameSchema().optional(), allowsWrites: z.boolean('must be true or false').optional() }),
)

export type AssistantHandlers = Readonly<
  Record<
    | 'readUsage'
    | 'readSettings'
    | 'changeSettings'
    | 'listConversations'
    | 'readConversation'
    | 'changeConversation'
    | 'deleteConversation'
    | 'chat'
    | 'decide',
    Handler
  >
>

export type AssistantHandlersDeps = { readonly services: Services; readonly assistant: Assistant }

export function createAssistantHandlers(deps: AssistantHandlersDeps): AssistantHandlers {
  const { services, assistant } = deps
  const { answers, calls, conversations, settings } = assistant
  const enter = (c: AppContext) => () => authorize(services, c)
  const conversationOf = (c: AppContext) => idOf(c, 'Conversation')

  return {
    readUsage: async (c) => dataText(await settings.usage(await identify(services, c))),

    readSettings: async (c) => data(await settings.read(await authorize(services, c))),

    changeSettings: async (c) => data(await withSent(enter(c), () => readBody(c, settingsBody), settings.change)),

    async listConversations(c) {
      const scope = await authorize(services, c)
      const list = await conversations.list(scope)
      return dataText(list, { meta: { isReady: await settings.isReady(scope.workspace.id) } })
    },

    readConversation: async (c) => data(await conversations.read(await authorize(services, c), conversationOf(c))),

    changeConversation: async (c) => {
      const change = withSent(
        enter(c),
        () => readBody(c, conversationBody),
        (scope, sent) => conversations.change(scope, conversationOf(c), sent),
      )
      return data(await change)
    },

    async deleteConversation(c) {
      await conversations.delete(await authorize(services, c), conversationOf(c))
      return noContent()
    },

    async chat(c) {
      const answer = await withSent(
        enter(c),
        () => readBody(c, questionBody),
        (scope, sent) => answers.ask(scope, sent, openTools(services, c)),
      )
      return streamed(answer, c.req.raw.signal, services.ports.background)
    },

    async decide(c) {
      const decided = withSent(
        enter(c),
        () => readBody(c, decisionBody),
        (scope, sent) => calls.decide(scope, idOf(c, 'Approval'), sent, openTools(services, c)),
      )
      return data(await decided)
    },
  }
}

/** Opens the MCP tools, loaded with the first question; authorizes each call anew, like a separate request. */
function openTools(services: Services, c: AppContext): AssistantTools {
  const { agents, config, ports } = services
  const spent = { rows: 0 }
  const answered = { length: 0, numbers: rawNumbers() }
  const requester = {
    address: publicAddress(c, config),
    client: c.get('addressOf')(c),
    isDisconnected: () => isDisconnected(c),
  }
  const open = async (plan?: string) => {
    const scope = { ...(await authorize(services, c)), plan }
    await requirePlan(scope, scope.snapshot.modelVersion)
    return agents.open({ ...scope, spent }, requester)
  }
  return {
    async offered() {
      const { listed } = await import('../mcp/server.ts')
      const tools = listed(await (await open()).usable())
      return tools.map(({ name: tool, description, inputSchema }) => ({ name: tool, description, schema: inputSchema }))
    },
    async run(tool, sent, plan) {
      const { runByName } = await import('../mcp/server.ts')
      const settings = { isAnonymous: false, observe: ports.observe, answered, numbers: rawNumbers() }
      return runByName(tool, sent, { open: () => open(plan), ...settings })
    },
  }
}

/** Milliseconds in which the client must read a piece; otherwise the answer ends. */
const UNREAD = 60_000
/**
 * Milliseconds without an event after which a comment is sent: by it a Worker notices a disconnected client, and proxies keep
 * the connection open.
 */
const QUIET = 5_000

function streamed({ events, leave }: AnswerUnderWay, signal: AbortSignal, background: Background): Answer {
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<AssistantEvent, void>> | undefined
  let unread: ReturnType<typeof setTimeout> | undefined
  // After the client has disconnected, a Worker runs only background work.
  const end = () => {
    clearTimeout(unread)
    background(leave())
  }
  signal.addEventListener('abort', end)
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(unread)
        next ??= events.next()
        const arrived = await unlessQuiet(next)
        if (arrived !== undefined) next = undefined
        if (arrived?.done) return controller.close()
        controller.enqueue(encoder.encode(arrived ? eventText(arrived.value.name, arrived.value.data) : ':\n\n'))
        unread = setTimeout(() => {
          controller.error(new Error('Nobody reads the answer'))
          end()
        }, UNREAD)
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  return { status: 200, body, headers: { 'Content-Type': EVENTS, 'X-Accel-Buffering': 'no' } }
}

async function unlessQuiet<T>(arriving: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const quiet = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), QUIET)
  })
  try {
    return await Promise.race([arriving, quiet])
  } finally {
    clearTimeout(timer)
  }
}
