/** A source of a workspace and its database: what an introspection makes of it, and how its items are then read. */

import { randomUUID } from 'node:crypto'
import transliterate from '@sindresorhus/transliterate'
import { conventionalName } from '../../../src/core/migration/derive.ts'
import { diffModel, type SchemaDiff } from '../../../src/core/migration/diff/diff.ts'
import { buildModel, type Model, type ModelRecords } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import type { Introspection, IntrospectionScope } from '../../../src/core/sql/introspect.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { build } from './build.ts'

export type Database = { readonly driver: SqlDriver; readonly dialect: Dialect; readonly catalog: Introspection }

export async function introspect(
  { driver, catalog }: Database,
  records: ModelRecords,
  { sourceId, scope }: { readonly sourceId: string; readonly scope: IntrospectionScope },
): Promise<SchemaDiff> {
  const schema = catalog.parse(await driver.query(catalog.statement(scope)))
  const toApiName = (dbName: string) => conventionalName(dbName, transliterate)
  const context = { toApiName, newId: randomUUID, workspace: 'shop' }
  return atOnce(diffModel(records, sourceId, { schema, context }))
}

export async function readItems({ driver, dialect }: Database, model: Model, name: string, search: string) {
  const plan = build.read(model, name, search)
  const { data } = dialect.answerList(await driver.query(build.statement(plan, dialect)), plan.count)
  return JSON.parse(data) as readonly Record<string, unknown>[]
}

/** Reads every collection with all its fields and relations, and tells which cannot be read, and why. */
export async function unreadable(database: Database, records: ModelRecords): Promise<readonly string[]> {
  const model = buildModel(1, records)
  const faults: string[] = []
  for (const { apiName, relations, primitives } of model.collections.values()) {
    if (primitives.length === 0) continue
    const fields = ['*', ...relations.map((relation) => `${relation.apiName}.*`)]
    try {
      await readItems(database, model, apiName, `fields=${fields.join(',')}`)
    } catch (error) {
      faults.push(`${apiName}: ${String(error)}`)
    }
  }
  return faults
}

/** Type, `[]`, `?` and what else there is to say of each field. */
export function fieldsOf(model: Model, name: string): Record<string, string> {
  const collection = model.byName.get(name)
  return Object.fromEntries(
    (collection?.primitives ?? []).map(({ apiName, type, isList, isNullable, isReadOnly, defaultValue }) => {
      const counts = defaultValue?.source === 'connectorManaged' && defaultValue.isAutoincrement === true
      const size = 'params' in type ? `(${Object.values(type.params).slice(1).join(',')})`.replace('()', '') : ''
      const marks = [isList && '[]', isNullable && '?', isReadOnly && ' read-only']
      return [
        apiName,
        [type.name + size, ...marks, defaultValue && (counts ? ' counted' : ' default')].filter(Boolean).join(''),
      ]
    }),
  )
}

export function relationsOf(model: Model, name: string): readonly string[] {
  const relations = model.byName.get(name)?.relations ?? []
  return relations
    .map(
      ({ apiName, isList, isNullable, target }) =>
        `${apiName}${isList ? '[]' : isNullable ? '?' : ''} ${target.apiName}`,
    )
    .sort()
}

export function indexesOf(model: Model, name: string): readonly string[] {
  return (model.byName.get(name)?.indexes ?? [])
    .map(({ kind, fields }) => `${kind} ${fields.map(({ apiName }) => apiName).join(',')}`)
    .sort()
}

type Operations = SchemaDiff['operations']

/** The kinds of all operations, those inside of updates after them. */
export function kindsOf(operations: Operations): readonly string[] {
  return operations.flatMap(({ kind, data }) => {
    const inner = kind !== 'createCollection' && 'operations' in data ? (data.operations as Operations) : []
    return [kind, ...kindsOf(inner)]
  })
}

/** Ids by names, those of fields with the id of their collection before. */
export function idsOf(records: ModelRecords): ReadonlyMap<string, string> {
  return new Map([
    ...records.collections.map(({ apiName, id }) => [apiName, id] as const),
    ...[...records.primitiveFields, ...records.relationFields].map(
      ({ collectionId, apiName, id }) => [`${collectionId}.${apiName}`, id] as const,
    ),
    ...[...records.indexes, ...records.constraints].map(({ dbName, id }) => [dbName, id] as const),
  ])
}

/** Every type that the database can store, lists included where it can. */
export function storableTypes({ dialect }: Pick<Database, 'dialect'>) {
  return typeTexts.flatMap((text) =>
    [false, true].flatMap((isList) => {
      const type = build.type(text)
      return dialect.columnType(type, isList) === undefined ? [] : [{ type, isList }]
    }),
  )
}

const typeTexts = [
  'int64',
  'string(40)',
  'int8',
  'int16',
  'int32',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'float32',
  'float64',
  'decimal',
  'decimal(12,3)',
  'decimal(20,0)',
  'string',
  'string(700)',
  'uuid',
  'boolean',
  'date',
  'time',
  'dateTime',
  'dateTimeWithTimezone',
  'json',
  'bytes',
  'geometry',
]
