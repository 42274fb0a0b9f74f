/**
 * How MariaDB and MySQL keep the answer of a write in the transaction of the write: statements wait for each other, so that
 * the last one has it as a parameter. A key is held by its row.
 */
import type { BatchPlan, WritePlan } from '../../plan/plan.ts'
import type { Bindings } from '../../query/placeholder.ts'
import type { Conversation, Dialect, Rows } from '../dialect.ts'
import { SqlFault } from '../fault.ts'
import type { AnsweredWalk, ReadList, RowQuery } from '../read/row-query.ts'
import { binder, compileTemplate, type Sql, type Statement, sql } from '../statement.ts'
import { linesOfBatch, noPlaces } from '../write/batch.ts'
import {
  entryTexts,
  type Kept,
  keyMembers,
  type LedgerEntry,
  ledgerStatements,
  MAX_BODY,
  TAKEN,
} from '../write/ledger.ts'
import { keptOf, type OperationKeeping } from '../write/ledger-batch.ts'
import type { LedgerTable } from '../write/ledger-table.ts'
import { concatenate } from '../write/lists.ts'
import { linesOf } from '../write.ts'

export type ConversedOnce = {
  readonly plan: WritePlan
  readonly bindings: Bindings
  readonly table: LedgerTable
  readonly entry: LedgerEntry
  readonly kept: Kept
}

/** The statements of the transaction; `texts` gets the lists that it answers. */
export function* conversedOnce(
  dialect: Dialect | Conversation,
  { plan, bindings, table, entry, kept }: ConversedOnce,
  texts: string[],
): Generator<Statement, void> {
  const own = 'begun' in dialect ? dialect.begun() : dialect
  const { begin, made, asked, finish } = entryStatements(own, { bindings, table, entry })
  const { recording, keysOf } = recorder(own, kept)
  const keys: string[] = []
  yield* begin()
  for (const line of linesOf(plan, recording)) {
    if (line === undefined) continue
    if (!line.isAnswer) {
      yield made(line.sql)
      continue
    }
    yield asked(line.sql, (rows) => texts.push(own.answerList(rows, false).data))
    const ofKeys = keysOf.get(line.sql)
    if (ofKeys !== undefined) yield asked(ofKeys(), (rows) => keys.push(own.answerList(rows, false).data))
  }
  const body = concatenate(texts)
  if (body === '[]' && kept.withoutItem !== undefined) throw new SqlFault(kept.withoutItem, { state: '45000' })
  const isKept = kept.keeping === 'body' || (kept.keeping === 'bySize' && body.length <= MAX_BODY)
  yield finish(isKept ? { body, itemKeys: null } : { body: null, itemKeys: concatenate(keys) })
}

export type ConversedBatchOnce = Omit<ConversedOnce, 'plan' | 'kept'> & {
  readonly plan: BatchPlan
  readonly keepings: readonly OperationKeeping[]
  /** Of the operations that are pages of a walk. */
  readonly walks: readonly (AnsweredWalk | undefined)[]
}

/** What a batch has answered, by operation, and the operation of each statement, if it has one; both fill meanwhile. */
export type BatchTold = { readonly lists: readonly ReadList[][]; readonly operations: (number | undefined)[] }

/** The statements of the transaction of a batch. */
export function* conversedBatchOnce(
  dialect: Dialect | Conversation,
  { plan, bindings, table, entry, keepings, walks }: ConversedBatchOnce,
  { lists, operations }: BatchTold,
): Generator<Statement, void> {
  const own = 'begun' in dialect ? dialect.begun() : dialect
  const { begin, made, asked, finish } = entryStatements(own, { table, entry, bindings })
  const keys: ReadList[][] = plan.operations.map(() => [])
  const keysOf = new Map<number, ReadonlyMap<Sql, () => Sql>>()
  const dialectOf = (marked: Dialect, index: number) => {
    const [{ collection } = {}, keeping] = [plan.operations[index], keepings[index]]
    if (collection === undefined || (keeping !== 'keys' && keeping !== 'bySize')) return marked
    const { recording, keysOf: own } = recorder(marked, { collection, keeping })
    keysOf.set(index, own)
    return recording
  }
  const of = (operation: number | undefined, statement: Statement) => {
    operations.push(operation)
    return statement
  }
  for (const statement of begin()) yield of(undefined, statement)
  const places = noPlaces(plan)
  for (const line of linesOfBatch(plan, own, { places, dialectOf })) {
    if (line === undefined) continue
    const index = places.operations.at(-1) ?? 0
    if (!line.isAnswer) {
      yield of(index, made(line.sql))
      continue
    }
    const read = plan.operations[index]?.plan
    const isCounted = read?.kind === 'read' && read.count
    const heed = (rows: Rows) => void lists[index]?.push(own.answerList(rows, isCounted, walks[index]))
    yield of(index, asked(line.sql, heed))
    const ofKeys = keysOf.get(index)?.get(line.sql)
    const heedKeys = (rows: Rows) => void keys[index]?.push(own.answerList(rows, false))
    if (ofKeys !== undefined) yield of(index, asked(ofKeys(), heedKeys))
  }
  yield of(undefined, finish(keptOf(keepings, lists, keys)))
}

/** What begins and ends a transaction with an entry, and what makes the statements between. */
function entryStatements(
  own: Dialect,
  { bindings, table, entry }: Pick<ConversedOnce, 'bindings' | 'table' | 'entry'>,
) {
  const { name, isOf, claim, finish } = ledgerStatements(table, own)
  const made = (fragment: Sql) => binder(compileTemplate(fragment, own))(bindings)
  const asked = (fragment: Sql, heed: (rows: Rows) => void): Statement => {
    const statement = made(fragment)
    return {
      ...statement,
      heed(rows, matched) {
        heed(rows)
        return statement.heed?.(rows, matched)
      },
    }
  }
  return {
    made,
    asked,
    *begin() {
      yield asked(sql`select 1 from ${name} where ${isOf(entry.scope)} for update nowait`, (rows) => {
        if (rows.length > 0) throw new SqlFault(TAKEN, { state: '45000' })
      })
      yield made(claim(entryTexts(entry), 'done'))
    },
    finish: (kept: Parameters<typeof finish>[1]) => made(finish(entry.scope, kept)),
  }
}

/** The dialect that also knows, of each answer, what asks for the keys of the same rows. */
function recorder(dialect: Dialect, { collection, keeping }: Pick<Kept, 'collection' | 'keeping'>) {
  const keysOf = new Map<Sql, () => Sql>()
  const kept = (list: Sql | undefined, rows: RowQuery) => {
    if (keeping === 'body' || list === undefined) return
    const members = keyMembers(collection, dialect, rows.row.alias)
    keysOf.set(list, () => dialect.writtenList({ ...rows, members }))
  }
  const recording: Dialect = {
    ...dialect,
    written: (write, rendered, marker) => (keeping === 'body' ? dialect.written(write, rendered, marker) : undefined),
    writtenList(rows) {
      const list = dialect.writtenList(rows)
      kept(list, rows)
      return list
    },
    demandedList(rows, marker) {
      const lists = dialect.demandedList(rows, marker)
      kept(lists.at(-1), rows)
      return lists
    },
  }
  return { recording, keysOf }
}

/** Whether another transaction has the row of the key: the first two statements wait for nothing else. */
export function isHeld({ position, errno }: SqlFault): boolean {
  return position !== undefined && position < 2 && (errno === 1205 || errno === 3572)
}

/** Whether the claim, the second statement, has met another one. */
export function isClaimed({ position, state, message }: SqlFault): boolean {
  return message.includes(TAKEN) || (position === 1 && state === '23000')
}
