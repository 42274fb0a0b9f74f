/** One caller of the service over a real database: policies are parsed, merged, planned, compiled and run. */

import { isDeepStrictEqual } from 'node:util'
import type { Viewer } from '../../../src/core/access/access.ts'
import { granted, writeOnlyAccess } from '../../../src/core/access/access.ts'
import { viewerOf } from '../../../src/core/access/merge.ts'
import { parsePolicy } from '../../../src/core/access/policy.ts'
import type { Rights } from '../../../src/core/access/principal.ts'
import { bindTimeVariable } from '../../../src/core/access/variable.ts'
import { ServiceError } from '../../../src/core/error.ts'
import type { FieldType } from '../../../src/core/model/field-type.ts'
import type { Model } from '../../../src/core/model/model.ts'
import type { Parts } from '../../../src/core/parts.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { planAggregates, planInList } from '../../../src/core/plan/aggregate.ts'
import { alone } from '../../../src/core/plan/batch/planned-operation.ts'
import { planUpdateEach } from '../../../src/core/plan/bulk/update-each.ts'
import { planUpsert } from '../../../src/core/plan/bulk/upsert.ts'
import { openCollection } from '../../../src/core/plan/names.ts'
import type { Step, WritePlan } from '../../../src/core/plan/plan.ts'
import { planList } from '../../../src/core/plan/read.ts'
import {
  planCreate,
  planDeleteMany,
  planDeleteOne,
  planPlainInsert,
  planUpdateMany,
  planUpdateOne,
  singleItem,
  type WriteRequest,
} from '../../../src/core/plan/write.ts'
import { type AggregateArguments, parseAggregateQuery } from '../../../src/core/query/aggregate-query.ts'
import { all, type Filter } from '../../../src/core/query/filter.ts'
import type { ReadQuery } from '../../../src/core/query/parse.ts'
import { type Bindings, unbound } from '../../../src/core/query/placeholder.ts'
import { parseList } from '../../../src/core/query/raw-query.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { joinInserts } from '../../../src/core/sql/joined-inserts.ts'
import type { Cursors } from '../../../src/core/sql/read/row-query.ts'
import { compile, ident, join, type SqlParam, type Statement, sql } from '../../../src/core/sql/statement.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { openSqlSource } from '../../../src/sources/sql-source.ts'
import { queryOf } from '../../property/support/reading.ts'
import type { Draft } from '../../property/support/request.ts'
import type { Rows } from '../../property/support/rows.ts'
import { openItems } from '../../support/data/items.ts'
import { identified, junction, model as library, names, now } from './library.ts'
import type { Caller, Policy } from './policies.ts'
import type { Write } from './writes.ts'

/** `text` is the answer as it leaves, or what the caller is told instead. */
export type Reply = {
  readonly status: number
  readonly text: string
  readonly total?: number | undefined
  readonly cursors?: Cursors | undefined
  /** Of a write whose new items were inserted together, or before what was to be found (decision 040). */
  readonly isJoined?: boolean
}

export type Service = {
  list(collection: string, query: () => ReadQuery): Promise<Reply>
  draft(draft: Draft): Promise<Reply>
  aggregate(collection: string, sent: AggregateArguments): Promise<Reply>
  /** `tags` are those of which the item of a key has to have one. */
  write(write: Write, tags?: readonly string[]): Promise<Reply>
}

const limits = { default: 100, max: 10_000 }
const maxRows = Number.POSITIVE_INFINITY

type Within = { readonly driver: SqlDriver; readonly dialect: Dialect; readonly model?: Model }

export function openService(database: Within, policies: readonly Policy[], caller: Caller): Service {
  return serviceOf(database, viewerFor(policies, caller, database.model ?? library))
}

/** Whoever sees with these eyes. */
export function serviceOf({ driver, dialect, model = library }: Within, viewer: Viewer): Service {
  const source = openSqlSource({ driver, dialect })

  async function list(name: string, read: () => ReadQuery, pages = limits): Promise<Reply> {
    return replied(async () => {
      const { collection, access } = openCollection(model, viewer, name, 'read')
      const run = source.prepareList(
        planList({ viewer, collection, access, limits: pages, maxRows, planInList }, read()),
      )
      const { data, total, cursors } = await run(bindingsOf([]))
      return { status: 200, text: data, total, ...(cursors && { cursors }) }
    })
  }

  return {
    list: (collection, query) => list(collection, query),
    draft: (draft) => list(draft.collection, () => queryOf(draft, 0), draft.limits),
    aggregate: (name, sent) =>
      replied(async () => {
        const { collection, access } = openCollection(model, viewer, name, 'read')
        const context = { viewer, collection, access, limits, maxRows }
        const { data, total } = await source.prepareList(planAggregates(context, parseAggregateQuery(sent)))(
          bindingsOf([]),
        )
        return { status: 200, text: data, total }
      }),
    async write(write, tags) {
      let isJoined = false
      const reply = await replied(async () => {
        const isNew = write.kind === 'create' || write.kind === 'upsert'
        const action = isNew ? 'create' : write.kind.startsWith('update') ? 'update' : 'delete'
        const { collection } = openCollection(model, viewer, write.collection, action)
        const access = viewer.accessTo(collection, 'read')
        const read = {
          viewer,
          collection,
          limits,
          maxRows,
          access: access.kind === 'granted' ? access : writeOnlyAccess,
        }
        const max = 'max' in write ? write.max : undefined
        const query = () => ({ ...queryOf({ ...write, form: 'json', isDotted: false, limits }, 0), max })
        const request: WriteRequest = {
          viewer,
          collection,
          generators: { uuid: () => '', now: () => '' },
          read,
          query,
          tags,
        }
        const item = write.kind === 'create' ? singleItem(write.items) : undefined
        const plain = item && planPlainInsert(request, Object.keys(item))
        const given = item && plain?.valuesOf(item, request.generators)
        const plan = plain?.plan ?? atOnce(planOf(request, write))
        isJoined = plan.kind === 'program' && isReordered(plan.steps, dialect)
        const [list] = await source.prepareBatch(alone(plan, collection))(bindingsOf(given ?? []))
        const text = list?.data ?? ''
        if (text === '[]' && 'key' in write) return { status: 404, text: 'Query failed > No record found' }
        return { status: 200, text }
      })
      return { ...reply, isJoined }
    },
  }
}

/** Whether the steps run in another order, or fewer statements, than one after the other. */
function isReordered(steps: readonly Step[], dialect: Dialect): boolean {
  const [run, alone] = [dialect, withoutJoining(dialect)].map((one) => atOnce(joinInserts(steps, one)))
  return !isDeepStrictEqual(run, alone)
}

export function withoutJoining(dialect: Dialect): Dialect {
  return { ...dialect, maxJoinedRows: 1 }
}

/** What a run binds to the placeholders of its plan: the time, and the values of an item. */
export function bindingsOf(item: readonly (string | null)[]): Bindings {
  return (placeholder) => {
    if (placeholder.kind === 'now') return bindTimeVariable(placeholder, now)
    const value = placeholder.kind === 'itemValue' ? item[placeholder.index] : undefined
    return value === undefined ? unbound(placeholder) : value
  }
}

export function viewerFor(policies: readonly Policy[], caller: Caller, model: Model): Viewer {
  return viewerOf(rightsFor(policies, caller, model), model)
}

export function rightsFor(policies: readonly Policy[], caller: Caller, model: Model): Rights {
  const contents = policies.map((policy) => parsePolicy(policy, model))
  const entitlements = new Set(contents.flatMap((content) => content.entitlements))
  return { kind: 'policies', ...caller, policies: contents, entitlements }
}

/** The ids of the rows of a collection that meet a condition, whoever may read them. */
export async function idsMeeting(
  { driver, dialect, model = library }: Within,
  name: string,
  rows: Filter,
): Promise<ReadonlySet<number>> {
  const collection = model.byName.get(name)
  if (collection === undefined) throw new Error(`there is no ${name}`)
  const access = granted([{ rows, fields: 'every', validation: all }])
  const viewer: Viewer = { seesModel: true, accessTo: () => access }
  const plan = planList({ viewer, collection, access, limits, maxRows }, parseList('fields=id&limit=0'))
  const { data } = await openSqlSource({ driver, dialect }).prepareList(plan)(bindingsOf([]))
  return new Set((JSON.parse(data) as { readonly id: number }[]).map(({ id }) => id))
}

function planOf(request: WriteRequest, write: Write): Parts<WritePlan> {
  switch (write.kind) {
    case 'create':
      return planCreate(request, write.items, 1_000)
    case 'upsert': {
      const fields = write.collection === junction.name ? junction.key : ['id']
      return planUpsert(request, write.items, { conflict: { fields, do: write.do }, most: 1_000 })
    }
    case 'updateOne':
      return planUpdateOne(request, write.body, { kind: 'value', value: write.key })
    case 'updateMany':
      return planUpdateMany(request, write.body)
    case 'updateEach': {
      const items = write.changes.map(({ key, body }) => ({ id: key, ...body }))
      return planUpdateEach(request, items, 1_000)
    }
    case 'deleteOne':
      return planDeleteOne(request, { kind: 'value', value: write.key })
    case 'deleteMany':
      return planDeleteMany(request)
  }
}

const statusOf: Partial<Record<ServiceError['kind'], number>> = {
  forbidden: 403,
  notFound: 404,
  invalid: 422,
  preconditionFailed: 412,
}

async function replied(work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work()
  } catch (error) {
    return refusalOf(error)
  }
}

/** What the caller is told; throws what no caller has to be told. */
export function refusalOf(error: unknown): { readonly status: number; readonly text: string } {
  const status = error instanceof ServiceError ? statusOf[error.kind] : undefined
  if (status === undefined) throw error
  return { status, text: storyOf(error) }
}

function storyOf(error: unknown): string {
  const messages: string[] = []
  for (let cause = error; cause instanceof ServiceError; cause = cause.cause) messages.push(cause.message)
  return messages.join(' > ')
}

/** Empties the tables of the library and fills them, all at once. */
export async function load({ driver, dialect }: { driver: SqlDriver; dialect: Dialect }, rows: Rows): Promise<void> {
  const emptied = names.toReversed().map((name) => compile(sql`delete from ${ident(name)}`, dialect))
  const filled = names.flatMap((name): Statement[] => {
    const { primitives = [] } = library.byName.get(name) ?? {}
    const tuples = (rows[name] ?? []).map((row) => {
      const cells = primitives.map(({ apiName, type }) =>
        dialect.typed({ type, isList: false }, textOf(type, row[apiName])),
      )
      return sql`(${join(cells)})`
    })
    return tuples.length === 0 ? [] : [compile(sql`insert into ${ident(name)} values ${join(tuples)}`, dialect)]
  })
  await driver.batch([...emptied, ...filled])
}

function textOf(type: FieldType, value: unknown): SqlParam {
  if (value === null || value === undefined) return null
  return type.name === 'json' ? JSON.stringify(value) : String(value)
}

/** What the tables of the library hold, whoever may read it. */
export async function dump({ driver, dialect }: { driver: SqlDriver; dialect: Dialect }): Promise<Rows> {
  const items = openItems(library, driver, dialect)
  const lists = names.map(async (name) => {
    const rows = await items.list(name, 'limit=-1')
    return [name, rows.map((row) => identified(name, row))] as const
  })
  return Object.fromEntries(await Promise.all(lists))
}
