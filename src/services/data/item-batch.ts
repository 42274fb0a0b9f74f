/** Batches of items (docs/contract.md#batches): authorized and planned operation by operation, run as one transaction. */
import { type Action, writeOnlyAccess } from '../../core/access/access.ts'
import { andThen } from '../../core/and-then.ts'
import { actionOf, type Operation, parseOperations } from '../../core/plan/batch/operation.ts'
import { planBatch } from '../../core/plan/batch/plan.ts'
import { faultOf } from '../../core/plan/operation-fault.ts'
import type { Generators } from '../../core/plan/values.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { BatchAnswer, ReadOptions, Source } from '../../sources/source.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { ItemReadsDeps } from './item-reads.ts'
import { onlyItem } from './only-item.ts'
import type { Viewers } from './plan-cache.ts'
import { answering, type Planning, started } from './planned.ts'

/** The items of each operation as JSON text, and how many match in all where a read asks for it. */
export type BatchText = { readonly data: readonly string[]; readonly totals: readonly (number | undefined)[] }

export type ItemBatchDeps = Omit<ItemReadsDeps, 'plans'> & {
  readonly viewers: Viewers
  readonly createLimit: number
  readonly generators: () => Generators
}

/** Throws the error of the first operation that fails, with its place; nothing of the batch is then left. */
export function runBatch(
  { onModel, open, bindings, viewers, createLimit, generators }: ItemBatchDeps,
  scope: RequestScope,
  { body, options }: { readonly body: unknown; readonly options: ReadOptions },
): Planning<BatchText> {
  const operations = parseOperations(body)
  const asked = operations.map(({ kind, collection: name, data, query }) => ({
    name,
    action: actionOf[kind],
    sent: () => JSON.stringify([data, query]),
  }))
  const planning = onModel(scope, asked, (model) => {
    let source: Source | undefined
    const request = {
      viewer: viewers.of(scope.rights, model),
      generators: generators(),
      most: createLimit,
      open(name: string, action: Action) {
        const opened = open(model, scope, name, action)
        const { collection, viewer, limits, maxRows } = opened
        source ??= opened.source
        const access = viewer.accessTo(collection, 'read')
        // A caller that may write but not read gets items with all values null.
        const read = {
          viewer,
          collection,
          limits,
          maxRows,
          access: access.kind === 'granted' ? access : writeOnlyAccess,
        }
        return { collection, read }
      },
    }
    return andThen(inParts(planBatch(request, operations)), (plan) => {
      if (source === undefined) throw new TypeError('a batch has an operation')
      const run = source.prepareBatch(plan)
      return started(() => run(bindings(), options))
    })
  })
  return answering(planning, (answer) => textOf(operations, answer))
}

function textOf(operations: readonly Operation[], answer: BatchAnswer): BatchText {
  const data = operations.map(({ kind, key, query }, index) => {
    const { data: items } = answer[index] ?? { data: '[]' }
    if (kind === 'delete' && query.fields === undefined) return 'null'
    try {
      return key === undefined ? items : onlyItem(items)
    } catch (error) {
      throw faultOf(error, index)
    }
  })
  return { data, totals: answer.map(({ total }) => total) }
}
