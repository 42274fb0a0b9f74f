/**
 * Builds the path items of one collection (docs/contract.md#openapi) as JSON text: most of it is the same for all
 * collections, and a model can have 10,000. API names need no escaping.
 */
import type { OperationKind, TypeReference } from '../manifest/format.ts'
import type { Interner } from '../manifest/interner.ts'
import { itemOutput, type ServedOperation, servedOperations } from '../manifest/query-schema.ts'
import type { Collection, PrimitiveField } from '../model/model.ts'
import { type DocumentedKind, errorResponses } from './answers.ts'
import { deepExample, fieldsExample, filterExample, itemExample, noRowsExample, sortExample } from './examples.ts'
import { component, type Direction, type JsonSchema, type Schemas } from './schema.ts'

export type ItemPaths = {
  /** Absent where the caller may use no operation there. */
  readonly many: string | undefined
  readonly one: string | undefined
}

export type PathContext = {
  readonly interner: Interner
  readonly schemas: Schemas
  /** The name of the component for `deep`; undefined for a collection without relations to describe. */
  readonly deepOf: (collection: Collection) => string | undefined
}

export function itemPaths(context: PathContext, collection: Collection): ItemPaths {
  const many: string[] = []
  const one: string[] = []
  for (const served of servedOperations(context.interner, collection)) {
    const path = served.kind in manyMethods ? many : one
    path.push(`"${methods[served.kind]}":${operation(context, collection, served)}`)
  }
  return {
    many: many.length === 0 ? undefined : `{${many.join()}}`,
    one:
      one.length === 0
        ? undefined
        : `{"parameters":${JSON.stringify([keyParameter(context, collection.key)])},${one.join()}}`,
  }
}

const manyMethods = { readMany: 'get', create: 'post', updateMany: 'patch', deleteMany: 'delete' } as const
const methods: Readonly<Record<OperationKind, string>> = {
  ...manyMethods,
  readOne: 'get',
  updateOne: 'patch',
  deleteOne: 'delete',
}

function operation(context: PathContext, collection: Collection, served: ServedOperation): string {
  const { apiName } = collection
  const { kind, output } = served
  const data = typeOf(served, 'data')
  const schema = (type: TypeReference, direction: Direction) => JSON.stringify(context.schemas.of(type, direction))
  const body =
    data === undefined
      ? ''
      : `,"requestBody":{"required":true,"content":{"application/json":{"schema":${schema(data, 'sent')},"example":${JSON.stringify(bodyExample(context, collection, kind))}}}}`
  const answer = schema(output.replace(/\?$/, ''), 'answered')
  return [
    `{"operationId":"${kind}${apiName}","summary":"${summaries[kind]} ${apiName}","description":"${descriptions[kind]}"`,
    `,"tags":["${apiName}"],"parameters":[${parameters(context, collection, served).join()}]${body}`,
    `,"responses":{"200":{"description":"${answers[kind]}","content":{"application/json":{"schema":`,
    `{"type":"object","properties":{"data":${answer}${kind === 'readMany' ? META : ''}},"required":["data"],"additionalProperties":false}`,
    `}}},${kind === 'deleteOne' || kind === 'deleteMany' ? DELETED : ''}${kind === 'readMany' || kind === 'readOne' ? readFailures : writeFailures}}}`,
  ].join('')
}

function bodyExample({ interner }: PathContext, collection: Collection, kind: OperationKind): unknown {
  return kind === 'create' ? [itemExample(interner, collection, 'create')] : itemExample(interner, collection, 'update')
}

const META = `,"meta":${JSON.stringify(component('ResponseMeta'))}`
const DELETED = '"204":{"description":"Deleted."},'

function typeOf({ fields }: ServedOperation, name: string): TypeReference | undefined {
  return fields.find(([argument]) => argument === name)?.[1].type
}

const summaries: Readonly<Record<OperationKind, string>> = {
  readMany: 'List items of',
  readOne: 'Read one item of',
  create: 'Create items of',
  updateMany: 'Change all matching items of',
  updateOne: 'Change one item of',
  deleteMany: 'Delete all matching items of',
  deleteOne: 'Delete one item of',
}

const descriptions: Readonly<Record<OperationKind, string>> = {
  readMany: 'In a total order where there is a key.',
  readOne: 'What may not be read is missing.',
  create: 'All items or none.',
  updateMany: 'All that match or none.',
  updateOne: 'Changes only what is sent.',
  deleteMany: 'All that match or none.',
  deleteOne: 'Answers the item where `fields` is given.',
}

const readErrors: readonly DocumentedKind[] = [
  'badRequest',
  'unauthenticated',
  'paymentRequired',
  'forbidden',
  'notFound',
  'invalid',
  'failed',
  'unavailable',
]
const writeErrors: readonly DocumentedKind[] = [...readErrors, 'tooLarge', 'unsupportedMediaType']

export const itemErrors = writeErrors

const readFailures = JSON.stringify(errorResponses(readErrors)).slice(1, -1)
const writeFailures = JSON.stringify(errorResponses(writeErrors)).slice(1, -1)

const answers: Readonly<Record<OperationKind, string>> = {
  readMany: 'The items.',
  readOne: 'The item.',
  create: 'The created items.',
  updateMany: 'The changed items.',
  updateOne: 'The changed item.',
  deleteMany: 'The deleted items, where `fields` asked for them.',
  deleteOne: 'The deleted item, where `fields` asked for it.',
}

const pageNames = ['limit', 'offset', 'meta'] as const

function parameters(context: PathContext, collection: Collection, served: ServedOperation): readonly string[] {
  const { interner, schemas, deepOf } = context
  const { kind } = served
  const deep = deepOf(collection)
  const filter = typeOf(served, 'filter')
  const sort = typeOf(served, 'sort')
  const isWrite = needsFilter.has(kind)
  const filtered =
    kind === 'readMany' ? filterExample(interner, collection) : isWrite ? noRowsExample(interner, collection) : {}
  return [
    fieldsParameter(context, collection),
    ...(filter === undefined
      ? []
      : [structured('filter', { schema: schemas.of(filter, 'sent'), example: filtered }, isWrite ? REQUIRED : '')]),
    ...(sort === undefined
      ? []
      : [structured('sort', { schema: schemas.of(sort, 'sent'), example: sortExample(interner, collection) })]),
    ...pageNames.filter((name) => typeOf(served, name) !== undefined).map((name) => shared[name]),
    ...(deep === undefined
      ? []
      : [structured('deep', { schema: component(deep), example: deepExample(interner, collection) })]),
  ]
}

/** The query parameters of a list or an item of a read-only collection, each as JSON text. */
export function queryParameters(
  context: PathContext,
  collection: Collection,
  kind: 'list' | 'item',
): readonly string[] {
  const served = servedOperations(context.interner, collection)
  const [asked] = served.filter((one) => one.kind === (kind === 'list' ? 'readMany' : 'readOne'))
  return asked === undefined ? [] : parameters(context, collection, asked)
}

/** The name of the component of an item in answers. */
export function itemComponent({ interner }: PathContext, collection: Collection): string {
  return interner.nameOf('output', itemOutput(interner, collection))
}

/** Writes of many require a filter. */
const needsFilter: ReadonlySet<string> = new Set(['updateMany', 'deleteMany'])
const REQUIRED = '"required":true,'

/**
 * A parameter in brackets at any depth, such as `filter[title][_contains]=lamp`, or as one JSON text. Clients limited
 * to OpenAPI's own styles send the JSON text.
 */
function structured(
  name: string,
  content: { readonly schema: JsonSchema; readonly example: unknown },
  more = '',
): string {
  const said = JSON.stringify({ description: STRUCTURED, ...content }).slice(1)
  return `{"name":"${name}","in":"query",${more}"style":"deepObject","explode":true,${said}`
}

const STRUCTURED = 'In brackets at any depth, or as one JSON text.'

function fieldsParameter({ interner }: PathContext, collection: Collection): string {
  const example = fieldsExample(interner, collection)
  if (example.length === 0) return shared.fields
  return JSON.stringify({ ...itemParameters.fields, description: FIELDS, example })
}

const FIELDS = 'What is returned: fields, `*`, and paths into relations.'

function keyParameter({ interner, schemas }: PathContext, key: readonly PrimitiveField[]): JsonSchema {
  const parts = key.map(({ type }) => schemas.of(interner.primitive(type), 'sent'))
  const parameter = { name: 'key', in: 'path', required: true }
  const [only] = parts
  if (parts.length === 1) return { ...parameter, description: 'The primary key.', schema: only }
  const names = key.map(({ apiName }) => apiName).join()
  return {
    ...parameter,
    description: `The parts of the primary key in their order: ${names}.`,
    style: 'simple',
    explode: false,
    schema: { type: 'array', prefixItems: parts, minItems: parts.length, maxItems: parts.length, items: {} },
  }
}

/** `components.parameters`. */
export const itemParameters = {
  fields: {
    name: 'fields',
    in: 'query',
    description:
      'What is returned: fields, `*`, and paths into relations such as `author.name` or `comments.*`. ' +
      'The limits of all lists along a path multiply: beyond what one read may bring (100,000 items unless configured) it is 422 with code 4014.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 200 },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'How many items at most; 0 and -1 are as many as allowed.',
    schema: { type: 'integer', minimum: -1 },
  },
  offset: {
    name: 'offset',
    in: 'query',
    description: 'How many items to skip.',
    schema: { type: 'integer', minimum: 0, default: 0 },
  },
  meta: {
    name: 'meta',
    in: 'query',
    description: 'Adds the number of all items that match.',
    schema: { type: 'string', enum: ['totalCount'] },
  },
}

const shared = {
  fields: '{"$ref":"#/components/parameters/fields"}',
  limit: '{"$ref":"#/components/parameters/limit"}',
  offset: '{"$ref":"#/components/parameters/offset"}',
  meta: '{"$ref":"#/components/parameters/meta"}',
}
