/** The item use cases: read, create, update and delete, each authorized, planned and run as one transaction. */

import type { Config } from '../../config.ts'
import { type Action, blindAccess } from '../../core/access/access.ts'
import { timeHole } from '../../core/access/variable.ts'
import { nested, ServiceError } from '../../core/error.ts'
import type { Model } from '../../core/model/model.ts'
import { openCollection } from '../../core/plan/names.ts'
import type { ReadPlan, WritePlan } from '../../core/plan/plan.ts'
import { type PageLimits, planList, planOne } from '../../core/plan/read.ts'
import type { Supply } from '../../core/plan/values.ts'
import {
  decodeKey,
  keyField,
  keyIs,
  type PlainInsert,
  planCreate,
  planDeleteMany,
  planDeleteOne,
  planPlainInsert,
  planUpdateMany,
  planUpdateOne,
  soleItem,
  type WriteRequest,
} from '../../core/plan/write.ts'
import { hole } from '../../core/query/hole.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Fill } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports.ts'
import type { ListAnswer, LongAnswer, Prepared, Source } from '../../sources/source.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { Entry } from '../caller/callers.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { type AskedQuery, createPreparedReads, createViewers } from './plan-cache.ts'
import { toldRefusal } from './refusals.ts'
import { createSecondLook } from './second-look.ts'

export type { ListAnswer, LongAnswer }

/** Items leave as JSON text: the database rendered it and nobody parses it again. */
export type Items = {
  list(entry: Entry, name: string, query: AskedQuery): Promise<ListAnswer>
  /** The same for whoever can send it piece by piece, where it is long. */
  listForSending(entry: Entry, name: string, query: AskedQuery): Promise<ListAnswer | LongAnswer>
  read(entry: Entry, name: string, key: string, query: AskedQuery): Promise<string>
  create(entry: Entry, name: string, body: unknown, query: AskedQuery): Promise<string>
  updateOne(
    entry: Entry,
    name: string,
    target: { readonly key: string; readonly body: unknown },
    query: AskedQuery,
  ): Promise<string>
  updateMany(entry: Entry, name: string, body: unknown, query: AskedQuery): Promise<string>
  /** The deleted item, or undefined where `fields` did not ask for it. */
  deleteOne(entry: Entry, name: string, key: string, query: AskedQuery): Promise<string | undefined>
  deleteMany(entry: Entry, name: string, query: AskedQuery): Promise<string | undefined>
}

export type ItemDeps = {
  readonly ports: Ports
  readonly config: Config
  readonly models: ModelCache
  readonly openSource: (workspace: WorkspaceRow, model: Model, sourceId: string) => Source
}

export function createItems(deps: ItemDeps): Items {
  const { ports, config, models } = deps
  const prepared = createPreparedReads()
  const viewers = createViewers()
  const lookAgain = createSecondLook(ports)
  const limits: PageLimits = { default: config.SERVICE_QUERY_LIMIT_DEFAULT, max: config.SERVICE_QUERY_LIMIT_MAX }
  const maxRows = config.SERVICE_QUERY__MAX_ROWS

  /**
   * A model that another process has just replaced may name tables that are gone, and does not know what is new: then the
   * new one is asked, once.
   */
  async function onModel<T>(
    { workspace, snapshot, rights }: Entry,
    asked: { readonly name: string; readonly action: Action },
    work: (model: Model) => Promise<T>,
  ): Promise<T> {
    const loading = models.load(workspace, snapshot.modelVersion)
    const model = loading instanceof Promise ? await loading : loading
    let isPlanned = false
    try {
      const running = work(model)
      isPlanned = true
      return await running
    } catch (error) {
      const told = (of: Model, fault: unknown) =>
        toldRefusal(fault, { ...asked, model: of, rights, viewer: viewers.of(rights, of) })
      if (isPlanned ? !isMissingTable(error) : !(error instanceof ServiceError)) throw told(model, error)
      const current = await lookAgain(workspace.id)
      if (current === undefined || current.modelVersion <= model.version) throw told(model, error)
      const next = await models.load(workspace, current.modelVersion)
      try {
        return await work(next)
      } catch (again) {
        throw told(next, again)
      }
    }
  }

  function open(model: Model, { rights, workspace }: Entry, name: string, action: Action) {
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

  /** What fills the holes of a plan: the key of a path, and the time for policies that speak of it. */
  const fill =
    (key?: string): Fill =>
    (name) =>
      name === KEY && key !== undefined ? key : timeHole(name, ports.clock.now())

  function openWrite(
    model: Model,
    entry: Entry,
    name: string,
    asked: { readonly action: Action; readonly query: AskedQuery },
  ) {
    const { source, viewer, collection } = open(model, entry, name, asked.action)
    const access = viewer.accessTo(collection, 'read')
    // Whoever may write but not read gets back items without any value.
    const read = { viewer, collection, limits, maxRows, access: access.kind === 'granted' ? access : blindAccess }
    const request: WriteRequest = {
      viewer,
      collection,
      supply: supply(ports),
      read,
      query: () => wholeQuery(asked.query),
    }
    return { source, request }
  }

  function write(
    entry: Entry,
    name: string,
    asked: { readonly action: Action; readonly query: AskedQuery },
    plan: PlanWrite,
  ) {
    return onModel(entry, { name, action: asked.action }, (model) => {
      const { source, request } = openWrite(model, entry, name, asked)
      const run = source.prepareWrite(plan(request))
      asked.query.planned?.()
      return run(fill())
    })
  }

  function openInsert(
    model: Model,
    entry: Entry,
    name: string,
    { members, query }: { readonly members: readonly string[]; readonly query: AskedQuery },
  ): OpenInsert {
    // Members that would make two questions look like one contain commas, and no field has a name with one.
    const question = `create ${name} ${query.text} ${members.length} ${members.join()}`
    return prepared.get<OpenInsert>(entry.rights, model, question, () => {
      const { source, request } = openWrite(model, entry, name, { action: 'create', query })
      const insert = planPlainInsert(request, members)
      return insert === undefined ? 'unfit' : { run: source.prepareWrite(insert.plan), valuesOf: insert.valuesOf }
    })
  }

  function runList<T>(entry: Entry, name: string, query: AskedQuery, { kind, prepare }: ListKind<T>): Promise<T> {
    return onModel(entry, { name, action: 'read' }, (model) => {
      const make = (asked: ReadQuery) => {
        const { source, ...context } = open(model, entry, name, 'read')
        return prepare(source, planList(context, asked))
      }
      const list = { question: `${kind} ${name}`, query, make, fill: fill() }
      const { made: run, fill: filled } = prepared.getShaped(entry.rights, model, list)
      query.planned?.()
      return run(filled, query)
    })
  }

  return {
    list: (entry, name, query) => runList(entry, name, query, whole),

    listForSending: (entry, name, query) => runList(entry, name, query, sendable),

    read(entry, name, key, query) {
      return onModel(entry, { name, action: 'read' }, (model) => {
        const { field, run } = prepared.get(entry.rights, model, `one ${name} ${query.text}`, () => {
          const { source, ...context } = open(model, entry, name, 'read')
          const keyed = keyField(context.collection)
          const plan = planOne(context, wholeQuery(query), keyIs(context.access, keyed, hole(KEY)))
          return { field: keyed, run: source.prepareOne(plan) }
        })
        query.planned?.()
        return run(fill(decodeKey(field, key)), query).then(known)
      })
    },

    create(entry, name, body, query) {
      return onModel(entry, { name, action: 'create' }, (model) => {
        const item = soleItem(body)
        const insert = item && openInsert(model, entry, name, { members: Object.keys(item), query })
        if (item === undefined || insert === undefined || insert === 'unfit') {
          const { source, request } = openWrite(model, entry, name, { action: 'create', query })
          const run = source.prepareWrite(planCreate(request, body, config.SERVICE_ITEMS__CREATE_LIMIT))
          query.planned?.()
          return run(fill())
        }
        const given = insert.valuesOf(item, supply(ports))
        const other = fill()
        query.planned?.()
        return insert.run((hole) => {
          const value = given(hole)
          return value === undefined ? other(hole) : value
        })
      })
    },

    async updateOne(entry, name, { key, body }, query) {
      return only(await write(entry, name, { action: 'update', query }, (request) => planUpdateOne(request, body, key)))
    },

    updateMany(entry, name, body, query) {
      return write(entry, name, { action: 'update', query }, (request) => planUpdateMany(request, body))
    },

    async deleteOne(entry, name, key, query) {
      const item = only(await write(entry, name, { action: 'delete', query }, (request) => planDeleteOne(request, key)))
      return wholeQuery(query).fields === undefined ? undefined : item
    },

    async deleteMany(entry, name, query) {
      const items = await write(entry, name, { action: 'delete', query }, planDeleteMany)
      return wholeQuery(query).fields === undefined ? undefined : items
    },
  }
}

function wholeQuery({ text, parse }: AskedQuery): ReadQuery {
  return parse(text)
}

/** An insert that serves all items with the same members; `unfit` where each has to be planned for itself. */
type OpenInsert = { readonly run: Prepared<string>; readonly valuesOf: PlainInsert['valuesOf'] } | 'unfit'

type ListKind<T> = { readonly kind: string; readonly prepare: (source: Source, plan: ReadPlan) => Prepared<T> }

const whole: ListKind<ListAnswer> = { kind: 'list', prepare: (source, plan) => source.prepareList(plan) }
const sendable: ListKind<ListAnswer | LongAnswer> = {
  kind: 'sendable',
  prepare: (source, plan) => source.prepareLong?.(plan) ?? source.prepareList(plan),
}

/** The hole that the key of a path fills. */
const KEY = 'key'

type PlanWrite = (request: WriteRequest) => WritePlan

/** Anywhere in the story: the source says that a table or column is not there. */
function isMissingTable(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === MISSING_TABLE || isMissingTable(error.cause))
}

const MISSING_TABLE = '2004'

/** One time for all that a write sets, and made only where something asks for it. */
function supply({ clock, ids }: Ports): Supply {
  let now: string | undefined
  return {
    uuid: ids.next,
    now() {
      now ??= new Date(clock.now()).toISOString()
      return now
    },
  }
}

/** The one item of a list that a key can have brought. */
function only(list: string): string {
  return list === '[]' ? noRecord() : list.slice(1, -1)
}

function known(item: string | undefined): string {
  return item ?? noRecord()
}

function noRecord(): never {
  throw nested('notFound', ['Query failed', 'No record found'])
}
