/**
 * How MariaDB and MySQL keep the answer of a write in the transaction of the write: statements wait for each other, so that
 * the last one has it as a parameter. A key is held by its row.
 */
import type { WritePlan } from '../../plan/plan.ts'
import type { Bindings } from '../../query/placeholder.ts'
import type { Conversation, Dialect, Rows } from '../dialect.ts'
import { SqlFault } from '../fault.ts'
import { binder, compileTemplate, type Sql, type Statement, sql } from '../statement.ts'
import { type Kept, keyMembers, type LedgerEntry, ledgerStatements, MAX_BODY, TAKEN } from '../write/ledger.ts'
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
  const { name, isOf, claim, finish } = ledgerStatements(table, own)
  const { recording, keysOf } = recorder(own, kept)
  const made = (fragment: Sql) => binder(compileTemplate(fragment, own))(bindings)
  const keys: string[] = []
  const asked = (fragment: Sql, heed: (rows: Rows) => void): Statement => {
    const statement = made(fragment)
    return {
      ...statement,
      heed(rows) {
        heed(rows)
        return statement.heed?.(rows)
      },
    }
  }
  yield asked(sql`select 1 from ${name} where ${isOf(entry.scope)} for update nowait`, (rows) => {
    if (rows.length > 0) throw new SqlFault(TAKEN, { state: '45000' })
  })
  yield made(claim(entry, 'done'))
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
  yield made(finish(entry.scope, isKept ? { body, itemKeys: null } : { body: null, itemKeys: concatenate(keys) }))
}

/** The dialect that also knows, of each answer, what asks for the keys of the same rows. */
function recorder(dialect: Dialect, { collection, keeping }: Kept) {
  const keysOf = new Map<Sql, () => Sql>()
  const recording: Dialect = {
    ...dialect,
    written: (write, rendered, marker) => (keeping === 'body' ? dialect.written(write, rendered, marker) : undefined),
    writtenList(rows) {
      const list = dialect.writtenList(rows)
      if (keeping === 'body') return list
      const members = keyMembers(collection, dialect, rows.row.alias)
      keysOf.set(list, () => dialect.writtenList({ ...rows, members }))
      return list
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
