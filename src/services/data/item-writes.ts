/** The writes of items: each is authorized, planned and run as one transaction. */

import { type Action, mayDoAnything, type Viewer, writeOnlyAccess } from '../../core/access/access.ts'
import { andThen } from '../../core/and-then.ts'
import { FILES, namedByRequests, uploadingModel } from '../../core/model/file-collection.ts'
import type { Model } from '../../core/model/model.ts'
import type { Parts } from '../../core/parts.ts'
import { alone } from '../../core/plan/batch/planned-operation.ts'
import { planUpdateEach } from '../../core/plan/bulk/update-each.ts'
import { planUpsert } from '../../core/plan/bulk/upsert.ts'
import type { SentKey } from '../../core/plan/item-key.ts'
import { forbidden } from '../../core/plan/names.ts'
import type { WritePlan } from '../../core/plan/plan.ts'
import {
  type PlainInsert,
  planCreate,
  planDeleteMany,
  planDeleteOne,
  planPlainInsert,
  planRestore,
  planUpdateMany,
  planUpdateOne,
  singleItem,
  type WriteRequest,
} from '../../core/plan/write.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import { parseCreate, parseItem, parseMany, textOf } from '../../core/query/raw-query.ts'
import type { Ports } from '../../ports/ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { BatchAnswer, Prepared } from '../../sources/source.ts'
import type { RequestScope } from '../caller/callers.ts'
import { generatorsOf } from './generators.ts'
import type { ItemReadsDeps } from './item-reads.ts'
import type { LoadOnce } from './load-once.ts'
import type { OnceRequest } from './once/once-request.ts'
import type { WatchedRights } from './once/rights.ts'
import { onlyItem } from './only-item.ts'
import { type Counted, spentBy } from './open-items.ts'
import type { Viewers } from './plan-cache.ts'
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
  /** Returns the deleted item; undefined if the query has no `fields`. */
  deleteOne(scope: RequestScope, name: string, key: SentKey, query: WriteQuery): Planning<string | undefined>
  deleteMany(scope: RequestScope, name: string, query: ItemQuery): Planning<string | undefined>
  /** Creates the rows of uploaded files, including the fields that the service determines. */
  createFiles(scope: RequestScope, files: readonly object[], query: ItemQuery): Planning<string>
  /** Creates the row of a deleted file again. Throws 403 if the caller may not delete the restored file. */
  restoreFile(scope: RequestScope, file: object, query: ItemQuery): Planning<string>
  /** Replaces the bytes of a file. */
  replaceFile(
    scope: RequestScope,
    target: { readonly key: SentKey; readonly body: object },
    query: ItemQuery,
  ): Planning<string>
  /** Throws 403 if the caller may not do this with any file. */
  admitFile(scope: RequestScope, action: 'create' | 'update' | 'delete'): Planning<void>
  /** Throws 403 or 404 if the caller may not do this with any item, or without `wanted` nothing in any collection. */
  admit(scope: RequestScope, wanted?: { readonly name: string; readonly action: Action }): Planning<void>
}

export type ItemWritesDeps = ItemReadsDeps & {
  readonly viewers: Viewers
  readonly ports: Pick<Ports, 'clock' | 'ids'>
  readonly loadOnce: LoadOnce
  /** Maximum number of items that one request may create. */
  readonly createLimit: number
  /** Maximum number of rows that a request may return. */
  readonly maxRows: number
}

export function createItemWrites(deps: ItemWritesDeps): ItemWrites {
  const { onModel, open, viewers, plans, bindings, ports, loadOnce, createLimit, maxRows } = deps

  /** Opens a collection for a write; planning uses the viewer that `watch` returns. */
  function openWrite<Rights extends Watched>(
    model: Model,
    scope: RequestScope,
    { name, action, query, parse = parseItem, isUpload }: WriteInput,
    watch: (viewer: Viewer) => Rights,
  ) {
    const { source, ...opened } = open(model, scope, name, action)
    const { collection } = opened
    const rights = watch(opened.viewer)
    const { viewer } = rights
    const access = viewer.accessTo(collection, 'read')
    // A caller that may write but not read gets items with all values null.
    const shown = isUpload ? namedByRequests(collection) : collection
    const read = { ...opened, viewer, collection: shown, access: access.kind === 'granted' ? access : writeOnlyAccess }
    const request: WriteRequest = {
      viewer,
      collection,
      generators: generatorsOf(ports),
      read,
      query: () => parse(query.sent),
      tags: query.tags,
    }
    return { source, rights, request }
  }

  function write(scope: RequestScope, input: WriteInput, plan: PlanWrite): Planning<string> {
    const { name, action, query, body } = input
    const sent = () => `${textOf(query.sent)}&${JSON.stringify(body)}`
    const planning = onModel(scope, { name, action, sent }, (own, scope): Planning<BatchAnswer> => {
      const model = input.isUpload === true ? uploadingModel(own) : own
      if (query.once !== undefined) return writeOnce(model, scope, { ...input, once: query.once, plan })
      const insert = openInsert(model, scope, input, unwatched)
      if (insert !== undefined)
        return started(() =>
          insert.run(bindings({ ...insert.values, caller: scope.caller }), {
            term: scope.term,
            account: query.account,
          }),
        )
      const { source, request } = openWrite(model, scope, input, unwatched)
      // Large writes are planned in parts, between which other requests run.
      return andThen(inParts(plan(request)), (planned) => {
        const run = source.prepareBatch(alone(planned, request.collection))
        return started(() => run(bindings({ caller: scope.caller }), { term: scope.term, account: query.account }))
      })
    })
    return answering(planning, ([list]) => list?.data ?? '[]')
  }

  async function writeOnce(
    model: Model,
    scope: RequestScope,
    input: WriteInput & { readonly once: OnceKey; readonly plan: PlanWrite },
  ): Promise<Planned<BatchAnswer>> {
    const { watched, writes } = await loadOnce()
    const { once, action, isOne = false } = input
    const sent = { scope, once, body: JSON.stringify(input.body) ?? '', model }
    const insert = openInsert(model, scope, input, watched)
    if (insert !== undefined) return started(() => writes.run({ ...insert, ...sent }))
    const { source, rights, request } = openWrite(model, scope, input, watched)
    const answers = action === 'delete' ? 'deleted' : 'items'
    const plan = alone(await inParts(input.plan(request)), request.collection, { isOne, answers })
    return started(() => writes.run({ ...sent, rights, source, plan }))
  }

  /** Plans the insert of one plain item, once for these rights; undefined if each write needs its own plan. */
  function openInsert<Rights extends Watched>(
    model: Model,
    scope: RequestScope,
    input: WriteInput,
    watch: (viewer: Viewer) => Rights,
  ) {
    const { name, action, query, body } = input
    const item = action === 'create' ? singleItem(body) : undefined
    if (item === undefined) return undefined
    const members = Object.keys(item)
    // Only member names with a comma could make the keys of two requests equal, and no field has such a name.
    const key = `create ${query.once !== undefined} ${name} ${textOf(query.sent)} ${members.length} ${members.join()}`
    const opened = plans.get<Counted<OpenInsert<Rights> | 'uncacheable'>>(scope.rights, model, key, () => {
      // The rows are counted for later requests, too; a write without a shared plan is counted whenever it is planned.
      const spent = { rows: 0 }
      const { source, rights, request } = openWrite(model, { ...scope, spent }, input, watch)
      const insert = planPlainInsert(request, members)
      if (insert === undefined) return { made: 'uncacheable', rows: 0, most: maxRows }
      const plan = alone(insert.plan, request.collection)
      const made = { source, rights, plan, run: source.prepareBatch(plan), valuesOf: insert.valuesOf }
      return { made, rows: spent.rows, most: maxRows }
    })
    const insert = spentBy(scope, opened)
    if (insert === 'uncacheable') return undefined
    return { ...insert, values: { item: insert.valuesOf(item, generatorsOf(ports)) } }
  }

  return {
    create(scope, name, body, query) {
      const plan: PlanWrite = (request) => {
        const { conflict } = request.query()
        if (conflict === undefined) return planCreate(request, body, createLimit)
        return planUpsert(request, body, { conflict, most: createLimit })
      }
      return write(scope, { name, action: 'create', query, body, parse: parseCreate }, plan)
    },

    updateOne(scope, name, { key, body }, query) {
      const input = { name, action: 'update', query, body, isOne: true } as const
      return answering(
        write(scope, input, (request) => planUpdateOne(request, body, key)),
        onlyItem,
      )
    },

    updateMany(scope, name, body, query) {
      const input = { name, action: 'update', query, body, parse: parseMany } as const
      return write(scope, input, (request) =>
        Array.isArray(body) ? planUpdateEach(request, body, createLimit) : planUpdateMany(request, body),
      )
    },

    deleteOne(scope, name, key, query) {
      const input = { name, action: 'delete', query, isOne: true } as const
      return answering(
        write(scope, input, (request) => planDeleteOne(request, key)),
        (items) => ifSelected(onlyItem(items), parseItem(query.sent)),
      )
    },

    deleteMany(scope, name, query) {
      return answering(write(scope, { name, action: 'delete', query, parse: parseMany }, planDeleteMany), (items) =>
        ifSelected(items, parseMany(query.sent)),
      )
    },

    createFiles(scope, files, query) {
      const input = { ...uploaded, action: 'create', query, body: files, parse: parseCreate } as const
      return write(scope, input, (request) => planCreate(request, files, createLimit))
    },

    restoreFile(scope, file, query) {
      const input = { ...uploaded, action: 'create', query, body: file } as const
      return answering(
        write(scope, input, (request) => planRestore(request, file)),
        onlyItem,
      )
    },

    replaceFile(scope, { key, body }, query) {
      const input = { ...uploaded, action: 'update', query, body, isOne: true } as const
      return answering(
        write(scope, input, (request) => planUpdateOne(request, body, key)),
        onlyItem,
      )
    },

    admitFile(scope, action) {
      return onModel(scope, { name: FILES, action, sent: () => '' }, (model, scope) => {
        open(uploadingModel(model), scope, FILES, action)
        return admitted()
      })
    },

    admit(scope, wanted) {
      const { name = '', action = 'read' } = wanted ?? {}
      return onModel(scope, { name, action, sent: () => '' }, (model, scope) => {
        if (wanted !== undefined) open(model, scope, name, action)
        else if (!mayDoAnything(viewers.of(scope.rights, model), model)) throw forbidden()
        return admitted()
      })
    },
  }
}

const admitted = () => started(() => Promise.resolve())

const uploaded = { name: FILES, isUpload: true } as const

/** Returns deleted items only if the query names fields. */
function ifSelected(items: string, { fields }: ReadQuery): string | undefined {
  return fields === undefined ? undefined : items
}

type Watched = Pick<WatchedRights, 'viewer'>

const unwatched = (viewer: Viewer): Watched => ({ viewer })

/** An insert for all items with the same members. */
type OpenInsert<Rights> = Pick<PlainInsert, 'valuesOf'> &
  Pick<OnceRequest, 'source' | 'plan'> & { readonly rights: Rights; readonly run: Prepared<BatchAnswer> }

type WriteInput = {
  readonly name: string
  readonly action: Action
  readonly query: WriteQuery
  readonly parse?: typeof parseItem
  readonly body?: unknown
  /** The write is of one item by key; a missing item throws 404. */
  readonly isOne?: boolean
  /** The write comes from the service itself, which sets the fields of a file's content. */
  readonly isUpload?: true
}

type PlanWrite = (request: WriteRequest) => Parts<WritePlan>
