/** Migrations in one line: operations as they are sent, ids by name, and a workspace to apply them to. */
import { createHash } from 'node:crypto'
import { ServiceError } from '../../../src/core/error.ts'
import { applyOperations, type MigrationContext } from '../../../src/core/migration/apply.ts'
import { parseMigration } from '../../../src/core/migration/operation.ts'
import type { ModelRecords } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'

/** A UUID that is the same for the same name. */
export function id(name: string): string {
  const digits = createHash('sha256').update(name).digest('hex')
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-8${digits.slice(15, 18)}-${digits.slice(18, 30)}`
}

export type Json = Record<string, unknown>

export const workspace: ModelRecords = {
  sources: [
    { id: id('_system'), apiName: '_system', provider: 'postgres' },
    { id: id('crm'), apiName: 'crm', provider: 'postgres' },
    { id: id('search'), apiName: 'search', provider: 'search' },
  ],
  namespaces: [
    { id: id('meta'), sourceId: id('_system'), dbName: 'service_shop_meta', isSystem: true },
    { id: id('data'), sourceId: id('_system'), dbName: 'service_shop_data', isSystem: false },
    { id: id('crm public'), sourceId: id('crm'), dbName: 'public', isSystem: false },
  ],
  collections: [],
  primitiveFields: [],
  relationFields: [],
  constraints: [],
  indexes: [],
}

export const context: MigrationContext = {
  dialectOf: (sourceId) => (sourceId === id('search') ? undefined : postgres),
  dataNamespaceOf: (sourceId) => (sourceId === id('_system') ? id('data') : null),
  changesOf: (sourceId) => (sourceId === id('_system') ? { schema: 'service_shop_meta', dbName: 'change' } : undefined),
  workspace: 'shop',
}

/** Through the parser, so that every test sends what a client can send. */
export function migrate(records: ModelRecords, ...operations: readonly Json[]) {
  return atOnce(applyOperations(records, parseMigration(JSON.stringify({ operations })).operations, context))
}

/** The reason why a migration is refused, with its place: `operations[1] > unknown collection …`. */
export function refusal(records: ModelRecords, ...operations: readonly Json[]): string {
  return messagesOf(() => migrate(records, ...operations), 'unfit')
    .slice(1)
    .join(' > ')
}

/** The chain of messages that `work` throws, outermost first. */
export function messagesOf(work: () => unknown, kind: ServiceError['kind']): readonly string[] {
  try {
    work()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== kind) throw error
    const messages: string[] = []
    for (let cause: unknown = error; cause instanceof ServiceError; cause = cause.cause) messages.push(cause.message)
    return messages
  }
  throw new Error('nothing was thrown')
}

export function createCollection(name: string, operations: readonly Json[] = [], more: Json = {}): Json {
  return {
    kind: 'createCollection',
    data: { id: id(name), sourceId: id('_system'), dbName: name, apiName: name, operations, ...more },
  }
}

export function updateCollection(name: string, ...operations: readonly Json[]): Json {
  return { kind: 'updateCollection', data: { id: id(name), operations } }
}

export function deleteCollection(name: string): Json {
  return { kind: 'deleteCollection', data: { id: id(name) } }
}

/** `field('articles.title', 'string')`: the id comes from the whole path, the names from its last part. */
export function field(path: string, type: string | Json, more: Json = {}): Json {
  const name = path.slice(path.indexOf('.') + 1)
  return {
    kind: 'createPrimitiveField',
    data: {
      id: id(path),
      dbName: name,
      apiName: name,
      type: typeof type === 'string' ? { name: type } : type,
      isNullable: false,
      isList: false,
      ...more,
    },
  }
}

export function updateField(path: string, ...changes: readonly Json[]): Json {
  return { kind: 'updatePrimitiveField', data: { id: id(path), operations: changes } }
}

export function deleteField(path: string): Json {
  return { kind: 'deletePrimitiveField', data: { id: id(path) } }
}

export const toType = (type: string | Json): Json => ({
  kind: 'changeType',
  data: { type: typeof type === 'string' ? { name: type } : type },
})
export const toNullable = (isNullable: boolean): Json => ({ kind: 'changeIsNullable', data: { isNullable } })
export const toDefault = (defaultValue: Json | null): Json => ({ kind: 'changeDefaultValue', data: { defaultValue } })
export const toApiName = (apiName: string): Json => ({ kind: 'changeApiName', data: { apiName } })
export const toHistory = (hasHistory: boolean): Json => ({ kind: 'changeHasHistory', data: { hasHistory } })
export const toDbName = (dbName: string): Json => ({ kind: 'changeDbName', data: { dbName } })

export const autoincrement = { source: 'connectorManaged', isAutoincrement: true }
export const onCreate = (value: Json): Json => ({ source: 'engineManaged', onCreate: value })
export const constant = (valueEncoded: unknown): Json => onCreate({ kind: 'static', valueEncoded })

export function index(name: string, kind: string, fields: readonly string[], more: Json = {}): Json {
  return { kind: 'createIndex', data: { id: id(name), dbName: name, kind, fieldIds: fields.map(id), ...more } }
}

export function deleteIndex(name: string): Json {
  return { kind: 'deleteIndex', data: { id: id(name) } }
}

export function relation(
  name: string,
  from: readonly string[],
  to: readonly string[],
  more: RelationOptions = {},
): Json {
  const { first, second, ...data } = more
  return {
    kind: 'createRelationFieldPair',
    data: {
      kind: 'single',
      data: {
        relationName: name,
        firstField: { ...side(`${name}.first`, from, true), apiName: name, ...first },
        secondField: { ...side(`${name}.second`, to, false), apiName: `${name}Back`, ...second },
        ...data,
      },
    },
  }
}

type RelationOptions = {
  readonly first?: Json
  readonly second?: Json
  readonly relationName?: string
  readonly onDelete?: string
  readonly onUpdate?: string
}

function side(name: string, fields: readonly string[], isConstrained: boolean): Json {
  const [collection = ''] = (fields[0] ?? '').split('.')
  return { id: id(name), isList: !isConstrained, isConstrained, collectionId: id(collection), fieldIds: fields.map(id) }
}

/** `author` is a relation of articles to people; an article need not have one. */
export const blog = migrate(
  workspace,
  createCollection('people', [
    field('people.id', 'int64', { defaultValue: autoincrement }),
    field('people.email', 'string'),
    index('people_pkey', 'primary', ['people.id']),
    index('people_email', 'unique', ['people.email']),
  ]),
  createCollection('articles', [
    field('articles.id', 'uuid', { defaultValue: onCreate({ kind: 'uuid' }) }),
    field('articles.title', 'string'),
    field('articles.authorId', 'int64', { isNullable: true }),
    index('articles_pkey', 'primary', ['articles.id']),
    index('articles_title', 'normal', ['articles.title']),
  ]),
  relation('author', ['articles.authorId'], ['people.id']),
).records
