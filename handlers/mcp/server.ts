/**
 * Answers one request of the Model Context Protocol. There are no sessions: each request has its own server. Errors of
 * a tool are returned in its result, with advice that an agent can act on.
 */

import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import { type ErrorBody, errorBody, ServiceError } from '../../src/core/error.ts'
import type { ErrorKind } from '../../src/core/error-codes.ts'
import { shortName } from '../../src/core/message-text.ts'
import { databaseError } from '../../src/core/sql/database-error.ts'
import type { Observe } from '../../src/ports.ts'
import { type AgentTool, type AgentTools, agentTools } from '../../src/services/documents/agents.ts'
import { VERSION } from '../../src/services/instance/release.ts'
import { type Answer, isFault } from '../http/answer.ts'
import { type Tool, tools } from './tools.ts'

export type McpRequest = {
  readonly tools: AgentTools
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
  readonly observe: Observe
}

export async function answerMcp({ tools: agent, headers, body, observe }: McpRequest): Promise<Answer> {
  const server = new Server(
    { name: 'service', version: VERSION },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  )
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: listed(await agent.usable()) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const tool = agentTools.find((name) => name === params.name)
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `Unknown tool ${shortName(params.name)}`)
    return call(tools[tool], { agent, sent: params.arguments ?? {}, observe })
  })
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  })
  await server.connect(transport)
  try {
    const said = Object.entries(headers).filter((scope): scope is [string, string] => scope[1] !== undefined)
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: said })
    const response = await transport.handleRequest(request, { parsedBody: body })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : text }
  } finally {
    await server.close()
  }
}

const instructions =
  'Data of one workspace as collections of items. Begin with read_schema, or with list_items if you know the collection. ' +
  'You act under the permissions of the key in use: what is hidden from it does not exist for you, and tools that it ' +
  'cannot use are not listed.'

/** Used only by servers that elicit input from users, which this one does not. */
const jsonSchemaValidator = {
  getValidator: () => {
    throw new Error('elicitation is not supported')
  },
}

/** Lists only the tools that the caller can use. */
function listed(usable: ReadonlySet<AgentTool>) {
  return agentTools
    .filter((name) => usable.has(name))
    .map((name) => {
      const { title, description, input, output, meta, hints } = tools[name]
      const answer = { data: output.optional(), ...(meta && { meta: meta.optional() }), error: errorSchema.optional() }
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
    })
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
  return { ...z.toJSONSchema(schema, { io, unrepresentable: 'any' }), type: 'object' as const }
}

/**
 * Maximum length of a reading tool's answer, in characters. Each answer is sent twice, parsed and serialised again: ten
 * times the work of a read by HTTP.
 */
const MAX_ANSWER = 4 * 1024 * 1024

type Call = { readonly agent: AgentTools; readonly sent: unknown; readonly observe: Observe }

async function call(tool: Tool, { agent, sent, observe }: Call): Promise<CallToolResult> {
  try {
    const { data, total } = await tool.run(agent, sent)
    const text = total === undefined ? `{"data":${data}}` : `{"data":${data},"meta":{"totalCount":${total}}}`
    // A change is reported whatever its size: the caller could not learn of it otherwise.
    if (tool.hints.readOnlyHint && text.length > MAX_ANSWER) throw databaseError('tooLarge')
    // Clients read either one, so both have the same content.
    return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) as Record<string, unknown> }
  } catch (error) {
    if (isFault(error)) observe({ kind: 'fault', error })
    const known = error instanceof ServiceError ? error : new ServiceError('failed', 'Internal error')
    const body = errorBody(known)
    const text = `${story(body).join(' > ')}\n${advice[known.kind]}`
    return { content: [{ type: 'text', text }], structuredContent: { error: body }, isError: true }
  }
}

function story({ message, source }: ErrorBody): readonly string[] {
  return [message, ...(source === undefined ? [] : story(source))]
}

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
  tooLarge: 'Send less at a time.',
  unsupportedMediaType: 'Correct the arguments.',
  invalid: 'Nothing was changed. Correct the place that is named; read_schema lists names and types.',
  throttled: notNow,
  unfit: 'Nothing was changed. Correct the operation that is named; read_schema lists what there is.',
  failed: ours,
  unavailable: notNow,
  abandoned: notNow,
}
