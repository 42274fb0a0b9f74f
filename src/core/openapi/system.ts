/**
 * Builds the OpenAPI 3.1 document of the system from descriptions of routes. Lists and items of built-in collections
 * are described from their models; the descriptions contain everything else.
 */
import { parseJson } from '../exact-json.ts'
import { fullModelView } from '../manifest/model-view.ts'
import { directoryModel } from '../model/directory.ts'
import { buildModel, type Collection, noRecords, SYSTEM_SOURCE } from '../model/model.ts'
import { systemRecords } from '../model/system.ts'
import { type DocumentedKind, errorComponents, errorResponses, everyError, headOf, securitySchemes } from './answers.ts'
import { createComponents } from './components.ts'
import { itemParameters } from './item-parameters.ts'
import { itemComponent, type PathContext, queryParameters } from './item-paths.ts'
import { component, type JsonSchema } from './schema.ts'

export type RouteDescription = {
  readonly summary: string
  readonly tag: string
  /** The built-in collection that the route reads, and how; determines the query parameters. */
  readonly asks?: { readonly kind: 'list' | 'item'; readonly of: string }
  readonly parameters?: readonly JsonSchema[]
  readonly body?: JsonSchema
  readonly isBodyOptional?: true
  /** Schemas of bodies that are no JSON, by media type. */
  readonly otherBodies?: Readonly<Record<string, JsonSchema>>
  readonly answers: Readonly<Record<string, AnswerDescription>>
  /** Errors besides those of every route of its kind. */
  readonly errors?: readonly DocumentedKind[]
}

export type AnswerDescription = {
  readonly description: string
  /** A schema, or of a built-in collection under `data` an item, a list with what is told of it, or one or several items. */
  readonly schema?: JsonSchema | BuiltIn
  /** JSON by default. */
  readonly mediaType?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** By method and path: `POST /api/system/workspaces`, `GET /api/{workspace}/roles`. */
export type RouteDescriptions = Readonly<Record<string, RouteDescription>>

export function systemDocument(routes: RouteDescriptions, version: string): string {
  const { context, entries } = createComponents(
    fullModelView(() => undefined),
    'flat',
  )
  const collections = builtIn()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [route, description] of Object.entries(routes)) {
    const [method = '', path = ''] = route.split(' ')
    paths[path] ??= pathParameters(path)
    Object.assign(paths[path], { [method.toLowerCase()]: operation(route, description, { context, collections }) })
  }
  const tags = [...new Set(Object.values(routes).map(({ tag }) => tag))]
  return JSON.stringify({
    ...headOf('System', ABOUT, version),
    tags: tags.map((name) => ({ name, description: `${name}.` })),
    paths,
    components: {
      schemas: Object.fromEntries(entries()),
      parameters: itemParameters,
      responses: errorComponents(everyError),
      securitySchemes,
    },
  })
}

const ABOUT =
  'Everything but the items of a workspace, which have a document of their own at `/api/{workspace}/openapi`. Results lie ' +
  'under `data`; exactly one credential is presented, or none. Unknown members of a body are refused by name.'

type Means = { readonly context: PathContext; readonly collections: ReadonlyMap<string, Collection> }

/** The collections of the directory, and the system collections of a workspace. */
function builtIn(): ReadonlyMap<string, Collection> {
  const source = { id: 'system', apiName: SYSTEM_SOURCE, provider: 'postgres' }
  const namespace = { id: 'meta', sourceId: source.id, dbName: 'meta', isSystem: true }
  const own = { ...noRecords, sources: [source], namespaces: [namespace] }
  const model = buildModel(1, own, systemRecords(source.id, namespace.id))
  return new Map([...directoryModel().byName, ...model.byName])
}

function operation(route: string, description: RouteDescription, means: Means): JsonSchema {
  const { summary, tag, asks, parameters = [], body, isBodyOptional, otherBodies, answers } = description
  const bodies = { ...(body !== undefined && { 'application/json': body }), ...otherBodies }
  const content = Object.fromEntries(Object.entries(bodies).map(([type, schema]) => [type, { schema }]))
  const queryParameters = asks === undefined ? [] : query(asks, means)
  return {
    operationId: operationId(route),
    summary,
    description: `${summary}.`,
    tags: [tag],
    ...(queryParameters.length + parameters.length > 0 && { parameters: [...queryParameters, ...parameters] }),
    ...(Object.keys(content).length > 0 && { requestBody: { required: isBodyOptional !== true, content } }),
    responses: {
      ...errorResponses(errorsOf(route, description)),
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answered(answer, means)])),
    },
  }
}

/** `postApiSystemWorkspaces` from `POST /api/system/workspaces`. */
function operationId(route: string): string {
  const words = route.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return words
    .map((word, index) => (index === 0 ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
}

function pathParameters(path: string): Record<string, unknown> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  if (names.length === 0) return {}
  const schemaOf = (name: string) => (name === 'id' ? { type: 'string', format: 'uuid' } : { type: 'string' })
  return {
    parameters: names.map((name) => ({
      name,
      in: 'path',
      required: true,
      description: pathWords[name] ?? `The ${name}.`,
      schema: schemaOf(name),
    })),
  }
}

const pathWords: Readonly<Record<string, string>> = {
  workspace: 'The API name of the workspace.',
  id: 'The id.',
  source: 'The id of the data source.',
}

function query({ kind, of }: NonNullable<RouteDescription['asks']>, { context, collections }: Means) {
  return queryParameters(context, found(collections, of), kind).map((text) => parseJson(text) as JsonSchema)
}

function answered({ description, schema, mediaType, headers = {} }: AnswerDescription, means: Means): JsonSchema {
  const shown = schema === undefined ? undefined : isBuiltIn(schema) ? underData(schema, means) : schema
  const described = Object.entries(headers).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' } },
  ])
  return {
    description,
    ...(described.length > 0 && { headers: Object.fromEntries(described) }),
    ...(shown !== undefined && { content: { [mediaType ?? 'application/json']: { schema: shown } } }),
  }
}

/** `meta` is what may stand beside an item. */
type BuiltIn = { readonly kind: 'list' | 'item' | 'some'; readonly of: string; readonly meta?: JsonSchema }

function isBuiltIn(schema: NonNullable<AnswerDescription['schema']>): schema is BuiltIn {
  return 'kind' in schema && 'of' in schema
}

function underData({ kind, of, meta }: BuiltIn, { context, collections }: Means): JsonSchema {
  const collection = found(collections, of)
  const item = component(itemComponent(context, collection))
  const list = { type: 'array', items: item }
  const data = kind === 'some' ? { anyOf: [item, list] } : kind === 'list' ? list : item
  const beside = kind === 'list' ? component('ResponseMeta') : meta
  const properties = { data, ...(beside !== undefined && { meta: beside }) }
  return { type: 'object', properties, required: ['data'], additionalProperties: false }
}

/** Any route can fail on a bad credential or an unavailable service; further errors follow from its input. */
function errorsOf(route: string, { errors = [] }: RouteDescription): readonly DocumentedKind[] {
  const always: readonly DocumentedKind[] = [
    'badRequest',
    'unauthenticated',
    'forbidden',
    'notFound',
    'invalid',
    'failed',
    'unavailable',
  ]
  const ofBody: readonly DocumentedKind[] = route.startsWith('GET ') ? [] : ['tooLarge', 'unsupportedMediaType']
  return [...new Set([...always, ...ofBody, ...errors])]
}

function found(collections: Means['collections'], name: string): Collection {
  const collection = collections.get(name)
  if (collection === undefined) throw new Error(`there is no built-in collection ${name}`)
  return collection
}
