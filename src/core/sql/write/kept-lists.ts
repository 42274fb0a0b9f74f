/**
 * The stored answer of a write in a ledger (docs/contract.md#idempotency): the lists of its operations, each with the index of
 * its operation, its count and cursors.
 */
import { parseJson } from '../../exact-json.ts'
import type { BatchPlan, PlannedOperation } from '../../plan/plan.ts'
import type { Cursors, ReadList } from '../read/row-query.ts'
import { concatenate } from './batch.ts'
import { type KeptBounds, SEPARATOR } from './ledger.ts'

/**
 * What is stored of an operation's answer: the answer, the keys of its items, or one of both by the total size. `ifShort`: the
 * answer, unless it is too long; then it is read again.
 */
export type Keeping = 'body' | 'keys' | 'bySize' | 'ifShort' | 'nothing'

/** For each operation. `isByRow`: the rows decide what the caller may read. */
export function keepingsOf({ operations }: BatchPlan, isByRow: boolean): readonly Keeping[] {
  return operations.map((operation) => {
    if (operation.answers === 'nothing') return 'nothing'
    if (operation.plan.kind === 'read') return isByRow ? 'nothing' : 'ifShort'
    if (!isReadableAgain(operation)) return 'body'
    return isByRow ? 'keys' : 'bySize'
  })
}

/** False for deleted items, and items without a key. */
export function isReadableAgain({ collection, answers }: PlannedOperation): boolean {
  return answers !== 'deleted' && collection.key.length > 0
}

/** The parts of the answers and keys that a ledger stores. */
export function keptOf(
  keepings: readonly Keeping[],
  { answers, keys }: { readonly [name in 'answers' | 'keys']: readonly (readonly ReadList[])[] },
  { mostAgain, mostElse }: KeptBounds,
): { readonly body: string | null; readonly itemKeys: string | null } {
  const kept = (lists: readonly (readonly ReadList[])[], ...which: readonly Keeping[]) =>
    keepings.flatMap((keeping, index) =>
      which.includes(keeping) ? (lists[index] ?? []).map((list) => keptList(index, list)) : [],
    )
  const isWithin = (lists: readonly string[], most: number) => new TextEncoder().encode(joined(lists)).length <= most
  const only = kept(answers, 'body')
  const short = kept(answers, 'bySize', 'ifShort')
  const isShort = isWithin(short, mostAgain)
  return {
    body: joined([...(isWithin(only, mostElse) ? only : []), ...(isShort ? short : [])]),
    itemKeys: joined(isShort ? kept(keys, 'keys') : kept(keys, 'keys', 'bySize')),
  }
}

function keptList(operation: number, { data, total, cursors }: ReadList): string {
  return `${operation}:${total ?? ''}:${cursors === undefined ? '' : JSON.stringify(cursors)}${data}`
}

function joined(lists: readonly string[]): string {
  return lists.join(String.fromCharCode(SEPARATOR))
}

/** The stored lists, by operation; a list without an index belongs to the first. */
export function readKept(lists: string | undefined): ReadonlyMap<number, ReadList> {
  const found = new Map<number, ReadList>()
  for (const text of lists === undefined || lists === '' ? [] : lists.split(String.fromCharCode(SEPARATOR))) {
    const [, operation = '0', total = '', cursors = '', data] =
      /^(?:(\d+):(\d*):(\{[^[]*\})?)?(\[.*)$/s.exec(text) ?? []
    if (data === undefined) throw new TypeError('a ledger keeps lists')
    const earlier = found.get(Number(operation))
    found.set(Number(operation), {
      data: earlier === undefined ? data : concatenate([earlier.data, data]),
      total: total === '' ? undefined : Number(total),
      ...(cursors !== '' && { cursors: parseJson(cursors) as Cursors }),
    })
  }
  return found
}
