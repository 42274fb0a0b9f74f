/** Stores an answer if the write itself cannot store it, and replays stored answers. */
import { codedError } from '../../../core/error.ts'
import { alone } from '../../../core/plan/batch/planned-operation.ts'
import type { PlannedOperation, Selection } from '../../../core/plan/plan.ts'
import { requireTerm } from '../../../core/sql/begin/plan-term.ts'
import { isReadableAgain, type Keeping, keptOf, readKept } from '../../../core/sql/write/kept-lists.ts'
import { type KeptBounds, keySelection } from '../../../core/sql/write/ledger.ts'
import type { KeptAnswer, ListAnswer, OnceOutcome } from '../../../sources/source.ts'
import { personOf } from '../../caller/caller.ts'
import type { BindingsOf } from '../bindings.ts'
import type { WriteSending, Written } from './claims.ts'
import type { OnceRequest } from './once-request.ts'
import { readAgain, withoutKeys } from './reread.ts'

/** Runs the write and returns what to store of its answer. */
export async function written(
  { source, plan, values, scope }: OnceRequest,
  how: {
    readonly bindings: BindingsOf
    readonly keepings: readonly Keeping[]
    readonly bounds: KeptBounds
    readonly sending: WriteSending
  },
): Promise<Written> {
  const { bindings, keepings, bounds, sending } = how
  const isKeyed = (index: number) => keepings[index] === 'keys' || keepings[index] === 'bySize'
  const operations = plan.operations.map((operation, index) => (isKeyed(index) ? withKeys(operation) : operation))
  const lists = await source.prepareBatch({ ...plan, operations })(bindings({ ...values, caller: scope.caller }), {
    ...sending,
    term: scope.term,
    account: personOf(scope.caller),
  })
  const parts = lists.map((list, index) => {
    const collection = plan.operations[index]?.collection
    if (collection === undefined || !isKeyed(index)) return { list, keys: [] }
    const { items, keys } = withoutKeys(collection, list.data)
    return { list: { ...list, data: items }, keys: [{ data: keys, total: undefined }] }
  })
  const answer = parts.map(({ list }) => list)
  return {
    answer,
    kept: keptOf(keepings, { answers: answer.map((list) => [list]), keys: parts.map(({ keys }) => keys) }, bounds),
  }
}

function withKeys(operation: PlannedOperation): PlannedOperation {
  const selection: Selection = [...operation.plan.selection, ...keySelection(operation.collection)]
  return { ...operation, plan: { ...operation.plan, selection } }
}

/**
 * Returns the stored answer; items that were not stored are read again, without those deleted since. Throws 409 if the answer
 * was not stored and cannot be read again.
 */
export async function replayed(
  { source, plan, scope: { term } }: OnceRequest,
  { row, completed }: Extract<OnceOutcome, { readonly kind: 'known' }>,
  bindings: BindingsOf,
): Promise<KeptAnswer> {
  const [kept, keys] = [readKept(row.body), readKept(row.itemKeys)]
  const shown = await completed(plan.operations.map((_, index) => kept.get(index)))
  const lists: (ListAnswer | undefined)[] = []
  for (const [index, operation] of plan.operations.entries()) {
    const [list, ofKeys] = [shown[index], keys.get(index)]
    const { plan: own, collection, readable, answers } = operation
    if (list !== undefined || answers === 'nothing') lists.push(list)
    else if (own.kind === 'read') lists.push(...(await source.prepareBatch(alone(own, collection))(bindings())))
    else if (!isReadableAgain(operation)) throw codedError('4096')
    else {
      const { selection } = own
      const data = await readAgain({ source, collection, selection, readable, bindings }, ofKeys?.data ?? '[]')
      lists.push({ data, total: undefined })
    }
  }
  await requireTerm(term)
  return lists
}
