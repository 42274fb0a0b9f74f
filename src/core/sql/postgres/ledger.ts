/**
 * How PostgreSQL stores the answer of a write in the transaction of the write: in a setting, like slots, because a batch is
 * sent as a whole. An advisory lock holds the idempotency key, so that a second request learns at once that the first one is
 * running.
 */

import type { PlannedOperation } from '../../plan/plan.ts'
import { MAX_TEXT } from '../answer-bound.ts'
import type { Dialect } from '../dialect.ts'
import type { RowQuery } from '../read/row-query.ts'
import { empty, ident, integer, join, literal, param, type Sql, sql } from '../statement.ts'
import { noRecordOf } from '../write/batch.ts'
import type { Keeping } from '../write/kept-lists.ts'
import { keyMembers, ledgerStatements, openEntry, RUNNING, separator } from '../write/ledger.ts'
import type { LedgerTable } from '../write/ledger-table.ts'
import type { Insertion } from '../write/slots.ts'
import { answered, failingText, itemsText, listOfRow, listText, TOO_LONG_MARK } from './rows.ts'
import { directlyReturning, withActor, written } from './writes.ts'

/** The dialect that also keeps an operation's answer; `index` identifies its lists. */
export function recording(
  dialect: Dialect,
  { collection, isOne }: PlannedOperation,
  { keeping, index }: { readonly keeping: Keeping; readonly index: number },
): Dialect {
  if (keeping === 'nothing') return dialect
  const list = (rows: RowQuery, total?: Sql) => {
    const counted = total === undefined ? empty : sql`, (${total}) t`
    const { texts, hasCursors } = listText(rows)
    const items = sql`select b.*${counted} from (${texts}) b offset 0`
    const head = sql`concat(${literal(`${index}:`)}, ${total === undefined ? empty : sql`a.t, `}':'${hasCursors ? sql`, a.c` : empty})`
    const key = keyMembers(collection, dialect, rows.row.alias)
    const keys = sql`(select concat(${literal(`${index}::`)}, k.a) from (${itemsText({ ...rows, members: key })}) k)`
    const answer = sql`concat(${head}, a.a)`
    const kept = {
      body: [keepShort('body', answer)],
      keys: [keep('keys', keys)],
      bySize: [keepShort('answer', answer), keep('keys', keys)],
      ifShort: [keepShort('answer', answer)],
    }[keeping]
    const isKept = join(
      kept.map((one) => sql`${one} is not null`),
      sql` and `,
    )
    const text = sql`case when ${answered} <= ${integer(MAX_TEXT)} then case when ${isKept} then a.a end
      else ${failingText(TOO_LONG_MARK)} end`
    const checked = isOne ? sql`case when a.a = '[]' then ${failingText(noRecordOf(index))} else ${text} end` : text
    return sql`select ${checked}${hasCursors ? sql`, a.c` : empty}${total === undefined ? empty : sql`, a.t`} from (${items}) a`
  }
  const keyColumns = collection.key.map(({ dbName }) => dbName)
  return {
    ...dialect,
    writtenList: list,
    requiredList: (rows) => [list(rows)],
    written: (write, rendered) =>
      written(write, (from, alias) => withColumns(rendered(from, alias), keyColumns), { list }),
  }
}

function withColumns(rows: RowQuery, names: readonly string[]): RowQuery {
  return { ...rows, row: { ...rows.row, columns: [...new Set([...rows.row.columns, ...names])] } }
}

/** Fails if the key is claimed: by a row in the table, or by the lock of a running transaction. */
export function claim(table: LedgerTable, dialect: Dialect): Sql {
  return ledgerStatements(table, dialect).claim(openEntry, 'done', heldScope())
}

/** The scope of the entry, if the transaction gets its lock; otherwise fails. */
function heldScope(): Sql {
  const scope = param(openEntry.scope)
  const isAlone = sql`pg_try_advisory_xact_lock(hashtextextended(${scope}, 0))`
  return sql`case when ${isAlone} then ${scope}::text else ${failingText(RUNNING)} end`
}

/**
 * The dialect that inserts one row and its ledger entry in one statement, without a transaction or settings. If another request
 * has just done the same, a constraint of either table may fail.
 */
export function combining(
  dialect: Dialect,
  { collection }: PlannedOperation,
  { table, keeping }: { readonly table: LedgerTable; readonly keeping: Keeping | undefined },
): Dialect {
  const { name } = ledgerStatements(table, dialect)
  const { scope, workspaceId, fingerprint, rights, startedAt, expiresAt } = openEntry
  const texts = join([scope, workspaceId, fingerprint, rights].map((value) => sql`${param(value)}::text`))
  const times = join([startedAt, expiresAt].map((value) => sql`${param(value)}::bigint`))
  const most = keeping === 'body' ? mostOf.body : keeping === 'bySize' ? mostOf.answer : undefined
  const isShort = most === undefined ? sql`false` : sql`octet_length(a.a) <= ${most}`
  const combined =
    (more: Sql): Dialect['written'] =>
    (write, rendered) => {
      if (write.kind !== 'insert' || !isOneOfOwnTypes(write.insertion)) return undefined
      const insertion = { ...write.insertion, provided: sql`${heldScope()} is not null` }
      const alias = 't0'
      const item = listOfRow(rendered(empty, alias).members)
      const key = keeping === 'body' ? sql`null::text` : listOfRow(keyMembers(collection, dialect, alias))
      const row = directlyReturning({ ...write, insertion }, alias, sql`${item} a, ${key} k${more}`)
      // `max` also returns a row if a trigger has redirected the inserted one.
      return sql`with ${ident(alias)} as (${row}),
        a as materialized (select coalesce(max(a), '[]') a, coalesce(max(k), '[]') k from ${ident(alias)}),
        entry as (insert into ${name}
          (scope, workspace_id, fingerprint, rights, outcome, started_at, expires_at, body, item_keys)
          select ${texts}, 'done', ${times}, case when ${isShort} then a.a end, case when not (${isShort}) then a.k end from a)
        select case when octet_length(a.a) <= ${integer(MAX_TEXT)} then a.a else ${failingText(TOO_LONG_MARK)} end from a`
    }
  return {
    ...dialect,
    written: combined(empty),
    ...(dialect.actor && { actor: { ...dialect.actor, written: combined(withActor) } }),
  }
}

/** In a query, unlike in `values`, a parameter does not get the type of its column. */
function isOneOfOwnTypes({ fields, rows, source }: Insertion): boolean {
  return rows.length === 1 && source === undefined && fields.length > 0 && fields.every(({ native }) => native === null)
}

/** Writes the kept answers to the ledger; the last statement of the transaction. */
export function finish(
  table: LedgerTable,
  { keepings, dialect }: { readonly keepings: readonly Keeping[]; readonly dialect: Dialect },
): Sql {
  const { name, isOf } = ledgerStatements(table, dialect)
  const isWithin = (text: keyof typeof mostOf) => sql`coalesce(octet_length(${setting(text)}), 0) <= ${mostOf[text]}`
  const isShort = isWithin('answer')
  const areKeysKept = keepings.includes('keys') ? sql`true` : sql`not (${isShort})`
  return sql`
    update ${name} set item_keys = case when ${areKeysKept} then ${setting('keys')} end,
      body = concat_ws(chr(${separator}), case when ${isWithin('body')} then ${setting('body')} end,
        case when ${isShort} then ${setting('answer')} end)
    where ${isOf(openEntry.scope)}`
}

/** Appends a list to the kept ones; returns all of them. */
function keep(name: Setting, list: Sql): Sql {
  const earlier = sql`${setting(name)} || chr(${separator})`
  return sql`set_config(${literal(`service.${name}`)}, concat(${earlier}, ${list}), true)`
}

/** Appends an answer, unless the previous ones are too long already. */
function keepShort(name: keyof typeof mostOf, list: Sql): Sql {
  const isTooLong = sql`octet_length(${setting(name)}) > ${mostOf[name]}`
  return sql`case when ${isTooLong} then '' else ${keep(name, list)} end`
}

/** Maximum bytes of the kept texts. */
const mostOf = {
  answer: sql`${param(openEntry.mostAgain)}::bigint`,
  body: sql`${param(openEntry.mostElse)}::bigint`,
}

type Setting = 'answer' | 'body' | 'keys'

/** Null if nothing is kept. */
function setting(name: Setting): Sql {
  return sql`nullif(current_setting(${literal(`service.${name}`)}, true), '')`
}
