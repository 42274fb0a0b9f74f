/**
 * Parts that all OpenAPI documents share: the error body, error responses (docs/contract.md#errors) and security. The
 * examples are answers from the acceptance suite, which checks every answer against these schemas.
 */
import { type ErrorKind, QUERY_FAILED, statusOf } from '../error-codes.ts'
import { operatorsOf } from '../model/operator.ts'
import { component, type JsonSchema } from './schema.ts'

const textOperators = [...operatorsOf({ name: 'string', params: { length: 'unlimited' } }, false)].join(', ')
const UNKNOWN_OPERATOR = `is not an operator of string; allowed: ${textOperators}`

export const errorSchema: JsonSchema = {
  type: 'object',
  description: 'What went wrong; `source` nests the cause, the innermost last. The outermost `message` says them all.',
  properties: {
    message: { type: 'string' },
    source: component('Error'),
    code: { type: 'string', pattern: '^-?[0-9]+$', description: 'A stable text of digits.' },
    meta: { type: 'object', additionalProperties: true },
  },
  required: ['message'],
  additionalProperties: false,
}

type ErrorAnswer = {
  readonly description: string
  readonly example: unknown
  readonly headers?: Readonly<Record<string, JsonSchema>>
}

const failures = {
  badRequest: {
    description: 'More than one credential, or a malformed query string.',
    example: { message: 'Invalid request' },
  },
  unauthenticated: {
    description: 'A credential that is invalid, expired or empty.',
    example: { message: 'Invalid token' },
  },
  paymentRequired: {
    description: 'The license is locked, or what was asked for is over one of its limits.',
    example: { message: 'System is locked. Please contact system administrator.' },
  },
  forbidden: {
    description: 'The caller may not do this. What is hidden and what does not exist are answered alike.',
    example: {
      message: 'You are not allowed to do this: no credential was sent',
      source: { message: 'no credential was sent' },
    },
  },
  notFound: {
    description: 'No such workspace, collection or item.',
    example: { message: 'Query failed', source: { message: 'No record found' } },
  },
  conflict: {
    description: 'The name is taken, this is the last one of its kind, or an earlier request stands against it.',
    example: { message: 'A role of this name already exists' },
    headers: { 'Retry-After': { type: 'string', description: 'Seconds, where it may succeed then.' } },
  },
  preconditionFailed: {
    description: 'The item has none of the tags that `If-Match` names.',
    example: {
      message: 'Precondition failed: The item has changed since it was read',
      source: { message: 'The item has changed since it was read' },
      code: '4120',
    },
  },
  tooLarge: {
    description: 'The body is larger than allowed.',
    example: { message: 'The body is larger than 65536 bytes' },
  },
  unsupportedMediaType: {
    description: 'The body is not JSON.',
    example: { message: 'The body must be application/json' },
  },
  rangeNotSatisfiable: {
    description: 'The file has none of the bytes that `Range` asks for; `Content-Range` says how many it has.',
    example: { message: 'The file has 1024 bytes' },
    headers: { 'Content-Range': { type: 'string' } },
  },
  invalid: {
    description: 'Well-formed, but wrong: the place and the reason are nested.',
    example: {
      message: `${QUERY_FAILED}: filter.title._foo: ${UNKNOWN_OPERATOR}`,
      source: { message: 'filter.title._foo', source: { message: UNKNOWN_OPERATOR } },
      code: '4009',
    },
  },
  throttled: {
    description: 'Too many attempts; `Retry-After` says when to come back.',
    example: { message: 'Too many attempts, try again later' },
    headers: { 'Retry-After': { type: 'string', description: 'Seconds.' } },
  },
  failed: {
    description: 'A fault of the service or of a data source.',
    example: { message: 'Query failed', source: { message: 'Failed to connect to the database' } },
  },
  unavailable: {
    description: 'Not available at the moment.',
    example: { message: 'The service is unavailable' },
    headers: { 'Retry-After': { type: 'string', description: 'Seconds, where it may succeed then.' } },
  },
} satisfies Partial<Record<ErrorKind, ErrorAnswer>>

/** The kinds of errors that documents show. */
export type DocumentedKind = keyof typeof failures

/** The name of the component that describes a kind. */
function componentOf(kind: DocumentedKind): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
}

/** The `responses` of an operation that can fail with these errors. */
export function errorResponses(kinds: readonly DocumentedKind[]): JsonSchema {
  return Object.fromEntries(
    kinds.map((kind) => [statusOf[kind], { $ref: `#/components/responses/${componentOf(kind)}` }]),
  )
}

export const everyError = Object.keys(failures) as readonly DocumentedKind[]

/** `components.responses` for these errors. */
export function errorComponents(kinds: readonly DocumentedKind[]): JsonSchema {
  return Object.fromEntries(
    kinds.map((kind) => {
      const { description, example, headers = {} }: ErrorAnswer = failures[kind]
      const described = Object.entries({ ...headers, ...requestIdHeader })
      return [
        componentOf(kind),
        {
          description,
          headers: Object.fromEntries(described.map(([header, schema]) => [header, { schema }])),
          content: { 'application/json': { schema: component('Error'), example } },
        },
      ]
    }),
  )
}

const requestIdHeader = { 'X-Request-Id': { type: 'string', format: 'uuid' } } as const

export const securitySchemes: JsonSchema = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token or an API key.' },
  accessToken: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description: 'The same, for clients that cannot set headers.',
  },
  session: { type: 'apiKey', in: 'cookie', name: 'service_session', description: 'A session of a browser.' },
}

/** At most one credential; without one the caller is anonymous. */
export const security: readonly JsonSchema[] = [{ bearer: [] }, { accessToken: [] }, { session: [] }, {}]

/** The first members of a document. */
export function headOf(title: string, description: string, version: string): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title,
      description,
      version,
      contact: { name: 'The administrator of this instance' },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security,
  }
}
