/** What is kept of an answer where the write itself cannot keep it, and what is answered of it later. */
import type { PlannedOperation, Selection } from '../../../core/plan/plan.ts'
import { type Keeping, keySelection, listed, MAX_BODY } from '../../../core/sql/write/ledger.ts'
import { keptOf, type OperationKeeping, readKept } from '../../../core/sql/write/ledger-batch.ts'
import type { KeptAnswer, ListAnswer, OnceOutcome } from '../../../sources/source.ts'
import type { BindingsOf } from '../bindings.ts'
import type { WriteSending, Written } from './claims.ts'
import type { OnceBatchRequest, OnceRequest } from './once-request.ts'
import { readAgain, withoutKeys } from './reread.ts'

type Known<Answer> = Extract<OnceOutcome<Answer>, { readonly kind: 'known' }>

/** Deleted items cannot be read again, nor can those without a key. */
export function keepingOf({ plan, rights, collection }: OnceRequest): Keeping {
  const isDeleting = plan.kind === 'delete' || (plan.kind === 'program' && plan.steps.at(-1)?.kind === 'delete')
  if (isDeleting || collection.key.length === 0) return 'body'
  return rights.readsByRow() ? 'keys' : 'bySize'
}

/** Writes, and tells what to keep of the answer. */
export async function writtenItems(
  { source, plan, values, collection, isOne }: OnceRequest,
  how: { readonly bindings: BindingsOf; readonly keeping: Keeping; readonly sending: WriteSending },
): Promise<Written<string>> {
  const { bindings, keeping, sending } = how
  const selection = keeping === 'body' ? plan.selection : [...plan.selection, ...keySelection(collection)]
  const text = await source.prepareWrite({ ...plan, selection })(bindings(values), sending)
  const { items, keys } = keeping === 'body' ? { items: text, keys: null } : withoutKeys(collection, text)
  const isShort = keeping === 'body' || (keeping === 'bySize' && new TextEncoder().encode(items).length <= MAX_BODY)
  const kept = isShort ? { body: items, itemKeys: null } : { body: null, itemKeys: keys }
  return { answer: items, kept, isUndone: isOne && items === '[]' }
}

export async function replayedItems(
  { source, collection, plan }: OnceRequest,
  { row, completed }: Known<string>,
  bindings: BindingsOf,
): Promise<string> {
  if (row.itemKeys === undefined) return completed(listed(row.body ?? '[]'))
  return readAgain({ source, collection, selection: plan.selection, bindings }, listed(row.itemKeys))
}

/** The same of a batch. */
export async function writtenBatch(
  { source, plan }: OnceBatchRequest,
  how: {
    readonly bindings: BindingsOf
    readonly keepings: readonly OperationKeeping[]
    readonly sending: WriteSending
  },
): Promise<Written<KeptAnswer>> {
  const { bindings, keepings, sending } = how
  const isKeyed = (index: number) => keepings[index] === 'keys' || keepings[index] === 'bySize'
  const operations = plan.operations.map((operation, index) => (isKeyed(index) ? withKeys(operation) : operation))
  const lists = await source.prepareBatch({ ...plan, operations })(bindings(), sending)
  const parts = lists.map((list, index) => {
    const collection = plan.operations[index]?.collection
    if (collection === undefined || !isKeyed(index)) return { list, keys: [] }
    const { items, keys } = withoutKeys(collection, list.data)
    return { list: { ...list, data: items }, keys: [{ data: keys, total: undefined }] }
  })
  const answer = parts.map(({ list }) => list)
  return {
    answer,
    kept: keptOf(
      keepings,
      answer.map((list) => [list]),
      parts.map(({ keys }) => keys),
    ),
    isUndone: plan.operations.some(({ isKeyed: isOne }, index) => isOne && answer[index]?.data === '[]'),
  }
}

function withKeys(operation: PlannedOperation): PlannedOperation {
  const selection: Selection = [...operation.plan.selection, ...keySelection(operation.collection)]
  return { ...operation, plan: { ...operation.plan, selection } }
}

/** What was kept, and what was not, as it is now. */
export async function replayedLists(
  { source, plan }: OnceBatchRequest,
  { row, completed }: Known<KeptAnswer>,
  bindings: BindingsOf,
): Promise<KeptAnswer> {
  const [kept, keys] = [readKept(row.body), readKept(row.itemKeys)]
  const shown = await completed(plan.operations.map((_, index) => kept.get(index)))
  const lists: (ListAnswer | undefined)[] = []
  for (const [index, operation] of plan.operations.entries()) {
    const [list, ofKeys] = [shown[index], keys.get(index)]
    const { plan: own, collection, readable, isKeyed, answers } = operation
    if (list !== undefined || answers === 'nothing') lists.push(list)
    else if (own.kind === 'read' && own.page !== undefined) lists.push(await source.prepareList(own)(bindings()))
    else {
      const { selection } = own
      const data =
        own.kind === 'read'
          ? `[${(await source.prepareOne(own)(bindings())) ?? ''}]`
          : await readAgain({ source, collection, selection, readable, bindings }, ofKeys?.data ?? '[]')
      lists.push({ data: isKeyed && data === '[]' ? '[null]' : data, total: undefined })
    }
  }
  return lists
}
