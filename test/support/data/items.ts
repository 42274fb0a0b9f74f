/**
 * The items of one model in one database, as the service writes and reads them: requests are planned, compiled and run,
 * and answers are parsed. Tables are made by the dialect's own DDL.
 */
import { fullAccess, type Viewer, writeOnlyAccess } from '../../../src/core/access/access.ts'
import { ServiceError } from '../../../src/core/error.ts'
import type { Collection, Model, PrimitiveField } from '../../../src/core/model/model.ts'
import type { Parts } from '../../../src/core/parts.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { parseAggregateQuery, planAggregates } from '../../../src/core/plan/aggregate.ts'
import { alone } from '../../../src/core/plan/batch/planned-operation.ts'
import type { WritePlan } from '../../../src/core/plan/plan.ts'
import { planList, type ReadContext } from '../../../src/core/plan/read.ts'
import {
  planCreate,
  planDeleteMany,
  planDeleteOne,
  planUpdateMany,
  planUpdateOne,
  type WriteRequest,
} from '../../../src/core/plan/write.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseItemQuery, parseListQuery } from '../../../src/core/query/parameters.ts'
import { unbound } from '../../../src/core/query/placeholder.ts'
import type { Change } from '../../../src/core/sql/ddl/change.ts'
import { compileChange } from '../../../src/core/sql/ddl/compile-change.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { compile } from '../../../src/core/sql/statement.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { openSqlSource } from '../../../src/sources/sql-source.ts'

export type Item = Readonly<Record<string, unknown>>

export type WrittenItems = {
  create(name: string, items: readonly unknown[], search?: string): Promise<readonly Item[]>
  updateOne(name: string, key: unknown, body: unknown, search?: string): Promise<readonly Item[]>
  updateMany(name: string, body: unknown, search: string): Promise<readonly Item[]>
  deleteOne(name: string, key: unknown, search?: string): Promise<readonly Item[]>
  deleteMany(name: string, search: string): Promise<readonly Item[]>
  list(name: string, search?: string): Promise<readonly Item[]>
  aggregate(name: string, search: string): Promise<readonly Item[]>
}

export const NOW = '2026-02-03T04:05:06.789Z'

const administrator: Viewer = { accessTo: () => fullAccess, seesModel: true }
const limits = { default: 100, max: 10_000 }

/** For somebody who may do everything, unless a `viewer` is given. */
export function openItems(model: Model, driver: SqlDriver, dialect: Dialect, viewer = administrator): WrittenItems {
  const source = openSqlSource({ driver, dialect })
  let count = 0
  const generators = { uuid: () => `019a0000-0000-7000-8000-${String(++count).padStart(12, '0')}`, now: () => NOW }
  function contextOf(name: string): ReadContext {
    const collection = model.byName.get(name)
    if (collection === undefined) throw new Error(`there is no ${name}`)
    const access = viewer.accessTo(collection, 'read')
    return {
      viewer,
      collection,
      access: access.kind === 'granted' ? access : writeOnlyAccess,
      limits,
      maxRows: Number.POSITIVE_INFINITY,
    }
  }

  async function write(name: string, search: string, planned: (request: WriteRequest) => Parts<WritePlan>) {
    const read = contextOf(name)
    const query = () => parseItemQuery(parseBrackets(search))
    const plan = atOnce(planned({ viewer, collection: read.collection, generators, read, query }))
    const [list] = await source.prepareBatch(alone(plan, read.collection))(unbound)
    return JSON.parse(list?.data ?? '')
  }

  return {
    create: (name, items, search = '') => write(name, search, (request) => planCreate(request, items, 1000)),
    updateOne: (name, key, body, search = '') =>
      write(name, search, (request) => planUpdateOne(request, body, { kind: 'value', value: key })),
    updateMany: (name, body, search) => write(name, search, (request) => planUpdateMany(request, body)),
    deleteOne: (name, key, search = '') =>
      write(name, search, (request) => planDeleteOne(request, { kind: 'value', value: key })),
    deleteMany: (name, search) => write(name, search, planDeleteMany),
    async list(name, search = '') {
      const run = source.prepareList(planList(contextOf(name), parseListQuery(parseBrackets(search))))
      return JSON.parse((await run(unbound)).data)
    },
    async aggregate(name, search) {
      const run = source.prepareList(planAggregates(contextOf(name), parseAggregateQuery(search)))
      return JSON.parse((await run(unbound)).data)
    },
  }
}

/** The messages of a refusal, outermost first. */
export async function errorMessages(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work
  } catch (error) {
    const messages: string[] = []
    for (let cause = error; cause instanceof ServiceError; cause = cause.cause) messages.push(cause.message)
    if (messages.length > 0) return messages
    throw error
  }
  throw new Error('nothing was refused')
}

/** Tables, indexes and foreign keys of a whole model. */
export async function createTables(model: Model, driver: SqlDriver, dialect: Dialect): Promise<void> {
  const collections = [...model.byName.values()]
  const changes = [
    ...collections.map(tableOf),
    ...collections.flatMap(indexesOf),
    ...collections.flatMap((collection) => foreignKeysOf(collection, model)),
  ]
  for (const statement of changes.flatMap((change) => compileChange(change, dialect))) {
    await driver.query(compile(statement, dialect))
  }
}

function tableOf(collection: Collection): Change {
  const key = collection.indexes.find(({ kind }) => kind === 'primary')
  return {
    kind: 'createTable',
    table: collection,
    columns: collection.primitives.map(({ dbName, type, isList, isNullable, defaultValue }) => {
      const isAutoincrement = defaultValue?.source === 'connectorManaged' && defaultValue.isAutoincrement === true
      return { dbName, type, isList, isNullable, isAutoincrement, initial: undefined }
    }),
    primaryKey: key && { dbName: key.dbName, kind: 'primary', columns: names(key.fields) },
  }
}

function indexesOf(collection: Collection): readonly Change[] {
  return collection.indexes
    .filter(({ kind }) => kind !== 'primary')
    .map(({ dbName, kind, fields }) => ({
      kind: 'createIndex',
      table: collection,
      index: { dbName, kind, columns: names(fields) },
    }))
}

function foreignKeysOf(collection: Collection, { records }: Model): readonly Change[] {
  return collection.relations
    .filter(({ isForward }) => isForward)
    .map(({ id, target, joins }) => {
      const { constraintId } = records.relationFields.find((record) => record.id === id) ?? {}
      const constraint = records.constraints.find((record) => record.id === constraintId)
      if (constraint === undefined) throw new Error(`${id} has no constraint`)
      const { dbName, onDelete, onUpdate } = constraint
      return {
        kind: 'addForeignKey',
        table: collection,
        dbName,
        columns: names(joins.map(({ own }) => own)),
        references: { table: target, columns: names(joins.map(({ other }) => other)) },
        onDelete,
        onUpdate,
      }
    })
}

function names(fields: readonly PrimitiveField[]): readonly string[] {
  return fields.map(({ dbName }) => dbName)
}
