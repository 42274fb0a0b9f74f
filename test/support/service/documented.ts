/**
 * Holds the answers of the acceptance suite to the OpenAPI documents of the instance that gave them: the status is one
 * that the operation names, the body is of its schema. Documents are fetched from the instance as its administrator, and
 * again where a migration may have changed the model.
 */
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { type OpenApi, validatorOf } from './schema-validators.ts'

export type DocumentedRequest = {
  readonly method: string
  readonly url: string
  /** Whether the caller sees everything that the document tells of. */
  readonly seesAll: boolean
}

/** Throws where `response` is not what a document says. */
export type Check = (request: DocumentedRequest, response: Response) => Promise<void>

/** As many as one test file may need at a time; they are large. */
const MOST_DOCUMENTS = 20

export function createCheck(origin: string, headers: Readonly<Record<string, string>>): Check {
  const system = lazily(() => fetchDocument(`${origin}/api/system/openapi`, headers))
  const workspaces = new Map<string, () => Promise<Document | undefined>>()

  function workspaceDocument(name: string): Promise<Document | undefined> {
    const known = workspaces.get(name) ?? lazily(() => fetchDocument(`${origin}/api/${name}/openapi`, headers))
    workspaces.set(name, known)
    const [oldest = name] = workspaces.keys()
    if (workspaces.size > MOST_DOCUMENTS) workspaces.delete(oldest)
    return known()
  }

  return async (request, response) => {
    const { pathname } = new URL(request.url)
    const [, , name = '', part] = pathname.split('/')
    const isModelChange = request.method !== 'GET' && (part === 'schema' || part === 'sources')
    if (isModelChange) workspaces.delete(name)
    const isOfModel = part === 'items' || part === 'aggregates'
    const answer = await read(response, request.seesAll || !isOfModel)
    const check = async () => {
      const document = isOfModel ? await workspaceDocument(decodeURIComponent(name)) : undefined
      return fault(document ?? (await system()), request, pathname, answer)
    }
    const first = await check()
    if (first === undefined) return
    // The model may have changed in a way that this process did not see.
    workspaces.delete(name)
    const second = await check()
    if (second !== undefined) {
      throw new Error(
        `${request.method} ${pathname} answered ${answer.status} ${answer.text.slice(0, 500)}\nbut ${second}`,
      )
    }
  }
}

type Answer = { readonly status: number; readonly text: string; readonly body: unknown; readonly isJson: boolean }

async function read(response: Response, isComplete: boolean): Promise<Answer> {
  const text = await response.clone().text()
  const isJson = response.headers.get('Content-Type') === 'application/json'
  const body: unknown = isJson && text !== '' ? JSON.parse(text) : undefined
  // Whoever sees less gets null in place of what is hidden from them, and no field has to be there.
  return {
    status: response.status,
    text,
    isJson,
    body: isComplete || response.status >= 300 ? body : withoutNulls(body),
  }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name, member]) => member !== null || name === 'data')
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutNulls(member)]))
}

type Operation = { readonly responses: Readonly<Record<string, Described>> }

type Described = {
  readonly $ref?: string
  readonly content?: { readonly 'application/json'?: { readonly schema: object } }
}

type Document = {
  readonly paths: readonly {
    readonly pattern: RegExp
    readonly path: string
    readonly item: Record<string, Operation>
  }[]
  readonly validate: (schema: object) => ValidateFunction
  /** The schema of errors. */
  readonly error: object
}

async function fetchDocument(url: string, headers: Readonly<Record<string, string>>): Promise<Document | undefined> {
  const response = await fetch(url, { headers })
  if (!response.ok) return undefined
  const document = (await response.json()) as OpenApi & { paths: Record<string, Record<string, Operation>> }
  const known = new Map<object, ValidateFunction>()
  return {
    paths: Object.entries(document.paths)
      .map(([path, item]) => ({ path, item, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
      // A path that is written out comes before one with a parameter in its place.
      .sort((one, other) => one.path.split('{').length - other.path.split('{').length),
    validate(schema) {
      const found = known.get(schema) ?? validatorOf(schema, document)
      known.set(schema, found)
      return found
    },
    error: { $ref: '#/components/schemas/Error' },
  }
}

/** What is wrong with the answer, or undefined. */
function fault(
  document: Document | undefined,
  { method }: DocumentedRequest,
  pathname: string,
  answer: Answer,
): string | undefined {
  if (document === undefined) return 'the system has no document'
  const found = document.paths.find(({ pattern }) => pattern.test(pathname))
  const verb = verbs[method] ?? method.toLowerCase()
  const operation = found?.item[verb]
  // No such address, no such method, or a collection that there is not: only an error can be answered.
  if (found === undefined || operation === undefined) return errorFault(document, answer)
  const described = operation.responses[answer.status]
  if (described === undefined) return `the document does not know that status (${found.path})`
  if (answer.text === '') return undefined
  if (described.$ref !== undefined) return errorFault(document, answer)
  if (described.content === undefined) return 'the document says that there is no body'
  if (!answer.isJson) return undefined
  const { schema } = described.content['application/json'] ?? {}
  if (schema === undefined) return `the document does not know JSON there (${found.path})`
  return invalid(document.validate(schema), answer.body)
}

/** OpenAPI 3.1 has no method QUERY. */
const verbs: Readonly<Record<string, string>> = { HEAD: 'get', QUERY: 'x-query' }

function errorFault(document: Document, answer: Answer): string | undefined {
  if (answer.status < 400) return 'the document does not describe it'
  if (answer.text === '') return undefined
  return invalid(document.validate(document.error), answer.body)
}

function invalid(validate: ValidateFunction, body: unknown): string | undefined {
  if (validate(body)) return undefined
  const [error] = validate.errors ?? []
  return `its document says: ${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}`
}

function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load()
    return loading
  }
}
