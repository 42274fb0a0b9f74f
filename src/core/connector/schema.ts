/**
 * Parses the answer of `introspect` (docs/contract.md#what-a-connector-declares): collections, their fields and the
 * supported queries. Strict; converted to the common form of every introspection, with the capabilities stored beside
 * the model.
 */

import * as z from 'zod'
import { parseJson } from '../exact-json.ts'
import { type InferOutput, lazily } from '../lazily.ts'
import { issuePath, shortName } from '../message-text.ts'
import { fieldTypeSchema } from '../model/field-type.ts'
import { operatorsOf } from '../model/operator.ts'
import { connectorOperations, operators } from '../model/vocabulary.ts'
import { NO_NAMESPACE, type SourceSchema } from '../sql/source-schema.ts'
import { invalidResponse } from './fault.ts'

const name = lazily(() =>
  z
    .string()
    .min(1)
    .max(200)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'has characters that no database can store'),
)

const fieldSchema = lazily(() =>
  z.strictObject({
    name: name(),
    type: fieldTypeSchema(),
    isNullable: z.boolean(),
    isList: z.boolean(),
    isReadOnly: z.boolean().default(false),
  }),
)

/** Counted before its elements are read, of which the first fault is all that is kept. */
function listOf<T extends z.ZodType>(element: T, most: number) {
  return z
    .array(z.unknown())
    .max(most)
    .transform((items, { issues }): z.output<T>[] => {
      const read: z.output<T>[] = []
      for (const [index, item] of items.entries()) {
        const result = element.safeParse(item)
        const [issue] = result.error?.issues ?? []
        if (issue !== undefined) {
          issues.push({ ...issue, path: [index, ...issue.path], input: item } as z.core.$ZodRawIssue)
          return z.NEVER
        }
        read.push(result.data as z.output<T>)
      }
      return read
    })
}

const FIELDS = 2_000
const COLLECTIONS = 5_000
const TOO_FEW = 'Too small: expected array to have >=1 items'

const filterSchema = lazily(() =>
  z
    .record(z.string(), z.unknown())
    .refine((value) => Object.keys(value).length <= FIELDS, `Too big: expected object to have <=${FIELDS} members`)
    .pipe(z.record(name(), listOf(z.string(), operators.length))),
)

const collectionSchema = lazily(() =>
  z.strictObject({
    name: name(),
    namespace: name().optional(),
    fields: listOf(fieldSchema(), FIELDS).refine((fields) => fields.length > 0, TOO_FEW),
    key: listOf(name(), 16),
    operations: listOf(z.enum(connectorOperations), connectorOperations.length),
    filter: filterSchema().default({}),
    sort: listOf(name(), FIELDS).default([]),
    count: z.boolean().default(false),
    offset: z.boolean().default(false),
    after: z.boolean().default(false),
    conditional: z.boolean().default(false),
    idempotent: z.boolean().default(false),
  }),
)

const answerSchema = lazily(() =>
  z.strictObject({
    schema: z.strictObject({
      namespaces: listOf(z.strictObject({ name: name() }), COLLECTIONS).default([]),
      collections: listOf(collectionSchema(), COLLECTIONS),
    }),
  }),
)

export type ConnectorSchema = InferOutput<typeof answerSchema>['schema']
export type ConnectorCollection = ConnectorSchema['collections'][number]

/** Parses the answer. Throws `Invalid extension response` for invalid or contradictory declarations. */
export function parseIntrospection(value: unknown): ConnectorSchema {
  if (value === undefined || value === null) throw invalidResponse('introspect returned no value')
  const result = answerSchema().safeParse(value)
  if (!result.success) throw invalidAnswer('introspect', issueDetail(result.error.issues[0]))
  const { schema } = result.data
  const contradiction = contradictionOf(schema)
  if (contradiction !== undefined) throw invalidAnswer('introspect', contradiction)
  return schema
}

export function invalidAnswer(handler: string, detail: string) {
  return invalidResponse(`${handler} answered with something this protocol does not define: ${detail}`)
}

const expected: Readonly<Record<string, string>> = {
  '': 'schema',
  schema: 'namespaces or collections',
  namespaces: 'name',
  collections:
    'name, namespace, fields, key, operations, filter, sort, count, offset, after, conditional or idempotent',
  fields: 'name, type, isNullable, isList or isReadOnly',
  type: 'name or params',
}

function issueDetail(issue: z.core.$ZodIssue | undefined): string {
  const path = issue?.path ?? []
  const place = issuePath(path)
  const at = place === '' ? 'the answer' : place
  if (issue?.code !== 'unrecognized_keys') return `${at} ${issue?.message ?? 'is wrong'}`
  const list = String(path.findLast((part) => typeof part === 'string') ?? '')
  const field = `unknown field ${shortName(issue.keys[0] ?? '')}, expected ${expected[list] ?? 'nothing else'}`
  return place === '' ? field : `${field} in ${at}`
}

function contradictionOf({ namespaces, collections }: ConnectorSchema): string | undefined {
  const spaces = new Set(namespaces.map((namespace) => namespace.name))
  const places = new Set<string>()
  for (const [index, collection] of collections.entries()) {
    const at = `schema.collections[${index}]`
    const place = qualifiedName(collection.namespace, collection.name)
    if (places.has(place)) return `${at} is declared twice`
    places.add(place)
    if (collection.namespace !== undefined && !spaces.has(collection.namespace)) {
      return `${at}.namespace is not among schema.namespaces`
    }
    const fault = fieldFault(collection)
    if (fault !== undefined) return `${at}.${fault}`
  }
  return undefined
}

function fieldFault({ fields, key, filter, sort, after }: ConnectorCollection): string | undefined {
  const byName = new Map(fields.map((field) => [field.name, field]))
  if (byName.size < fields.length) return 'fields have a name twice'
  for (const one of key) {
    const field = byName.get(one)
    if (field === undefined) return `key names ${shortName(one)}, which is not a field`
    if (field.isNullable || field.isList) return `key names ${shortName(one)}, which may be null or is a list`
  }
  for (const [one, names] of Object.entries(filter)) {
    const field = byName.get(one)
    if (field === undefined) return `filter names ${shortName(one)}, which is not a field`
    const known: ReadonlySet<string> = operatorsOf(field.type, field.isList)
    const unexpected = names.find((operator) => operator !== 'null' && !known.has(`_${operator}`))
    if (unexpected !== undefined)
      return `filter.${shortName(one)} names ${shortName(unexpected)}, which its type does not have`
  }
  const unsortable = sort.find((one) => !byName.has(one))
  if (unsortable !== undefined) return `sort names ${shortName(unsortable)}, which is not a field`
  if (after && key.length === 0) return 'after needs a key'
  const unordered = after ? key.find((one) => !sort.includes(one)) : undefined
  return unordered === undefined ? undefined : `after needs ${shortName(unordered)} of the key in sort`
}

/** The key of a collection of a source, by the names that the model keeps. */
export function qualifiedName(namespace: string | undefined, dbName: string): string {
  return JSON.stringify([namespace ?? null, dbName])
}

/** What a collection supports, without its fields. */
export type Capabilities = Pick<
  ConnectorCollection,
  'key' | 'operations' | 'filter' | 'sort' | 'count' | 'offset' | 'after' | 'conditional' | 'idempotent'
>

/** Capabilities by `qualifiedName`. */
export type SourceCapabilities = ReadonlyMap<string, Capabilities>

export function capabilitiesOf({ collections }: ConnectorSchema): SourceCapabilities {
  return new Map(
    collections.map(
      ({ namespace, name: dbName, key, operations, filter, sort, count, offset, after, conditional, idempotent }) => [
        qualifiedName(namespace, dbName),
        { key, operations, filter, sort, count, offset, after, conditional, idempotent },
      ],
    ),
  )
}

/** Canonical text: equal capabilities have the same text, in whatever order they were declared. */
export function capabilitiesText(capabilities: SourceCapabilities): string {
  const entries = [...capabilities].map(
    ([place, { key, operations, filter, sort, count, offset, after, conditional, idempotent }]) => [
      place,
      {
        key,
        operations: operations.toSorted(),
        filter: Object.entries(filter)
          .map(([field, names]) => [field, names.toSorted()] as const)
          .toSorted(([one], [other]) => (one < other ? -1 : 1)),
        sort: sort.toSorted(),
        count,
        offset,
        // Those that were stored before there were such declarations have none.
        ...(after && { after }),
        ...(conditional && { conditional }),
        ...(idempotent && { idempotent }),
      },
    ],
  )
  return JSON.stringify(entries.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)))
}

export function serializeCapabilities(capabilities: SourceCapabilities): string {
  return JSON.stringify([...capabilities])
}

/** Parses the text of `serializeCapabilities`, also of a release that knew fewer of them. */
export function deserializeCapabilities(text: string): SourceCapabilities {
  const stored = parseJson(text) as readonly (readonly [string, Capabilities])[]
  return new Map(stored.map(([place, capabilities]) => [place, { ...undeclared, ...capabilities }]))
}

const undeclared = { after: false, conditional: false, idempotent: false }

/** Converts to the terms of the data model. Collections without a namespace belong to the source directly. */
export function toSourceSchema({ namespaces, collections }: ConnectorSchema): SourceSchema {
  return {
    defaultNamespace: NO_NAMESPACE,
    knowsRelations: false,
    skipped: [],
    namespaces: namespaces.map((namespace) => namespace.name),
    tables: collections.map(({ name: dbName, namespace, fields, key }) => ({
      schema: namespace ?? NO_NAMESPACE,
      dbName,
      isReadOnly: false,
      isView: false,
      columns: fields.map((field) => ({
        dbName: field.name,
        type: field.type,
        isNullable: field.isNullable,
        isList: field.isList,
        isReadOnly: field.isReadOnly,
        defaultKind: 'none',
        isLoose: false,
        native: null,
      })),
      indexes: key.length === 0 ? [] : [{ dbName: undefined, kind: 'primary', columns: key, isImplied: false }],
      foreignKeys: [],
    })),
  }
}
