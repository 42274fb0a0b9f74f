/**
 * Builds the path items of one collection (docs/contract.md#openapi) as JSON text: most of it is the same for all
 * collections, and a model can have 10,000. API names need no escaping.
 */
import type { InputField, OperationKind, TypeReference } from '../manifest/format.ts'
import type { Interner } from '../manifest/interner.ts'
import { itemOutput, type ServedOperation, servedOperations } from '../manifest/query-schema.ts'
import type { Collection, PrimitiveField } from '../model/model.ts'
import { type DocumentedKind, errorResponses } from './answers.ts'
import { deepExample, fieldsExample, filterExample, itemExample, noRowsExample, sortExample } from './examples.ts'
import { itemHeaders, itemParameters, metaParameter, metaSchema, shared } from './item-parameters.ts'
import { component, type Direction, type JsonSchema, type Schemas } from './schema.ts'

export type ItemPaths = {
  /** Absent where the caller may use no operation there. */
  readonly many: string | undefined
  readonly one: string | undefined
  readonly isReadByKey: boolean
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
  const operations = servedOperations(context.interner, collection)
  for (const served of operations) {
    const path = served.kind in manyMethods ? many : one
    path.push(`"${methods[served.kind]}":${operation(context, collection, served)}`)
    if (served.kind === 'readMany') path.push(`"x-query":${queryOperation(context, collection, served)}`)
  }
  return {
    isReadByKey: operations.some(({ kind }) => kind === 'readOne'),
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
  const data = argumentOf(served, 'data')
  const schema = (type: TypeReference, direction: Direction) => JSON.stringify(context.schemas.of(type, direction))
  const body =
    data === undefined
      ? ''
      : `,"requestBody":{"required":true,"content":{"application/json":{"schema":${JSON.stringify(context.schemas.sent(data))},"example":${JSON.stringify(bodyExample(context, collection, kind))}}}}`
  const answer = schema(output.replace(/\?$/, ''), 'answered')
  const isReading = kind === 'readMany' || kind === 'readOne'
  const isConditional = conditionalKinds.has(kind) && context.interner.view.declared(collection)?.conditional !== false
  const headers = headersOf(kind, isConditional)
  return [
    `{"operationId":"${kind}${apiName}","summary":"${summaries[kind]} ${apiName}","description":"${descriptions[kind]}"`,
    `,"tags":["${apiName}"],"parameters":[${[...parameters(context, collection, served), ...headers].join()}]${body}`,
    `,"responses":{"200":${answered(kind, answer)},${kind === 'deleteOne' || kind === 'deleteMany' ? DELETED : ''}${isReading ? UNCHANGED : ''}${isReading ? readFailures : isConditional ? conditionalFailures : writeFailures}}}`,
  ].join('')
}

function headersOf(kind: OperationKind, isConditional: boolean): readonly string[] {
  if (kind === 'readMany' || kind === 'readOne') return [shared.ifNoneMatch, shared.actAs]
  return isConditional ? [shared.idempotencyKey, shared.ifMatch] : [shared.idempotencyKey]
}

/** What may have to be done to the item as it was read. */
const conditionalKinds: ReadonlySet<OperationKind> = new Set(['updateOne', 'deleteOne'])

function answered(kind: OperationKind, data: string): string {
  const properties = `{"data":${data}${kind === 'readMany' ? META : ''}}`
  const schema = `{"type":"object","properties":${properties},"required":["data"],"additionalProperties":false}`
  const tagged = kind === 'readOne' || kind === 'readMany' ? TAGGED : REPLAYED
  return `{"description":"${answers[kind]}",${tagged}"content":{"application/json":{"schema":${schema}}}}`
}

/** OpenAPI 3.1 has no method QUERY: an operation as 3.2 has it, of the parameters of GET as members of its body. */
function queryOperation(context: PathContext, collection: Collection, served: ServedOperation): string {
  const { apiName } = collection
  const { interner, schemas, deepOf } = context
  const deep = deepOf(collection)
  const structures = ['filter', 'sort'].flatMap((name) => {
    const type = typeOf(served, name)
    return type === undefined ? [] : [[name, schemas.of(type, 'sent')] as const]
  })
  const plain = plainNames.filter((name) => typeOf(served, name) !== undefined)
  const properties = {
    fields: itemParameters.fields.schema,
    ...Object.fromEntries(structures),
    ...Object.fromEntries(plain.map((name) => [name, { ...itemParameters, ...itemHeaders }[name].schema])),
    ...(plain.includes('meta') && { meta: metaSchema(metasOf(interner, served)) }),
    ...(deep !== undefined && { deep: component(deep) }),
  }
  const content = {
    schema: { type: 'object', properties, additionalProperties: false },
    example: { fields: fieldsExample(interner, collection), filter: filterExample(interner, collection) },
  }
  const answer = JSON.stringify(schemas.of(served.output.replace(/\?$/, ''), 'answered'))
  return [
    `{"operationId":"query${apiName}","summary":"${summaries.readMany} ${apiName} by a body","tags":["${apiName}"]`,
    `,"requestBody":{"required":true,"content":{"application/json":${JSON.stringify(content)}}}`,
    `,"parameters":[${shared.ifNoneMatch},${shared.actAs}],"responses":{"200":${answered('readMany', answer)},${UNCHANGED}${bodyFailures}}}`,
  ].join('')
}

function bodyExample({ interner }: PathContext, collection: Collection, kind: OperationKind): unknown {
  return kind === 'create' ? [itemExample(interner, collection, 'create')] : itemExample(interner, collection, 'update')
}

const META = `,"meta":${JSON.stringify(component('ResponseMeta'))}`
const REPLAYED =
  '"headers":{"Idempotency-Replayed":{"description":"`true` where an earlier request with this key got it.","schema":{"type":"string"}}},'
const DELETED = `"204":{"description":"Deleted.",${REPLAYED.slice(0, -1)}},`
const TAGGED = '"headers":{"ETag":{"description":"The tag of this answer.","schema":{"type":"string"}}},'
const UNCHANGED = `"304":{"description":"What \`If-None-Match\` names still holds.",${TAGGED.slice(0, -1)}},`

function typeOf(served: ServedOperation, name: string): TypeReference | undefined {
  return argumentOf(served, name)?.type
}

/** The values of `meta` that a list takes. */
function metasOf(interner: Interner, served: ServedOperation): readonly string[] {
  const type = typeOf(served, 'meta')
  return type === undefined ? [] : interner.enumerationAt(Number(type.slice(1))).values
}

function argumentOf({ fields }: ServedOperation, name: string): InputField | undefined {
  return fields.find(([argument]) => argument === name)?.[1]
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
  readMany: 'In a total order where there is a key. QUERY takes the parameters as a JSON body, see `x-query`.',
  readOne: 'What may not be read is missing.',
  create: 'All items or none.',
  updateMany:
    'All that match the filter or none, `filter[_all]=true` for all that there are; or a list of items that name themselves by their key, ' +
    'without a filter.',
  updateOne: 'Changes only what is sent.',
  deleteMany: 'All that match the filter or none, `filter[_all]=true` for all that there are.',
  deleteOne: 'Answers the item where `fields` is given.',
}

export const readErrors: readonly DocumentedKind[] = [
  'badRequest',
  'unauthenticated',
  'paymentRequired',
  'forbidden',
  'notFound',
  'invalid',
  'failed',
  'unavailable',
]
const bodyErrors: readonly DocumentedKind[] = [...readErrors, 'tooLarge', 'unsupportedMediaType']
const writeErrors: readonly DocumentedKind[] = [...bodyErrors, 'conflict']

const conditionalErrors: readonly DocumentedKind[] = [...writeErrors, 'preconditionFailed']

export const itemErrors = conditionalErrors

const readFailures = JSON.stringify(errorResponses(readErrors)).slice(1, -1)
const bodyFailures = JSON.stringify(errorResponses(bodyErrors)).slice(1, -1)
const writeFailures = JSON.stringify(errorResponses(writeErrors)).slice(1, -1)

const conditionalFailures = JSON.stringify(errorResponses(conditionalErrors)).slice(1, -1)

const answers: Readonly<Record<OperationKind, string>> = {
  readMany: 'The items.',
  readOne: 'The item.',
  create: 'The created items.',
  updateMany: 'The changed items.',
  updateOne: 'The changed item.',
  deleteMany: 'The deleted items, where `fields` asked for them.',
  deleteOne: 'The deleted item, where `fields` asked for it.',
}

const plainNames = ['limit', 'offset', 'after', 'before', 'meta', 'max'] as const

function parameters(context: PathContext, collection: Collection, served: ServedOperation): readonly string[] {
  const { interner, schemas, deepOf } = context
  const { kind } = served
  const deep = deepOf(collection)
  const filter = typeOf(served, 'filter')
  const sort = typeOf(served, 'sort')
  const conflict = typeOf(served, 'conflict')
  const isWrite = needsFilter.has(kind)
  const filtered =
    kind === 'readMany' ? filterExample(interner, collection) : isWrite ? noRowsExample(interner, collection) : {}
  return [
    fieldsParameter(context, collection),
    ...(filter === undefined
      ? []
      : [
          structured(
            'filter',
            { schema: schemas.of(filter, 'sent'), example: filtered },
            isWrite && argumentOf(served, 'filter')?.optional !== true ? REQUIRED : '',
          ),
        ]),
    ...(sort === undefined
      ? []
      : [structured('sort', { schema: schemas.of(sort, 'sent'), example: sortExample(interner, collection) })]),
    ...plainNames
      .filter((name) => typeOf(served, name) !== undefined)
      .map((name) => (name === 'meta' ? metaParameter(metasOf(interner, served)) : shared[name])),
    ...(conflict === undefined ? [] : [conflictParameter(schemas.of(conflict, 'sent'))]),
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
  const [operation] = served.filter((one) => one.kind === (kind === 'list' ? 'readMany' : 'readOne'))
  return operation === undefined ? [] : parameters(context, collection, operation)
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
export function structured(
  name: string,
  content: { readonly schema: JsonSchema; readonly example: unknown },
  more = '',
): string {
  const described = JSON.stringify({ description: STRUCTURED, ...content }).slice(1)
  return `{"name":"${name}","in":"query",${more}"style":"deepObject","explode":true,${described}`
}

function conflictParameter(schema: JsonSchema): string {
  return JSON.stringify({
    name: 'conflict',
    in: 'query',
    description: 'Items that are there already, by the fields of a unique index, are changed or left as they are.',
    style: 'deepObject',
    explode: true,
    schema,
  })
}

const STRUCTURED = 'In brackets at any depth, or as one JSON text.'

function fieldsParameter({ interner }: PathContext, collection: Collection): string {
  const example = fieldsExample(interner, collection)
  if (example.length === 0) return shared.fields
  return JSON.stringify({ ...itemParameters.fields, description: FIELDS, example })
}

const FIELDS = 'What is returned: fields, `*`, and paths into relations.'

export function keyParameter({ interner, schemas }: PathContext, key: readonly PrimitiveField[]): JsonSchema {
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
