/** The item use cases: read, create, update and delete, each authorized, planned and run as one transaction. */

import type { Config } from '../../config.ts'
import { type Action, writeOnlyAccess } from '../../core/access/access.ts'
import { bindTimeVariable } from '../../core/access/variable.ts'
import { nested, ServiceError } from '../../core/error.ts'
import type { Model } from '../../core/model/model.ts'
import type { Parts } from '../../core/parts.ts'
import { openCollection } from '../../core/plan/names.ts'
import type { ReadPlan, WritePlan } from '../../core/plan/plan.ts'
import { type PageLimits, planList, planOne } from '../../core/plan/read.ts'
import type { Generators } from '../../core/plan/values.ts'
import {
  decodeKey,
  keyEquals,
  keyField,
  type PlainInsert,
  planCreate,
  planDeleteMany,
  planDeleteOne,
  planPlainInsert,
  planUpdateMany,
  planUpdateOne,
  singleItem,
  type WriteRequest,
} from '../../core/plan/write.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import { placeholder } from '../../core/query/placeholder.ts'
import type { Bindings } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { ListAnswer, LongAnswer, Prepared, Source } from '../../sources/source.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { explainError } from './explain-error.ts'
import { createPlanCache, createViewers, type RawQuery } from './plan-cache.ts'
import { createSnapshotRecheck } from './snapshot-recheck.ts'

export type { ListAnswer, LongAnswer }

/**
 * The item API (docs/contract.md#items). Items are JSON text rendered by the database; it is never parsed here. Unknown
 * and hidden names throw alike; otherwise 403 for missing rights, 404 for an unknown key, 422 for an invalid query or
 * body, and the errors of docs/contract.md#what-the-caller-sees.
 */
export type Items = {
  list(scope: RequestScope, name: string, query: RawQuery): Promise<ListAnswer>
  /** Like `list`, but a long list is returned piece by piece. */
  listForSending(scope: RequestScope, name: string, query: RawQuery): Promise<ListAnswer | LongAnswer>
  read(scope: RequestScope, name: string, key: string, query: RawQuery): Promise<string>
  create(scope: RequestScope, name: string, body: unknown, query: RawQuery): Promise<string>
  updateOne(
    scope: RequestScope,
    name: string,
    target: { readonly key: string; readonly body: unknown },
    query: RawQuery,
  ): Promise<string>
  updateMany(scope: RequestScope, name: string, body: unknown, query: RawQuery): Promise<string>
  /** The deleted item; undefined if the query has no `fields`. */
  deleteOne(scope: RequestScope, name: string, key: string, query: RawQuery): Promise<string | undefined>
  deleteMany(scope: RequestScope, name: string, query: RawQuery): Promise<string | undefined>
}

export type ItemDeps = {
  readonly ports: Ports
  readonly config: Config
  readonly models: ModelCache
  readonly openSource: (workspace: WorkspaceRow, model: Model, sourceId: string) => Source
}

export function createItems(deps: ItemDeps): Items {
  const { ports, config, models } = deps
  const plans = createPlanCache()
  const viewers = createViewers()
  const lookAgain = createSnapshotRecheck(ports)
  const limits: PageLimits = { default: config.SERVICE_QUERY_LIMIT_DEFAULT, max: config.SERVICE_QUERY_LIMIT_MAX }
  const maxRows = config.SERVICE_QUERY__MAX_ROWS

  /**
   * Repeats the work once with the newest model if a model that another process has just replaced causes an error: it
   * may name deleted tables or lack new names.
   */
  async function onModel<T>(
    { workspace, snapshot, rights }: RequestScope,
    { query, ...asked }: Asked,
    work: (model: Model, planned: () => void) => Promise<T>,
  ): Promise<T> {
    const loading = models.load(workspace, snapshot.modelVersion)
    const model = loading instanceof Promise ? await loading : loading
    let isPlanned = false
    const planned = () => {
      isPlanned = true
      query.planned?.()
    }
    try {
      return await work(model, planned)
    } catch (error) {
      const told = (of: Model, fault: unknown) =>
        explainError(fault, { ...asked, model: of, rights, viewer: viewers.of(rights, of) })
      if (isPlanned ? !isMissingTable(error) : !(error instanceof ServiceError)) throw told(model, error)
      const current = await lookAgain(workspace.id)
      if (current === undefined || current.modelVersion <= model.version) throw told(model, error)
      const next = await models.load(workspace, current.modelVersion)
      try {
        return await work(next, planned)
      } catch (again) {
        throw told(next, again)
      }
    }
  }

  function open(model: Model, { rights, workspace }: RequestScope, name: string, action: Action) {
    const viewer = viewers.of(rights, model)
    const { collection, access } = openCollection(model, viewer, name, action)
    return {
      viewer,
      collection,
      access,
      limits,
      maxRows,
      source: deps.openSource(workspace, model, collection.sourceId),
    }
  }

  /** Binds the placeholders of a plan: the key in the path, and the time for policies that use it. */
  const bindings =
    (key?: string): Bindings =>
    (name) =>
      name === KEY && key !== undefined ? key : bindTimeVariable(name, ports.clock.now())

  function openWrite(
    model: Model,
    scope: RequestScope,
    name: string,
    asked: { readonly action: Action; readonly query: RawQuery },
  ) {
    const { source, viewer, collection } = open(model, scope, name, asked.action)
    const access = viewer.accessTo(collection, 'read')
    // A caller that may write but not read gets items with all values null.
    const read = { viewer, collection, limits, maxRows, access: access.kind === 'granted' ? access : writeOnlyAccess }
    const request: WriteRequest = {
      viewer,
      collection,
      generators: generators(ports),
      read,
      query: () => wholeQuery(asked.query),
    }
    return { source, request }
  }

  function write(
    scope: RequestScope,
    name: string,
    asked: { readonly action: Action; readonly query: RawQuery },
    plan: PlanWrite,
  ) {
    return onModel(scope, { name, ...asked }, (model, planned) => {
      const { source, request } = openWrite(model, scope, name, asked)
      return runWrite(source, plan(request), planned)
    })
  }

  /** Plans a large write in parts, between which other requests run. */
  function runWrite(source: Source, parts: Parts<WritePlan>, planned: () => void): Promise<string> {
    const run = (plan: WritePlan) => {
      const prepared = source.prepareWrite(plan)
      planned()
      return prepared(bindings())
    }
    const plan = inParts(parts)
    return plan instanceof Promise ? plan.then(run) : run(plan)
  }

  function openInsert(
    model: Model,
    scope: RequestScope,
    name: string,
    { members, query }: { readonly members: readonly string[]; readonly query: RawQuery },
  ): OpenInsert {
    // Only member names with a comma could make the keys of two requests equal, and no field has such a name.
    const key = `create ${name} ${query.text} ${members.length} ${members.join()}`
    return plans.get<OpenInsert>(scope.rights, model, key, () => {
      const { source, request } = openWrite(model, scope, name, { action: 'create', query })
      const insert = planPlainInsert(request, members)
      return insert === undefined ? 'uncacheable' : { run: source.prepareWrite(insert.plan), valuesOf: insert.valuesOf }
    })
  }

  function runList<T>(scope: RequestScope, name: string, query: RawQuery, { kind, prepare }: ListKind<T>): Promise<T> {
    return onModel(scope, { name, action: 'read', query }, (model, planned) => {
      const make = (asked: ReadQuery) => {
        const { source, ...context } = open(model, scope, name, 'read')
        return prepare(source, planList(context, asked))
      }
      const list = { operation: `${kind} ${name}`, query, make, bindings: bindings() }
      const { made: run, bindings: boundValues } = plans.getByFingerprint(scope.rights, model, list)
      planned()
      return run(boundValues, query)
    })
  }

  return {
    list: (scope, name, query) => runList(scope, name, query, whole),

    listForSending: (scope, name, query) => runList(scope, name, query, sendable),

    read(scope, name, key, query) {
      return onModel(scope, { name, action: 'read', query }, (model, planned) => {
        const { field, run } = plans.get(scope.rights, model, `one ${name} ${query.text}`, () => {
          const { source, ...context } = open(model, scope, name, 'read')
          const keyed = keyField(context.collection)
          const plan = planOne(context, wholeQuery(query), keyEquals(context.access, keyed, placeholder(KEY)))
          return { field: keyed, run: source.prepareOne(plan) }
        })
        planned()
        return run(bindings(decodeKey(field, key)), query).then(known)
      })
    },

    create(scope, name, body, query) {
      return onModel(scope, { name, action: 'create', query }, (model, planned) => {
        const item = singleItem(body)
        const insert = item && openInsert(model, scope, name, { members: Object.keys(item), query })
        if (item === undefined || insert === undefined || insert === 'uncacheable') {
          const { source, request } = openWrite(model, scope, name, { action: 'create', query })
          return runWrite(source, planCreate(request, body, config.SERVICE_ITEMS__CREATE_LIMIT), planned)
        }
        const given = insert.valuesOf(item, generators(ports))
        const other = bindings()
        planned()
        return insert.run((placeholderName) => {
          const value = given(placeholderName)
          return value === undefined ? other(placeholderName) : value
        })
      })
    },

    async updateOne(scope, name, { key, body }, query) {
      return only(await write(scope, name, { action: 'update', query }, (request) => planUpdateOne(request, body, key)))
    },

    updateMany(scope, name, body, query) {
      return write(scope, name, { action: 'update', query }, (request) => planUpdateMany(request, body))
    },

    async deleteOne(scope, name, key, query) {
      const item = only(await write(scope, name, { action: 'delete', query }, (request) => planDeleteOne(request, key)))
      return wholeQuery(query).fields === undefined ? undefined : item
    },

    async deleteMany(scope, name, query) {
      const items = await write(scope, name, { action: 'delete', query }, planDeleteMany)
      return wholeQuery(query).fields === undefined ? undefined : items
    },
  }
}

function wholeQuery({ text, parse }: RawQuery): ReadQuery {
  return parse(text)
}

/** A cached insert for all items with the same members; `uncacheable` where each item needs its own plan. */
type OpenInsert = { readonly run: Prepared<string>; readonly valuesOf: PlainInsert['valuesOf'] } | 'uncacheable'

type ListKind<T> = { readonly kind: string; readonly prepare: (source: Source, plan: ReadPlan) => Prepared<T> }

const whole: ListKind<ListAnswer> = { kind: 'list', prepare: (source, plan) => source.prepareList(plan) }
const sendable: ListKind<ListAnswer | LongAnswer> = {
  kind: 'sendable',
  prepare: (source, plan) => source.prepareLong?.(plan) ?? source.prepareList(plan),
}

/** The placeholder for the key in the path. */
const KEY = 'key'

type PlanWrite = (request: WriteRequest) => Parts<WritePlan>

type Asked = { readonly name: string; readonly action: Action; readonly query: RawQuery }

/** Searches the causes for the source's report of a missing table or column. */
function isMissingTable(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === MISSING_TABLE || isMissingTable(error.cause))
}

const MISSING_TABLE = '2004'

/** One timestamp for all values of a write, created on first use. */
function generators({ clock, ids }: Ports): Generators {
  let now: string | undefined
  return {
    uuid: ids.next,
    now() {
      now ??= new Date(clock.now()).toISOString()
      return now
    },
  }
}

/** Returns the single item of a list read by key. */
function only(list: string): string {
  return list === '[]' ? noRecord() : list.slice(1, -1)
}

function known(item: string | undefined): string {
  return item ?? noRecord()
}

function noRecord(): never {
  throw nested('notFound', ['Query failed', 'No record found'])
}
