/**
 * How MariaDB and MySQL store the answer of a write in the transaction of the write: statements run one after the other, so the
 * last one gets the answer as a parameter. The ledger row locks the idempotency key.
 */
import type { BatchPlan, PlannedOperation } from '../../plan/plan.ts'
import type { Bindings } from '../../query/placeholder.ts'
import type { Dialect, Rows } from '../dialect.ts'
import { SqlFault } from '../fault.ts'
import type { ReadList, RowQuery } from '../read/row-query.ts'
import { answeredWalk } from '../read/walk-page.ts'
import { binder, compileTemplate, type Sql, type Statement, sql } from '../statement.ts'
import { type BatchPlaces, linesOfBatch, noRecordOf, notePlace, type StatementsInParts } from '../write/batch.ts'
import { type Keeping, keptOf } from '../write/kept-lists.ts'
import { entryTexts, keyMembers, type LedgerEntry, ledgerStatements, TAKEN } from '../write/ledger.ts'
import type { LedgerTable } from '../write/ledger-table.ts'

export type ConversedOnce = {
  readonly plan: BatchPlan
  readonly bindings: Bindings
  readonly table: LedgerTable
  readonly entry: LedgerEntry
  readonly keepings: readonly Keeping[]
}

/** The statements of the transaction. `places` is filled meanwhile. */
export function* conversedOnce(
  dialect: Dialect,
  { plan, bindings, table, entry, keepings }: ConversedOnce,
  places: BatchPlaces,
): StatementsInParts {
  const own = { ...dialect, slots: dialect.newSlots() }
  const { name, isOf, claim, finish } = ledgerStatements(table, own)
  const lists: ReadList[][] = plan.operations.map(() => [])
  const keys: ReadList[][] = plan.operations.map(() => [])
  const keysOf = new Map<Sql, () => Sql>()
  const made = (fragment: Sql, index?: number, isAnswer = false) => {
    notePlace(places, index, isAnswer)
    return binder(compileTemplate(fragment, own))(bindings)
  }
  const withReader = (statement: Statement, read: (rows: Rows) => unknown): Statement => ({
    ...statement,
    onRows(rows, matched) {
      read(rows)
      return statement.onRows?.(rows, matched)
    },
  })
  yield withReader(made(sql`select 1 from ${name} where ${isOf(entry.scope)} for update nowait`), (rows) => {
    if (rows.length > 0) throw new SqlFault(TAKEN, { state: '45000' })
  })
  yield made(claim(entryTexts(entry), 'done'))
  const dialectOf = (marked: Dialect, operation: PlannedOperation, index: number) =>
    recording(marked, operation, { keeping: keepings[index], keysOf })
  for (const line of linesOfBatch(plan, own, dialectOf)) {
    if (line === undefined) {
      yield
      continue
    }
    const { sql: fragment, isAnswer, index } = line
    const statement = made(fragment, index, isAnswer)
    if (!isAnswer) {
      yield statement
      continue
    }
    const { plan: read, isOne } = plan.operations[index] ?? {}
    const page = read?.kind === 'read' ? read : undefined
    yield withReader(statement, (rows) => {
      const list = own.answerList(rows, page?.count === true, answeredWalk(page?.page, bindings))
      if (isOne === true && list.data === '[]') throw new SqlFault(noRecordOf(index), { state: '45000' })
      lists[index]?.push(list)
    })
    const ofKeys = keysOf.get(fragment)
    if (ofKeys) yield withReader(made(ofKeys(), index), (rows) => keys[index]?.push(own.answerList(rows, false)))
  }
  // An operation without rows to answer sent no query for them.
  const answers = lists.map((own) => (own.length > 0 ? own : [{ data: '[]', total: undefined }]))
  yield made(finish(entry.scope, keptOf(keepings, { answers, keys }, entry)))
}

/** The dialect that also records, for each answer, the query for the keys of the same rows. */
function recording(
  dialect: Dialect,
  { collection }: PlannedOperation,
  { keeping, keysOf }: { readonly keeping: Keeping | undefined; readonly keysOf: Map<Sql, () => Sql> },
): Dialect {
  if (keeping !== 'keys' && keeping !== 'bySize') return dialect
  const noted = (list: Sql | undefined, rows: RowQuery) => {
    if (list === undefined) return
    const members = keyMembers(collection, dialect, rows.row.alias)
    keysOf.set(list, () => dialect.writtenList({ ...rows, members }))
  }
  return {
    ...dialect,
    written: () => undefined,
    writtenList(rows) {
      const list = dialect.writtenList(rows)
      noted(list, rows)
      return list
    },
    requiredList(rows, marker) {
      const lists = dialect.requiredList(rows, marker)
      noted(lists.at(-1), rows)
      return lists
    },
  }
}

/** True if another transaction locks the key's row: the first two statements wait for nothing else. */
export function isHeld({ position, errno }: SqlFault): boolean {
  return position !== undefined && position < 2 && (errno === 1205 || errno === 3572)
}

/** True if the claim, which is the second statement, conflicts with another one. */
export function isClaimed({ position, state, message }: SqlFault): boolean {
  return message.includes(TAKEN) || (position === 1 && state === '23000')
}
