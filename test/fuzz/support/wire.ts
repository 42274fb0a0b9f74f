/**
 * Requests as raw as HTTP allows, over connections that are kept, and what has to hold of every answer: it comes, its
 * status is of the closed set, its body is an item answer or an error without a word from behind the service.
 */
import { Agent, type IncomingMessage, request } from 'node:http'

export type Sent = {
  readonly method: string
  /** Path and query; characters beyond ASCII are sent as bytes of their UTF-8. */
  readonly path: string
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export type Received = { readonly status: number; readonly text: string }

export type Wire = { readonly send: (sent: Sent) => Promise<Received>; readonly close: () => void }

/** Long enough for the slowest machine; what never comes is told with its request. */
const PATIENCE = 120_000

export function openWire(url: string, token: string): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const { hostname, port } = new URL(url)
  const send = (sent: Sent) =>
    new Promise<Received>((resolve, reject) => {
      const body = sent.body === undefined ? undefined : Buffer.from(sent.body as string)
      const outgoing = request({
        agent,
        hostname,
        port,
        method: sent.method,
        path: rawPath(sent.path),
        headers: {
          Authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': String(body.byteLength) }),
          ...sent.headers,
        },
      })
      const timer = setTimeout(() => outgoing.destroy(new Error(`no answer in ${PATIENCE} ms`)), PATIENCE)
      const fail = (cause: Error) => {
        clearTimeout(timer)
        reject(new Error(`${describeSent(sent)}: ${cause.message}`, { cause }))
      }
      outgoing.on('error', fail)
      outgoing.on('response', (incoming) => {
        read(incoming).then((text) => {
          clearTimeout(timer)
          resolve({ status: incoming.statusCode ?? 0, text })
        }, fail)
      })
      outgoing.end(body)
    })
  return { send, close: () => agent.destroy() }
}

async function read(incoming: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString('utf8')
}

/** What no HTTP client can put into a request line is escaped, everything else is left as it is. */
function rawPath(path: string): string {
  return Buffer.from(path, 'utf8')
    .toString('latin1')
    .replace(/[\0-\u0020\u007f]/g, (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

export function describeSent({ method, path, body }: Sent): string {
  const shown = body === undefined ? '' : ` ${Buffer.from(body as string).toString('utf8')}`
  return `${method} ${path.slice(0, 4_000)}${shown.slice(0, 4_000)}`
}

const statuses: ReadonlySet<number> = new Set([200, 204, 400, 403, 404, 413, 415, 422])

/** What only someone behind the service says. */
const telltales = [
  'select ',
  'insert into',
  'delete from',
  'returning',
  'syntax error',
  'violates',
  'duplicate key',
  'invalid input',
  'pg_',
  '$1',
  '::text',
  '::json',
  '::int',
  '::numeric',
  '::timestamp',
  'SQLSTATE',
  'ECONN',
  '127.0.0.1',
  'localhost',
  'postgres',
  'service_',
  '\\n    at ',
  'node_modules',
  '.ts:',
  'TypeError',
  'RangeError',
  'undefined',
  '[object',
]

/** What is wrong with an answer; undefined where nothing is. */
export function faultOf(sent: Sent, { status, text }: Received): string | undefined {
  if (!statuses.has(status)) return `answered ${status}`
  if (status === 204) return text === '' ? undefined : 'has a body under 204'
  const body = parsed(text)
  if (body === undefined) return 'is not JSON'
  if (status === 200) return isItems(body) ? undefined : 'is not an item answer'
  if (!isError(body)) return 'is not an error body'
  if (text.length > 8_000) return 'is a long error'
  const said = echoOf(sent)
  const told = telltales.find((telltale) => text.includes(telltale) && !said.includes(telltale))
  return told === undefined ? undefined : `tells of ${told}`
}

/** What a message may repeat. */
function echoOf({ path, body = '' }: Sent): string {
  const spaced = path.replaceAll('+', ' ')
  return [path, unescaped(spaced), Buffer.from(body as string).toString('utf8')].join('\n')
}

function unescaped(text: string): string {
  return Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isItems(body: unknown): boolean {
  return isObject(body) && typeof body.data === 'object' && Object.keys(body).every((key) => /^(data|meta)$/.test(key))
}

/** Message, nested sources, a code of digits, `meta`; nothing else. */
function isError(body: unknown): boolean {
  if (!isObject(body)) return false
  const { message, source, code, meta, ...others } = body
  return (
    typeof message === 'string' &&
    message !== '' &&
    message.isWellFormed() &&
    (source === undefined || isError(source)) &&
    (code === undefined || (typeof code === 'string' && /^\d+$/.test(code))) &&
    (meta === undefined || isObject(meta)) &&
    Object.keys(others).length === 0
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
