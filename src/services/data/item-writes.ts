/** The writes of items: each authorized, planned and run as one transaction. */

import { type Action, writeOnlyAccess } from '../../core/access/access.ts'
import { andThen } from '../../core/and-then.ts'
import type { Model } from '../../core/model/model.ts'
import type { Parts } from '../../core/parts.ts'
import { alone } from '../../core/plan/batch/planned-operation.ts'
import { planUpdateEach } from '../../core/plan/bulk/update-each.ts'
import { planUpsert } from '../../core/plan/bulk/upsert.ts'
import type { SentKey } from '../../core/plan/item-key.ts'
import type { WritePlan } from '../../core/plan/plan.ts'
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
import type { ReadQuery } from '../../core/query/parse.ts'
import { parseCreate, parseItem, parseMany, textOf } from '../../core/query/raw-query.ts'
import type { Ports } from '../../ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { BatchAnswer, Prepared } from '../../sources/source.ts'
import type { RequestScope } from '../caller/callers.ts'
import { generatorsOf } from './generators.ts'
import type { ItemReadsDeps } from './item-reads.ts'
import type { LoadOnce } from './load-once.ts'
import type { OnceRequest } from './once/once-request.ts'
import type { WatchRights } from './once/rights.ts'
import { onlyItem } from './only-item.ts'
import { type Counted, spentBy } from './open-items.ts'
import {
  answering,
  type ItemQuery,
  type OnceKey,
  type Planned,
  type Planning,
  started,
  type WriteQuery,
} from './planned.ts'

export type ItemWrites = {
  create(scope: RequestScope, name: string, body: unknown, query: ItemQuery): Planning<string>
  updateOne(
    scope: RequestScope,
    name: string,
    target: { readonly key: SentKey; readonly body: unknown },
    query: WriteQuery,
  ): Planning<string>
  updateMany(scope: RequestScope, name: string, body: unknown, query: ItemQuery): Planning<string>
  /** The deleted item; undefined if the query has no `fields`. */
  deleteOne(scope: RequestScope, name: string, key: SentKey, query: WriteQuery): Planning<string | undefined>
  deleteMany(scope: RequestScope, name: string, query: ItemQuery): Planning<string | undefined>
}

export type ItemWritesDeps = ItemReadsDeps & {
  readonly ports: Pick<Ports, 'clock' | 'ids'>
  readonly loadOnce: LoadOnce
  /** How many items one request may create. */
  readonly createLimit: number
  /** How many rows a request may bring. */
  readonly maxRows: number
}

export function createItemWrites(deps: ItemWritesDeps): ItemWrites {
  const { onModel, open, plans, bindings, ports, loadOnce, createLimit, maxRows } = deps

  function openWrite(
    model: Model,
    scope: RequestScope,
    name: string,
    { action, query, parse = parseItem }: AskedWrite,
  ) {
    const { source, ...opened } = open(model, scope, name, action)
    const { viewer, collection } = opened
    const access = viewer.accessTo(collection, 'read')
    // A caller that may write but not read gets items with all values null.
    const read = { ...opened, access: access.kind === 'granted' ? access : writeOnlyAccess }
    const request: WriteRequest = {
      viewer,
      collection,
      generators: generatorsOf(ports),
      read,
      query: () => parse(query.sent),
      tags: query.tags,
    }
    return { source, request }
  }

  function write(scope: RequestScope, name: string, asked: AskedWrite, plan: PlanWrite): Planning<string> {
    const { action, query, body } = asked
    const sent = () => `${textOf(query.sent)}&${JSON.stringify(body)}`
    const planning = onModel(scope, { name, action, sent }, (model): Planning<BatchAnswer> => {
      if (query.once !== undefined) return writeOnce(model, scope, { ...asked, name, once: query.once, plan })
      const item = action === 'create' ? singleItem(body) : undefined
      const insert = item && openInsert(model, scope, name, { members: Object.keys(item), query })
      if (item !== undefined && insert !== undefined && insert !== 'uncacheable') {
        const values = insert.valuesOf(item, generatorsOf(ports))
        return started(() => insert.run(bindings({ item: values })))
      }
      const { source, request } = openWrite(model, scope, name, asked)
      // Large ones are planned in parts, between which other requests run.
      return andThen(inParts(plan(request)), (planned) => {
        const run = source.prepareBatch(alone(planned, request.collection))
        return started(() => run(bindings()))
      })
    })
    return answering(planning, ([list]) => list?.data ?? '[]')
  }

  async function writeOnce(
    model: Model,
    scope: RequestScope,
    asked: AskedWrite & { readonly name: string; readonly once: OnceKey; readonly plan: PlanWrite },
  ): Promise<Planned<BatchAnswer>> {
    const { watched, writes } = await loadOnce()
    const { once, action, isOne = false } = asked
    const sent = { scope, once, body: JSON.stringify(asked.body) ?? '', model }
    const run = (opened: Omit<OnceRequest, keyof typeof sent>) => started(() => writes.run({ ...sent, ...opened }))
    const item = action === 'create' ? singleItem(asked.body) : undefined
    const insert = item && openInsertOnce(model, scope, { ...asked, members: Object.keys(item), watched })
    if (item !== undefined && insert !== undefined && insert !== 'uncacheable') {
      const { valuesOf, ...opened } = insert
      return run({ ...opened, values: { item: valuesOf(item, generatorsOf(ports)) } })
    }
    const { source, rights, request } = openWatched(model, scope, { ...asked, watched })
    const answers = action === 'delete' ? 'deleted' : 'items'
    const plan = alone(await inParts(asked.plan(request)), request.collection, { isOne, answers })
    return run({ rights, source, plan })
  }

  /** What is planned with the request is noted in `rights`. */
  function openWatched(
    model: Model,
    scope: RequestScope,
    asked: AskedWrite & { readonly name: string; readonly watched: WatchRights },
  ) {
    const { source, request } = openWrite(model, scope, asked.name, asked)
    const rights = asked.watched(request.viewer)
    const { viewer } = rights
    viewer.accessTo(request.collection, 'read')
    return { source, rights, request: { ...request, viewer, read: { ...request.read, viewer } } }
  }

  /** An insert that is planned for later requests, too, which count it then; what is planned each time counts each time. */
  function countedApart<T>(scope: RequestScope, make: (apart: RequestScope) => T): Counted<T> {
    const spent = { rows: 0 }
    const made = make({ ...scope, spent })
    return { made, rows: made === 'uncacheable' ? 0 : spent.rows, most: maxRows }
  }

  /** Planned once for these rights, as without a key. */
  function openInsertOnce(
    model: Model,
    scope: RequestScope,
    asked: Parameters<typeof openWatched>[2] & { readonly members: readonly string[] },
  ): OpenInsertOnce {
    const { name, query, members } = asked
    const made = plans.get(scope.rights, model, `once ${insertKey(name, query, members)}`, () =>
      countedApart<OpenInsertOnce>(scope, (apart) => {
        const { source, rights, request } = openWatched(model, apart, asked)
        const insert = planPlainInsert(request, members)
        if (insert === undefined) return 'uncacheable'
        const plan = alone(insert.plan, request.collection)
        return { source, rights, plan, valuesOf: insert.valuesOf }
      }),
    )
    return spentBy(scope, made)
  }

  function openInsert(
    model: Model,
    scope: RequestScope,
    name: string,
    { members, query }: { readonly members: readonly string[]; readonly query: ItemQuery },
  ): OpenInsert {
    const made = plans.get(scope.rights, model, insertKey(name, query, members), () =>
      countedApart<OpenInsert>(scope, (apart) => {
        const { source, request } = openWrite(model, apart, name, { action: 'create', query, parse: parseCreate })
        const insert = planPlainInsert(request, members)
        return insert === undefined
          ? 'uncacheable'
          : { run: source.prepareBatch(alone(insert.plan, request.collection)), valuesOf: insert.valuesOf }
      }),
    )
    return spentBy(scope, made)
  }

  return {
    create(scope, name, body, query) {
      const plan: PlanWrite = (request) => {
        const { conflict } = request.query()
        if (conflict === undefined) return planCreate(request, body, createLimit)
        return planUpsert(request, body, { conflict, most: createLimit })
      }
      return write(scope, name, { action: 'create', query, body, parse: parseCreate }, plan)
    },

    updateOne(scope, name, { key, body }, query) {
      const asked = { action: 'update', query, body, isOne: true } as const
      return answering(
        write(scope, name, asked, (request) => planUpdateOne(request, body, key)),
        onlyItem,
      )
    },

    updateMany(scope, name, body, query) {
      const asked = { action: 'update', query, body, parse: parseMany } as const
      return write(scope, name, asked, (request) =>
        Array.isArray(body) ? planUpdateEach(request, body, createLimit) : planUpdateMany(request, body),
      )
    },

    deleteOne(scope, name, key, query) {
      const asked = { action: 'delete', query, isOne: true } as const
      return answering(
        write(scope, name, asked, (request) => planDeleteOne(request, key)),
        (items) => ifAsked(onlyItem(items), parseItem(query.sent)),
      )
    },

    deleteMany(scope, name, query) {
      return answering(write(scope, name, { action: 'delete', query, parse: parseMany }, planDeleteMany), (items) =>
        ifAsked(items, parseMany(query.sent)),
      )
    },
  }
}

/** Only member names with a comma could make the keys of two requests equal, and no field has such a name. */
function insertKey(name: string, { sent }: ItemQuery, members: readonly string[]): string {
  return `create ${name} ${textOf(sent)} ${members.length} ${members.join()}`
}

/** Deleted items are answered only to whoever names fields of them. */
function ifAsked(items: string, { fields }: ReadQuery): string | undefined {
  return fields === undefined ? undefined : items
}

/** A cached insert for all items with the same members; `uncacheable` where each item needs its own plan. */
type OpenInsert = { readonly run: Prepared<BatchAnswer>; readonly valuesOf: PlainInsert['valuesOf'] } | 'uncacheable'

type OpenInsertOnce = (Pick<PlainInsert, 'valuesOf'> & Pick<OnceRequest, 'source' | 'rights' | 'plan'>) | 'uncacheable'

type AskedWrite = {
  readonly action: Action
  readonly query: WriteQuery
  readonly parse?: typeof parseItem
  readonly body?: unknown
  /** Of the item of a key, whose absence is 404. */
  readonly isOne?: boolean
}

type PlanWrite = (request: WriteRequest) => Parts<WritePlan>
