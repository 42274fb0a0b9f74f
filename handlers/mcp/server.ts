/**
 * Answers one request of the Model Context Protocol, without sessions. Errors of a tool are returned in its result, with advice
 * for the agent.
 */

import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  InitializeRequestSchema,
  LATEST_PROTOCOL_VERSION,
  ListToolsRequestSchema,
  McpError,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import { answeredBody, messagesOf, ServiceError } from '../../src/core/error.ts'
import type { ErrorKind } from '../../src/core/error-codes.ts'
import {
  parseExactJson,
  type RawNumbers,
  rawNumbers,
  TooManyRawNumbers,
  withPlainNumbers,
} from '../../src/core/exact-json.ts'
import { lazily } from '../../src/core/lazily.ts'
import { shortName } from '../../src/core/message-text.ts'
import { databaseError } from '../../src/core/sql/database-error.ts'
import type { Observe } from '../../src/ports/observe.ts'
import { batchBody, listBody } from '../../src/services/data/items.ts'
import { type AgentTool, type AgentTools, agentTools } from '../../src/services/documents/agents.ts'
import { VERSION } from '../../src/services/instance/release.ts'
import { type Answer, isFault, shownError, withoutCredential } from '../http/answer.ts'
import { answerMessages, method, type SentMessages } from './protocol.ts'
import { type Tool, tools } from './tools.ts'

export type McpRequest = {
  /** Opens the tools with the current rights, for each call anew. */
  readonly open: () => Promise<AgentTools>
  readonly sent: SentMessages
  readonly isAnonymous: boolean
  readonly observe: Observe
}

export function answerMcp({ open, sent, isAnonymous, observe }: McpRequest): Promise<Answer> {
  const answered = { length: 0, numbers: rawNumbers() }
  const numbers = rawNumbers()
  return answerMessages(sent, {
    initialize: method(InitializeRequestSchema, async ({ params: { protocolVersion: requested } }) => ({
      protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(requested) ? requested : LATEST_PROTOCOL_VERSION,
      capabilities: { tools: {} },
      serverInfo: { name: 'service', version: VERSION },
      instructions,
    })),
    ping: async () => ({}),
    'tools/list': method(ListToolsRequestSchema, async () => ({ tools: listed(await (await open()).usable()) })),
    'tools/call': method(CallToolRequestSchema, async ({ params }) => {
      const tool = agentTools.find((name) => name === params.name)
      if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `Unknown tool ${shortName(params.name)}`)
      return call(tools[tool], { open, sent: params.arguments ?? {}, isAnonymous, observe, answered, numbers })
    }),
  })
}

const instructions =
  'Data of one workspace as collections of items. Begin with read_schema, or with list_items if you know the collection. ' +
  'You act under the permissions of the key in use: what is hidden from it does not exist for you, and tools that it ' +
  'cannot use are not listed.'

/** The tools that the caller can use, in published form. */
export function listed(usable: ReadonlySet<AgentTool>) {
  return agentTools.filter((name) => usable.has(name)).map((name) => published[name]())
}

/** Each tool is published once: converting its schemas takes longer than most requests. */
const published = Object.fromEntries(agentTools.map((name) => [name, lazily(() => publish(name))])) as Readonly<
  Record<AgentTool, () => ReturnType<typeof publish>>
>

function publish(name: AgentTool) {
  const { title, description, input, output, meta, isKeyed, hints } = tools[name]
  const answer = {
    data: output.optional(),
    ...(meta && { meta: meta.optional() }),
    ...(isKeyed && { replayed: z.literal(true).optional() }),
    error: errorSchema.optional(),
  }
  return {
    name,
    title,
    description,
    inputSchema: objectSchema(input, 'input'),
    outputSchema: {
      ...objectSchema(z.strictObject(answer), 'output'),
      oneOf: [{ required: ['data'] }, { required: ['error'] }],
    },
    annotations: { title, ...hints, openWorldHint: false },
  }
}

const errorSchema = z.strictObject({
  get source() {
    return errorSchema.optional()
  },
  message: z.string(),
  code: z.string().optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
})

function objectSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: withoutIdle })
  return { ...made, type: 'object' as const }
}

/**
 * Shortens schemas, since agents pay for each word: omits that names are strings, that record members may be anything, and the
 * pattern of UUIDs.
 */
function withoutIdle({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { propertyNames, additionalProperties, format } = jsonSchema
  if (format === 'uuid') delete jsonSchema.pattern
  if (JSON.stringify(propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames
  if (JSON.stringify(additionalProperties) === '{}') delete jsonSchema.additionalProperties
}

/**
 * Maximum length of the answers of all tools in a request, in characters. Each answer is sent twice, and parsed and serialized
 * again: ten times the work of a read over HTTP.
 */
const MAX_ANSWER = 4 * 1024 * 1024

type Call = {
  readonly open: McpRequest['open']
  readonly sent: unknown
  readonly isAnonymous: boolean
  readonly observe: Observe
  /** Length of the request's answers so far, in characters, and their remaining budget of raw numbers. */
  readonly answered: { length: number; readonly numbers: RawNumbers }
  /** The remaining budget of raw numbers in the request's arguments. */
  readonly numbers: RawNumbers
}

/** Runs a tool by its name and the JSON text of its arguments, for callers outside of MCP. */
export async function runByName(
  name: string,
  sent: string,
  context: Omit<Call, 'sent'>,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const tool = agentTools.find((one) => one === name)
  if (tool === undefined) return { text: 'There is no such tool.', isError: true }
  const { arguments: read } = withPlainNumbers({ arguments: parseExactJson(sent) }, 'arguments') as {
    arguments: unknown
  }
  const { content, isError = false } = await call(tools[tool], { ...context, sent: read })
  return { text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''), isError }
}

async function call(
  tool: Tool,
  { open, sent, isAnonymous, observe, answered, numbers }: Call,
): Promise<CallToolResult> {
  const isRead = tool.hints.readOnlyHint
  try {
    if (answered.length >= MAX_ANSWER) throw databaseError('tooLarge')
    const { metas, replayed, ...answer } = await tool.run(await open(), sent, numbers)
    const body = metas === undefined ? listBody(answer) : batchBody({ data: answer.data, metas })
    const text = replayed ? `${body.slice(0, -1)},"replayed":true}` : body
    if (answered.length + text.length > MAX_ANSWER) {
      // The budget is used up, so that no further call of the request runs.
      if (!isRead) answered.length = MAX_ANSWER
      throw new LongAnswer()
    }
    answered.length += text.length
    // Clients read one or the other, so both have the same content.
    const structuredContent = parseExactJson(text, answered.numbers) as Record<string, unknown>
    return { content: [{ type: 'text', text }], structuredContent }
  } catch (thrown) {
    const isLong = thrown instanceof LongAnswer || thrown instanceof TooManyRawNumbers
    const cause = !isLong ? thrown : isRead ? databaseError('tooLarge') : done
    if (isFault(cause)) observe({ kind: 'fault', error: cause })
    const error = isAnonymous ? withoutCredential(cause) : cause
    const known = shownError(error)
    const body = answeredBody(known)
    const text = cause === done ? done.message : `${messagesOf(known).join(' > ')}\n${advice[known.kind]}`
    return { content: [{ type: 'text', text }], structuredContent: { error: body }, isError: true }
  }
}

/** Thrown if an answer exceeds the budget of its request. */
class LongAnswer extends Error {}

/** The error of a write whose answer is too long: the change stays. */
const done = new ServiceError('conflict', 'It was done. Its answer is too large: read what you need of it', {
  code: '1006',
})

const notNow = 'Nothing was changed. Try again later.'
const ours = 'This cannot be fixed from here; tell the user.'

/** Advice on what to do after an error of each kind. */
const advice: Readonly<Record<ErrorKind, string>> = {
  badRequest: 'Correct the arguments.',
  unauthenticated: 'The key is no longer valid; tell the user.',
  paymentRequired: 'The license does not allow it; tell the user.',
  forbidden:
    'The key in use may not do this, or what you named is hidden from it. Other arguments may work; do not retry these.',
  notFound: 'It does not exist, or it is hidden from you. Look for it with list_items or read_schema.',
  methodNotAllowed: 'Correct the arguments.',
  conflict: 'The request conflicts with the current state. Read it and decide again.',
  preconditionFailed: 'Nothing was changed: somebody else has changed it. Read it with its _etag and decide again.',
  tooLarge: 'Send less at a time.',
  unsupportedMediaType: 'Correct the arguments.',
  rangeNotSatisfiable: 'Correct the arguments.',
  invalid: 'Nothing was changed. Correct the place that is named; read_schema lists names and types.',
  throttled: notNow,
  unfit: 'Nothing was changed. Correct the operation that is named; read_schema lists what there is.',
  failed: ours,
  unavailable: notNow,
  abandoned: notNow,
}
