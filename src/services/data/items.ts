/** The item use cases: read, create, update and delete, each authorized, planned and run as one transaction. */
import type { Config } from '../../config.ts'
import { type Action, writeOnlyAccess } from '../../core/access/access.ts'
import { bindTimeVariable } from '../../core/access/variable.ts'
import { andThen, attempt, type Eventual } from '../../core/and-then.ts'
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
import { type Bindings, unbound } from '../../core/query/placeholder.ts'
import { bindQueryValue, type QueryTemplate } from '../../core/query/query-template.ts'
import { parseItem, type RawQuery, textOf } from '../../core/query/raw-query.ts'
import type { Ports } from '../../ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { ListAnswer, LongAnswer, Prepared, ReadOptions, Source } from '../../sources/source.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { explainError } from './explain-error.ts'
import { createPlanCache, createViewers } from './plan-cache.ts'
import { createSnapshotRecheck } from './snapshot-recheck.ts'

export type { ListAnswer, LongAnswer }

/** A query as it was sent, and who reads its answer. */
export type ItemQuery = ReadOptions & { readonly sent: RawQuery }

/** An answer that is on its way, and when it was clear what to ask the source, by `performance.now`. */
export type Planned<T> = { readonly plannedAt: number; readonly answer: Promise<T> }

type Planning<T> = Eventual<Planned<T>>

/**
 * Items leave as JSON text: the database rendered it and nobody parses it again. Each is planned at once where the model is
 * in memory; what is refused before the source is asked is thrown, or rejects the plan.
 */
export type Items = {
  list(scope: RequestScope, name: string, query: ItemQuery): Planning<ListAnswer>
  /** Like `list`, but a long list is returned piece by piece. */
  listForSending(scope: RequestScope, name: string, query: ItemQuery): Planning<ListAnswer | LongAnswer>
  read(scope: RequestScope, name: string, key: string, query: ItemQuery): Planning<string>
  create(scope: RequestScope, name: string, body: unknown, query: ItemQuery): Planning<string>
  updateOne(
    scope: RequestScope,
    name: string,
    target: { readonly key: string; readonly body: unknown },
    query: ItemQuery,
  ): Planning<string>
  updateMany(scope: RequestScope, name: string, body: unknown, query: ItemQuery): Planning<string>
  /** The deleted item; undefined if the query has no `fields`. */
  deleteOne(scope: RequestScope, name: string, key: string, query: ItemQuery): Planning<string | undefined>
  deleteMany(scope: RequestScope, name: string, query: ItemQuery): Planning<string | undefined>
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
  function onModel<T>(
    { workspace, snapshot, rights }: RequestScope,
    asked: { readonly name: string; readonly action: Action },
    plan: (model: Model) => Planning<T>,
  ): Planning<T> {
    const explained = (model: Model, error: unknown) =>
      explainError(error, { ...asked, model, rights, viewer: viewers.of(rights, model) })

    const running = ({ plannedAt, answer }: Planned<T>, recover: (error: unknown) => Promise<T>): Planned<T> => ({
      plannedAt,
      answer: answer.catch(recover),
    })

    async function onNewerModel(model: Model, refused: unknown): Promise<Planned<T>> {
      const current = await lookAgain(workspace.id)
      if (current === undefined || current.modelVersion <= model.version) throw explained(model, refused)
      const newer = await models.load(workspace, current.modelVersion)
      const fail = (error: unknown): never => {
        throw explained(newer, error)
      }
      return attempt(
        () => plan(newer),
        (planned) => running(planned, fail),
        fail,
      )
    }

    return andThen(models.load(workspace, snapshot.modelVersion), (model) =>
      attempt(
        () => plan(model),
        (planned) =>
          running(planned, async (error) => {
            if (!isMissingTable(error)) throw explained(model, error)
            return (await onNewerModel(model, error)).answer
          }),
        (error) => {
          if (!(error instanceof ServiceError)) throw error
          return onNewerModel(model, error)
        },
      ),
    )
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

  /** What a run binds the placeholders of its plan to. */
  function bindings({ key, query = [], item = [] }: Values = {}): Bindings {
    return (placeholder) => {
      switch (placeholder.kind) {
        case 'now':
          return bindTimeVariable(placeholder, ports.clock.now())
        case 'key':
          return key ?? unbound(placeholder)
        case 'queryValue':
          return bindQueryValue(placeholder, query)
        case 'itemValue': {
          const value = item[placeholder.index]
          return value === undefined ? unbound(placeholder) : value
        }
      }
    }
  }

  function openWrite(
    model: Model,
    scope: RequestScope,
    name: string,
    asked: { readonly action: Action; readonly query: ItemQuery },
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
      query: () => parseItem(asked.query.sent),
    }
    return { source, request }
  }

  function write(
    scope: RequestScope,
    name: string,
    asked: { readonly action: Action; readonly query: ItemQuery },
    plan: PlanWrite,
  ) {
    return onModel(scope, { name, action: asked.action }, (model) => {
      const { source, request } = openWrite(model, scope, name, asked)
      return plannedWrite(source, plan(request))
    })
  }

  /** Plans a large write in parts, between which other requests run. */
  function plannedWrite(source: Source, parts: Parts<WritePlan>): Planning<string> {
    return andThen(inParts(parts), (plan) => {
      const run = source.prepareWrite(plan)
      return started(() => run(bindings()))
    })
  }

  function openInsert(
    model: Model,
    scope: RequestScope,
    name: string,
    { members, query }: { readonly members: readonly string[]; readonly query: ItemQuery },
  ): OpenInsert {
    // Only member names with a comma could make the keys of two requests equal, and no field has such a name.
    const key = `create ${name} ${textOf(query.sent)} ${members.length} ${members.join()}`
    return plans.get<OpenInsert>(scope.rights, model, key, () => {
      const { source, request } = openWrite(model, scope, name, { action: 'create', query })
      const insert = planPlainInsert(request, members)
      return insert === undefined ? 'uncacheable' : { run: source.prepareWrite(insert.plan), valuesOf: insert.valuesOf }
    })
  }

  function runList<T>(
    scope: RequestScope,
    name: string,
    query: ItemQuery,
    { kind, prepare }: ListKind<T>,
  ): Planning<T> {
    return onModel(scope, { name, action: 'read' }, (model) => {
      const { made: run, values } = plans.getList(scope.rights, model, {
        operation: `${kind} ${name}`,
        query: query.sent,
        make(parsed) {
          const { source, ...context } = open(model, scope, name, 'read')
          return prepare(source, planList(context, parsed))
        },
      })
      return started(() => run(bindings({ query: values }), query))
    })
  }

  return {
    list: (scope, name, query) => runList(scope, name, query, whole),

    listForSending: (scope, name, query) => runList(scope, name, query, sendable),

    read(scope, name, key, query) {
      return onModel(scope, { name, action: 'read' }, (model) => {
        const { field, run } = plans.get(scope.rights, model, `one ${name} ${textOf(query.sent)}`, () => {
          const { source, ...context } = open(model, scope, name, 'read')
          const keyed = keyField(context.collection)
          const plan = planOne(context, parseItem(query.sent), keyEquals(context.access, keyed, { kind: 'key' }))
          return { field: keyed, run: source.prepareOne(plan) }
        })
        return started(() => run(bindings({ key: decodeKey(field, key) }), query).then(known))
      })
    },

    create(scope, name, body, query) {
      return onModel(scope, { name, action: 'create' }, (model) => {
        const item = singleItem(body)
        const insert = item && openInsert(model, scope, name, { members: Object.keys(item), query })
        if (item === undefined || insert === undefined || insert === 'uncacheable') {
          const { source, request } = openWrite(model, scope, name, { action: 'create', query })
          return plannedWrite(source, planCreate(request, body, config.SERVICE_ITEMS__CREATE_LIMIT))
        }
        const values = insert.valuesOf(item, generators(ports))
        return started(() => insert.run(bindings({ item: values })))
      })
    },

    updateOne(scope, name, { key, body }, query) {
      const asked = { action: 'update', query } as const
      return answering(
        write(scope, name, asked, (request) => planUpdateOne(request, body, key)),
        only,
      )
    },

    updateMany(scope, name, body, query) {
      return write(scope, name, { action: 'update', query }, (request) => planUpdateMany(request, body))
    },

    deleteOne(scope, name, key, query) {
      const asked = { action: 'delete', query } as const
      return answering(
        write(scope, name, asked, (request) => planDeleteOne(request, key)),
        (items) => ifAsked(only(items), query),
      )
    },

    deleteMany(scope, name, query) {
      return answering(write(scope, name, { action: 'delete', query }, planDeleteMany), (items) =>
        ifAsked(items, query),
      )
    },
  }
}

/** Runs what is planned; also what it throws at once, such as for a value that is none of its field's, is its answer. */
function started<T>(run: () => Promise<T>): Planned<T> {
  const plannedAt = performance.now()
  try {
    return { plannedAt, answer: run() }
  } catch (error) {
    return { plannedAt, answer: Promise.reject(error) }
  }
}

/** `planning` with another form of its answer. */
function answering<T, R>(planning: Planning<T>, change: (answer: T) => R): Planning<R> {
  return andThen(planning, ({ plannedAt, answer }) => ({ plannedAt, answer: answer.then(change) }))
}

/** Deleted items are answered only to whoever names fields of them. */
function ifAsked(items: string, { sent }: ItemQuery): string | undefined {
  return parseItem(sent).fields === undefined ? undefined : items
}

/** What one request brings for the placeholders of a plan that serves many. */
type Values = {
  readonly key?: string
  readonly query?: QueryTemplate['values']
  readonly item?: readonly (string | null)[]
}

/** A cached insert for all items with the same members; `uncacheable` where each item needs its own plan. */
type OpenInsert = { readonly run: Prepared<string>; readonly valuesOf: PlainInsert['valuesOf'] } | 'uncacheable'

type ListKind<T> = { readonly kind: string; readonly prepare: (source: Source, plan: ReadPlan) => Prepared<T> }

const whole: ListKind<ListAnswer> = { kind: 'list', prepare: (source, plan) => source.prepareList(plan) }
const sendable: ListKind<ListAnswer | LongAnswer> = {
  kind: 'sendable',
  prepare: (source, plan) => source.prepareLong?.(plan) ?? source.prepareList(plan),
}

type PlanWrite = (request: WriteRequest) => Parts<WritePlan>

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
