/** Batches of items (docs/contract.md#batches): each operation is authorized and planned, and all run as one transaction. */
import { type Action, type Viewer, writeOnlyAccess } from '../../core/access/access.ts'
import { andThen } from '../../core/and-then.ts'
import type { Model } from '../../core/model/model.ts'
import { type Form, formName, planForm } from '../../core/plan/batch/form.ts'
import { actionOf, type Operation, parseOperations } from '../../core/plan/batch/operation.ts'
import { planBatch } from '../../core/plan/batch/plan.ts'
import { faultOf } from '../../core/plan/operation-fault.ts'
import type { Generators } from '../../core/plan/values.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { BatchAnswer, ReadOptions, Source } from '../../sources/source.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { ItemReadsDeps } from './item-reads.ts'
import { type ListMeta, listMeta } from './list-meta.ts'
import type { LoadOnce } from './load-once.ts'
import { onlyItem } from './only-item.ts'
import type { Viewers } from './plan-cache.ts'
import { answering, type OnceKey, type Planned, type Planning, started } from './planned.ts'

/** The items of each operation as JSON text, and the `meta` of each read. */
export type BatchText = { readonly data: readonly string[]; readonly meta: readonly (ListMeta | undefined)[] }

export type ItemBatchDeps = ItemReadsDeps & {
  readonly viewers: Viewers
  readonly createLimit: number
  readonly generators: () => Generators
  readonly loadOnce: LoadOnce
}

export type BatchRun = { readonly body: unknown; readonly options: ReadOptions; readonly once?: OnceKey | undefined }

/** The context in which an operation is planned. */
type Within = { readonly model: Model; readonly viewer: Viewer; readonly scope: RequestScope }

/** Throws the error of the first operation that fails, with its place; the batch is rolled back. */
export function runBatch(
  { onModel, open, plans, bindings, viewers, createLimit, generators, loadOnce }: ItemBatchDeps,
  scope: RequestScope,
  { body, options, once }: BatchRun,
): Planning<BatchText> {
  const operations = parseOperations(body)
  const requests = operations.map(({ kind, collection: name, data, query }) => ({
    name,
    action: actionOf[kind],
    sent: () => JSON.stringify([data, query]),
  }))

  function opened(
    { model, viewer, scope }: Within,
    { name, action }: { readonly name: string; readonly action: Action },
  ) {
    const { source, ...context } = open(model, scope, name, action)
    const { collection } = context
    const access = viewer.accessTo(collection, 'read')
    // A caller that may write but not read gets items with all values null.
    const read = { ...context, viewer, access: access.kind === 'granted' ? access : writeOnlyAccess }
    return { source, collection, read }
  }

  /** Returns the cached form of an operation, planned once for these rights. */
  function formOf(within: Within, operation: Operation): SourceForm | undefined {
    const { model, viewer, scope } = within
    const form = formName(operation)
    if (form === undefined) return undefined
    const known = plans.get<SourceForm | 'none'>(scope.rights, model, `batch ${form}`, () => {
      const { kind, collection: name } = operation
      const { source, ...own } = opened(within, { name, action: actionOf[kind] })
      const planned = planForm({ ...own, viewer, generators: generators() }, operation)
      return planned === undefined ? 'none' : { ...planned, source }
    })
    return known === 'none' ? undefined : known
  }

  function planned(within: Within, isOnce = false) {
    const { viewer, scope } = within
    let source: Source | undefined
    const request = {
      viewer,
      generators: generators(),
      most: createLimit,
      spent: scope.spent,
      open(name: string, action: Action) {
        const { source: own, ...rest } = opened(within, { name, action })
        source ??= own
        return rest
      },
      // Under an idempotency key all rights that planning reads must be recorded, so no cached form is used.
      formOf(operation: Operation) {
        const form = isOnce ? undefined : formOf(within, operation)
        source ??= form?.source
        return form
      },
    }
    return andThen(inParts(planBatch(request, operations)), (plan) => {
      if (source === undefined) throw new TypeError('a batch has an operation')
      return { source, plan }
    })
  }

  async function runOnce(model: Model, scope: RequestScope, key: OnceKey): Promise<Planned<BatchAnswer>> {
    const { watched, writes } = await loadOnce()
    const rights = watched(viewers.of(scope.rights, model))
    const { source, plan } = await planned({ model, viewer: rights.viewer, scope }, true)
    const text = JSON.stringify(body)
    return started(() => writes.run({ scope, once: key, body: text, model, rights, source, plan }))
  }

  const planning = onModel(scope, requests, (model, scope): Planning<BatchAnswer> => {
    if (once !== undefined) return runOnce(model, scope, once)
    return andThen(planned({ model, viewer: viewers.of(scope.rights, model), scope }), ({ source, plan }) => {
      const run = source.prepareBatch(plan)
      return started(() => run(bindings({ caller: scope.caller }), { ...options, term: scope.term }))
    })
  })
  return answering(planning, (answer) => textOf(operations, answer, once !== undefined))
}

type SourceForm = Form & { readonly source: Source }

/** Under an idempotency key, a missing item is one that was deleted since. */
function textOf(operations: readonly Operation[], answer: BatchAnswer, isOnce: boolean): BatchText {
  const data = operations.map(({ kind, key, query }, index) => {
    const { data: items } = answer[index] ?? { data: '[]' }
    if (kind === 'delete' && query.fields === undefined) return 'null'
    try {
      if (key === undefined) return items
      return isOnce && items === '[]' ? 'null' : onlyItem(items)
    } catch (error) {
      throw faultOf(error, index)
    }
  })
  return { data, meta: answer.map(listMeta) }
}
