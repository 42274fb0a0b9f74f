/**
 * The protocol's messages: JSON-RPC over HTTP, without sessions. Uses schemas and versions of the SDK, but not its server,
 * which has sessions, streams, tasks and questions to the client that this service does not offer (decision 029).
 */
import {
  ErrorCode,
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
  McpError,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js'
import type * as z from 'zod'
import { pause } from '../../src/ports/clock.ts'
import { type Answer, json } from '../http/answer.ts'

/** Answers a method: a result, or a rejection with McpError. */
export type Method = (request: JSONRPCRequest) => Promise<object>

export type SentMessages = {
  readonly body: unknown
  readonly accept: string
  /** The header MCP-Protocol-Version. */
  readonly version: string | undefined
}

/** Maximum number of messages per request. */
const MAX_BATCH = 100
/** JSON-RPC error code for errors without a code of their own. */
const REFUSED = -32000

/** A method that parses its request by a schema. */
export function method<S extends z.ZodType>(schema: S, run: (request: z.infer<S>) => Promise<object>): Method {
  return async (sent) => {
    const { data, success } = schema.safeParse(sent)
    if (!success) throw new McpError(ErrorCode.InvalidParams, `Invalid ${sent.method} request`)
    return run(data)
  }
}

/** Answers the requests of a body, one after the other. */
export async function answerMessages(
  { body, accept, version }: SentMessages,
  methods: Readonly<Record<string, Method>>,
): Promise<Answer> {
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) {
    return refused(406, REFUSED, 'Not Acceptable: Client must accept both application/json and text/event-stream')
  }
  const sent: readonly unknown[] = Array.isArray(body) ? body : [body]
  if (sent.length > MAX_BATCH) {
    return refused(400, ErrorCode.InvalidRequest, `Invalid Request: Batch must not exceed ${MAX_BATCH} messages`)
  }
  const read = sent.map((one) => JSONRPCMessageSchema.safeParse(one).data)
  const messages = read.filter((one) => one !== undefined)
  if (messages.length < read.length) {
    return refused(400, ErrorCode.ParseError, 'Parse error: Invalid JSON-RPC message')
  }
  const isStart = messages.some(isInitializeRequest)
  if (isStart && messages.length > 1) {
    return refused(400, ErrorCode.InvalidRequest, 'Invalid Request: Only one initialization request is allowed')
  }
  if (!isStart && version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const known = SUPPORTED_PROTOCOL_VERSIONS.join(', ')
    return refused(400, REFUSED, `Bad Request: Unsupported protocol version: ${version} (supported versions: ${known})`)
  }
  const responses: object[] = []
  // Notifications and responses have no meaning without a session.
  for (const request of messages.filter(isJSONRPCRequest)) {
    // Other requests run between two messages.
    if (responses.length > 0) await pause()
    responses.push(await responseTo(request, methods))
  }
  if (responses.length === 0) return { status: 202, body: null }
  return json(responses.length === 1 ? responses[0] : responses)
}

async function responseTo(
  request: Extract<JSONRPCMessage, { readonly method: string; readonly id: unknown }>,
  methods: Readonly<Record<string, Method>>,
): Promise<object> {
  const { id } = request
  const run = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined
  try {
    if (run === undefined) return failed(id, { code: ErrorCode.MethodNotFound, message: 'Method not found' })
    return { jsonrpc: '2.0', id, result: await run(request) }
  } catch (error) {
    if (!(error instanceof McpError)) throw error
    return failed(id, error)
  }
}

function failed(id: unknown, { code, message }: { readonly code: number; readonly message: string }): object {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

function refused(status: number, code: number, message: string): Answer {
  return json(failed(null, { code, message }), status)
}
