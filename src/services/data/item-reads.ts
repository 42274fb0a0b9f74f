/** The reads of items: lists and single items, planned once for all requests of the same form (decision 032). */

import { granted, visibility } from '../../core/access/access.ts'
import type { Rights } from '../../core/access/principal.ts'
import { parseJson } from '../../core/exact-json.ts'
import { FILES, uploadingModel } from '../../core/model/file-collection.ts'
import type { Model, PrimitiveField } from '../../core/model/model.ts'
import type { ChangesPlan } from '../../core/plan/history/changes.ts'
import { decodeKey, keyEquals, keyFields, type SentKey } from '../../core/plan/item-key.ts'
import { fieldEquals } from '../../core/plan/names.ts'
import type { ReadPlan, Selection } from '../../core/plan/plan.ts'
import { planList, planOne } from '../../core/plan/read.ts'
import { all, and, type Filter, none } from '../../core/query/filter.ts'
import { parseItem, textOf } from '../../core/query/raw-query.ts'
import { type ListAnswer, type LongAnswer, type Prepared, type Source, weighing } from '../../sources/source.ts'
import { changesTable } from '../../store/changes.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { BindingsOf } from './bindings.ts'
import type { ItemChanges } from './item-changes.ts'
import type { OnModel } from './on-model.ts'
import { noRecord } from './only-item.ts'
import { counted, type OpenItems, spentBy } from './open-items.ts'
import type { PlanCache } from './plan-cache.ts'
import {
  type AggregatesQuery,
  type ChangesQuery,
  type ItemQuery,
  type ListQuery,
  type Planned,
  type Planning,
  started,
} from './planned.ts'

export type ItemReads = {
  list(scope: RequestScope, name: string, query: ListQuery): Planning<ListAnswer>
  /** Like `list`, but streams a long list. */
  listForSending(scope: RequestScope, name: string, query: ListQuery): Planning<ListAnswer | LongAnswer>
  read(scope: RequestScope, name: string, key: SentKey, query: ItemQuery): Planning<string>
  aggregate(scope: RequestScope, name: string, query: AggregatesQuery): Promise<Planned<ListAnswer>>
  /** Returns for each condition whether the item meets it; 404 if the caller may not read the item. */
  meets(
    scope: RequestScope,
    name: string,
    key: SentKey,
    conditions: (model: Model, rights: Rights) => readonly Filter[],
  ): Planning<readonly boolean[]>
  /** Returns the changes of an item that the caller may see; 404 if the caller may not read the item. */
  changes(scope: RequestScope, name: string, key: SentKey, query: ChangesQuery): Planning<ItemChanges>
  /** Returns the file item with this content, if there is one that the caller may read. */
  uploadedFile(scope: RequestScope, contentKey: string, query: ItemQuery): Planning<string | undefined>
  /** Returns the data for sending a file, as JSON; 404 if the caller may not read the file's row. */
  fileContent(scope: RequestScope, key: SentKey): Planning<string>
}

export type ItemReadsDeps = {
  readonly onModel: OnModel
  readonly open: OpenItems
  readonly plans: PlanCache
  readonly bindings: BindingsOf
}

export function createItemReads(deps: ItemReadsDeps): ItemReads {
  const { onModel, open, plans, bindings } = deps

  function runList<T>(
    scope: RequestScope,
    name: string,
    query: ListQuery,
    { kind, prepare }: ListKind<T | ListAnswer>,
  ): Planning<T | ListAnswer> {
    return onModel(scope, { name, action: 'read', sent: () => textOf(query.sent) }, (model, scope) => {
      const { made, values } = plans.getList(scope.rights, model, {
        operation: `${kind} ${name}`,
        query: query.sent,
        make: (parsed) =>
          counted(open(model, scope, name, 'read'), (source, context) => {
            const plan = planList(context, parsed)
            return plan.estimate === undefined ? prepare(source, plan) : withEstimate(source, plan)
          }),
      })
      const run = spentBy(scope, made)
      return started(() => run(bindings({ query: values }), query))
    })
  }

  return {
    list: (scope, name, query) => runList(scope, name, query, whole),

    listForSending: (scope, name, query) => runList(scope, name, query, sendable),

    async aggregate(scope, name, query) {
      const { parseAggregateQuery, planAggregates } = await import('../../core/plan/aggregate.ts')
      const sent = textOf(query.sent)
      return onModel(scope, { name, action: 'read', sent: () => sent }, (model, scope) => {
        const made = plans.get(scope.rights, model, `aggregates ${name} ${sent}`, () =>
          counted(open(model, scope, name, 'read'), (source, context) =>
            source.prepareList(planAggregates(context, parseAggregateQuery(query.sent))),
          ),
        )
        const run = spentBy(scope, made)
        return started(() => run(bindings(), query))
      })
    },

    read(scope, name, key, query) {
      return onModel(scope, { name, action: 'read', sent: () => textOf(query.sent) }, (model, scope) => {
        const made = plans.get(scope.rights, model, `one ${name} ${textOf(query.sent)}`, () =>
          counted(open(model, scope, name, 'read'), (source, context) => {
            const keyed = keyFields(context.collection)
            const parts = keyed.map((_, index) => ({ kind: 'key', index }) as const)
            const plan = planOne(context, parseItem(query.sent), keyEquals(context.access, keyed, parts))
            return { fields: keyed, run: source.prepareOne(plan) }
          }),
        )
        const { fields, run } = spentBy(scope, made)
        return started(() => run(bindings({ key: decodeKey(fields, key) }), query).then(known))
      })
    },

    meets(scope, name, key, conditions) {
      return onModel(scope, { name, action: 'read', sent: () => '' }, (model, scope) => {
        const { source, collection, access } = open(model, scope, name, 'read')
        const fields = keyFields(collection)
        const where = and([access.rows, keyEquals(access, fields, decodeKey(fields, key))])
        const plan = { kind: 'read', collection, where, page: undefined, count: false } as const
        const run = source.prepareOne({ ...plan, selection: asSelection(fields, conditions(model, scope.rights)) })
        return started(() => run(bindings()).then((item) => conditionResults(known(item))))
      })
    },

    changes(scope, name, sentKey, query) {
      return onModel(scope, { name, action: 'read', sent: () => query.sent }, (model, scope) => {
        const { source, collection, access } = open(model, scope, name, 'read')
        const key = decodeKey(keyFields(collection), sentKey)
        const changes = changesTable(scope.workspace.apiName, model.sources.get(collection.sourceId))
        const run = async (plan: ChangesPlan) => {
          if (source.prepareChanges === undefined || changes === undefined) return noRecord()
          return source.prepareChanges(plan, changes)(bindings(), query)
        }
        return started(async () => {
          const { readItemChanges } = await import('./item-changes.ts')
          return readItemChanges({ collection, access }, { key, sent: query.sent }, run)
        })
      })
    },

    uploadedFile(scope, contentKey, query) {
      // Treated as a read for every action: its plan's validity is checked after the answer, not before.
      return onModel(scope, { name: FILES, action: 'read', sent: () => textOf(query.sent) }, (own, scope) => {
        const { viewer, collection } = open(uploadingModel(own), scope, FILES, 'create')
        const field = collection.fields.get('contentKey')
        const mayRead = viewer.accessTo(collection, 'read').kind === 'granted'
        if (field?.kind !== 'primitive' || !mayRead) return started(() => Promise.resolve(undefined))
        // The answer uses the collection as requests see it, without the upload's fields.
        const { source, ...context } = open(own, scope, FILES, 'read')
        const run = source.prepareOne(planOne(context, parseItem(query.sent), fieldEquals(field, all, contentKey)))
        return started(() => run(bindings(), query))
      })
    },

    fileContent(scope, key) {
      return onModel(scope, { name: FILES, action: 'read', sent: () => '' }, (own, scope) => {
        const model = uploadingModel(own)
        const made = plans.get(scope.rights, model, 'content', () =>
          counted(open(model, scope, FILES, 'read'), (source, context) => {
            // A caller that may read the row may read its bytes, whichever fields are visible; its name only if visible.
            const access = granted([{ rows: context.access.rows, fields: 'every', validation: all }])
            const keyed = keyFields(context.collection)
            const where = keyEquals(access, keyed, [{ kind: 'key', index: 0 }])
            const plan = planOne({ ...context, access }, parseItem(CONTENT), where)
            const selection = plan.selection.map((selected) =>
              selected.kind === 'field' && selected.name === 'fileName'
                ? { ...selected, visible: visibility(context.access, selected.field) ?? none }
                : selected,
            )
            return { fields: keyed, run: source.prepareOne({ ...plan, selection }) }
          }),
        )
        const { fields, run } = spentBy(scope, made)
        return started(() => run(bindings({ key: decodeKey(fields, key) })).then(known))
      })
    },
  }
}

const CONTENT = 'fields=fileName,fileSize,mediaType,contentKey,contentHash'

/** Selects the key under each condition: the key is never null, so null means that the condition does not hold. */
function asSelection([field]: readonly PrimitiveField[], conditions: readonly Filter[]): Selection {
  if (field === undefined) return []
  return conditions.map((visible, index) => ({ kind: 'field', name: `met${index}`, field, visible }))
}

function conditionResults(item: string): readonly boolean[] {
  return Object.values(parseJson(item) as object).map((value) => value !== null)
}

type ListKind<T> = { readonly kind: string; readonly prepare: (source: Source, plan: ReadPlan) => Prepared<T> }

const whole: ListKind<ListAnswer> = { kind: 'list', prepare: (source, plan) => source.prepareList(plan) }
const sendable: ListKind<ListAnswer | LongAnswer> = {
  kind: 'sendable',
  prepare: (source, plan) => source.prepareLong?.(plan) ?? source.prepareList(plan),
}

/** Starts the list first, then the estimate, and returns both. */
function withEstimate(source: Source, plan: ReadPlan): Prepared<ListAnswer> {
  const list = source.prepareList(plan)
  const estimate = source.prepareEstimate?.(plan)
  const both: Prepared<ListAnswer> = async (bindings, options) => {
    const answer = list(bindings, options)
    const figure = estimate?.(bindings, options).catch(() => null)
    return { ...(await answer), estimate: (await figure) ?? null }
  }
  return weighing(both, list.weight)
}

function known(item: string | undefined): string {
  return item ?? noRecord()
}
