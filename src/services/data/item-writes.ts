/** The writes of items: each authorized, planned and run as one transaction. */
import { type Action, writeOnlyAccess } from '../../core/access/access.ts'
import { andThen } from '../../core/and-then.ts'
import type { Model } from '../../core/model/model.ts'
import type { Parts } from '../../core/parts.ts'
import type { SentKey } from '../../core/plan/item-key.ts'
import type { WritePlan } from '../../core/plan/plan.ts'
import type { Generators } from '../../core/plan/values.ts'
import {
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
import { parseItem, textOf } from '../../core/query/raw-query.ts'
import type { Ports } from '../../ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { Prepared, Source } from '../../sources/source.ts'
import type { RequestScope } from '../caller/callers.ts'
import { type ItemReadsDeps, noRecord } from './item-reads.ts'
import { answering, type ItemQuery, type Planning, started } from './planned.ts'

export type ItemWrites = {
  create(scope: RequestScope, name: string, body: unknown, query: ItemQuery): Planning<string>
  updateOne(
    scope: RequestScope,
    name: string,
    target: { readonly key: SentKey; readonly body: unknown },
    query: ItemQuery,
  ): Planning<string>
  updateMany(scope: RequestScope, name: string, body: unknown, query: ItemQuery): Planning<string>
  /** The deleted item; undefined if the query has no `fields`. */
  deleteOne(scope: RequestScope, name: string, key: SentKey, query: ItemQuery): Planning<string | undefined>
  deleteMany(scope: RequestScope, name: string, query: ItemQuery): Planning<string | undefined>
}

export type ItemWritesDeps = ItemReadsDeps & {
  readonly ports: Pick<Ports, 'clock' | 'ids'>
  /** How many items one request may create. */
  readonly createLimit: number
}

export function createItemWrites(deps: ItemWritesDeps): ItemWrites {
  const { onModel, open, plans, bindings, ports, createLimit } = deps

  function openWrite(
    model: Model,
    scope: RequestScope,
    name: string,
    asked: { readonly action: Action; readonly query: ItemQuery },
  ) {
    const { source, viewer, collection, limits, maxRows } = open(model, scope, name, asked.action)
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

  return {
    create(scope, name, body, query) {
      return onModel(scope, { name, action: 'create' }, (model) => {
        const item = singleItem(body)
        const insert = item && openInsert(model, scope, name, { members: Object.keys(item), query })
        if (item === undefined || insert === undefined || insert === 'uncacheable') {
          const { source, request } = openWrite(model, scope, name, { action: 'create', query })
          return plannedWrite(source, planCreate(request, body, createLimit))
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

/** Deleted items are answered only to whoever names fields of them. */
function ifAsked(items: string, { sent }: ItemQuery): string | undefined {
  return parseItem(sent).fields === undefined ? undefined : items
}

/** A cached insert for all items with the same members; `uncacheable` where each item needs its own plan. */
type OpenInsert = { readonly run: Prepared<string>; readonly valuesOf: PlainInsert['valuesOf'] } | 'uncacheable'

type PlanWrite = (request: WriteRequest) => Parts<WritePlan>

/** One timestamp for all values of a write, created on first use. */
function generators({ clock, ids }: Pick<Ports, 'clock' | 'ids'>): Generators {
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
