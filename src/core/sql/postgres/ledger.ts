/**
 * How PostgreSQL keeps the answer of a write in the transaction of the write: in a setting, as slots are, since a batch
 * is sent whole. A key is held by an advisory lock, so that a second request learns at once that the first one runs.
 */

import type { Collection } from '../../model/model.ts'
import { MAX_TEXT } from '../answer-bound.ts'
import type { Dialect, Insertion, Marker } from '../dialect.ts'
import type { RowQuery } from '../read/row-query.ts'
import { empty, ident, integer, join, literal, param, type Sql, sql } from '../statement.ts'
import {
  type EntryParams,
  type Keeping,
  type Kept,
  keyMembers,
  ledgerStatements,
  maxBody,
  openEntry,
  RUNNING,
  separator,
} from '../write/ledger.ts'
import type { OperationKeeping } from '../write/ledger-batch.ts'
import type { LedgerTable } from '../write/ledger-table.ts'
import { answered, BEYOND, failingBy, failingText, itemsText, listOfRow, listText } from './rows.ts'
import { directlyReturning, written } from './writes.ts'

/** The dialect that also keeps what it answers of written items. */
export function recording(dialect: Dialect, { collection, keeping }: Pick<Kept, 'collection' | 'keeping'>): Dialect {
  const list = (rows: RowQuery) => recordedList(rows, keyMembers(collection, dialect, rows.row.alias), keeping)
  const keyColumns = collection.key.map(({ dbName }) => dbName)
  return {
    ...dialect,
    writtenList: list,
    written: (write, rendered) => written(write, (from, alias) => withColumns(rendered(from, alias), keyColumns), list),
  }
}

/** The same of one operation of a batch, by whose index its lists are known. */
export function recordingOperation(
  dialect: Dialect,
  {
    collection,
    keeping,
    operation,
  }: { readonly collection: Collection; readonly keeping: OperationKeeping; readonly operation: number },
): Dialect {
  if (keeping === 'nothing') return dialect
  const list = (rows: RowQuery, { total, marker }: { readonly total?: Sql; readonly marker?: Marker } = {}) => {
    const counted = total === undefined ? empty : sql`, (${total}) t`
    const { texts, hasCursors } = listText(rows)
    const items = sql`select b.*${counted} from (${texts}) b offset 0`
    const head = sql`concat(${literal(`${operation}:`)}, ${total === undefined ? empty : sql`a.t, `}':'${hasCursors ? sql`, a.c` : empty})`
    const key = keyMembers(collection, dialect, rows.row.alias)
    const keys = sql`(select concat(${literal(`${operation}::`)}, k.a) from (${itemsText({ ...rows, members: key })}) k)`
    const answer = sql`concat(${head}, a.a)`
    const kept = {
      body: [keep('body', answer)],
      keys: [keep('keys', keys)],
      bySize: [keepShort(answer), keep('keys', keys)],
      ifShort: [keepShort(answer)],
    }[keeping]
    const isKept = join(
      kept.map((one) => sql`${one} is not null`),
      sql` and `,
    )
    const text = sql`case when ${answered} <= ${integer(MAX_TEXT)} then case when ${isKept} then a.a end
      else ${failingText(BEYOND)} end`
    const demanded = marker === undefined ? text : sql`case when a.a = '[]' then ${failingBy(marker)} else ${text} end`
    return sql`select ${demanded}${hasCursors ? sql`, a.c` : empty}${total === undefined ? empty : sql`, a.t`} from (${items}) a`
  }
  const keyColumns = collection.key.map(({ dbName }) => dbName)
  return {
    ...dialect,
    writtenList: (rows, total) => list(rows, { ...(total && { total }) }),
    demandedList: (rows, marker) => [list(rows, { marker })],
    written: (write, rendered, marker) =>
      written(
        write,
        (from, alias) => withColumns(rendered(from, alias), keyColumns),
        (rows) => list(rows, { ...(marker !== undefined && { marker }) }),
      ),
  }
}

function withColumns(rows: RowQuery, names: readonly string[]): RowQuery {
  return { ...rows, row: { ...rows.row, columns: [...new Set([...rows.row.columns, ...names])] } }
}

/** Fails where the key is taken: by the key of the table, or since a transaction under way holds the lock. */
export function claim(table: LedgerTable, dialect: Dialect, entry = openEntry): Sql {
  return ledgerStatements(table, dialect).claim(entry, 'done', heldScope(entry))
}

/** The scope of the entry, once the transaction has its lock. */
function heldScope({ scope }: Pick<EntryParams, 'scope'>): Sql {
  const isAlone = sql`pg_try_advisory_xact_lock(hashtextextended(${param(scope)}, 0))`
  return sql`case when ${isAlone} then ${param(scope)}::text else ${failingText(RUNNING)} end`
}

/**
 * The dialect that inserts one row and its entry by one statement, which needs neither a transaction nor settings. Where
 * another request has just done the same, a constraint of either table may fail.
 */
export function combining(
  dialect: Dialect,
  { table, kept }: { readonly table: LedgerTable; readonly kept: Pick<Kept, 'collection' | 'keeping'> },
): Dialect {
  const { collection, keeping } = kept
  const { name } = ledgerStatements(table, dialect)
  const { scope, workspaceId, fingerprint, rights, startedAt, expiresAt } = openEntry
  const texts = join([scope, workspaceId, fingerprint, rights].map((value) => sql`${param(value)}::text`))
  const times = join([startedAt, expiresAt].map((value) => sql`${param(value)}::bigint`))
  const isShort = { body: sql`true`, keys: sql`false`, bySize: sql`octet_length(a.a) <= ${maxBody}` }[keeping]
  return {
    ...dialect,
    written(write, rendered) {
      if (write.kind !== 'insert' || !isOneOfOwnTypes(write.insertion)) return undefined
      const insertion = { ...write.insertion, provided: sql`${heldScope(openEntry)} is not null` }
      const alias = 't0'
      const item = listOfRow(rendered(empty, alias).members)
      const key = keeping === 'body' ? sql`null::text` : listOfRow(keyMembers(collection, dialect, alias))
      const row = directlyReturning({ ...write, insertion }, alias, sql`${item} a, ${key} k`)
      // A trigger may have put the row elsewhere.
      return sql`with ${ident(alias)} as (${row}),
        a as materialized (select coalesce(max(a), '[]') a, coalesce(max(k), '[]') k from ${ident(alias)}),
        entry as (insert into ${name}
          (scope, workspace_id, fingerprint, rights, outcome, started_at, expires_at, body, item_keys)
          select ${texts}, 'done', ${times}, case when ${isShort} then a.a end, case when not (${isShort}) then a.k end from a)
        select case when octet_length(a.a) <= ${integer(MAX_TEXT)} then a.a else ${failingText(BEYOND)} end from a`
    },
  }
}

/** In a query, unlike in `values`, a parameter does not take the type of its column. */
function isOneOfOwnTypes({ fields, rows, source }: Insertion): boolean {
  return rows.length === 1 && source === undefined && fields.length > 0 && fields.every(({ native }) => native === null)
}

/** Writes what was kept of the answers into the ledger; the last statement of the transaction. */
export function finish(table: LedgerTable, { kept, dialect }: { readonly kept: Kept; readonly dialect: Dialect }): Sql {
  const { name, isOf } = ledgerStatements(table, dialect)
  const { keeping, withoutItem } = kept
  const hasItem = withoutItem === undefined ? sql`true` : sql`nullif(${setting('answer')}, '[]') is not null`
  const isShort = { body: sql`true`, keys: sql`false`, bySize: sql`octet_length(${setting('answer')}) <= ${maxBody}` }[
    keeping
  ]
  const failed = failingText(withoutItem ?? '')
  return sql`
    update ${name} set item_keys = case when not (${isShort}) then ${setting('keys')} end,
      body = case when not (${hasItem}) then ${failed} when ${isShort} then ${setting('answer')} end
    where ${isOf(openEntry.scope)}`
}

/** The same of a batch. */
export function finishBatch(
  table: LedgerTable,
  scope: string,
  { keepings, dialect }: { readonly keepings: readonly OperationKeeping[]; readonly dialect: Dialect },
): Sql {
  const { name, isOf } = ledgerStatements(table, dialect)
  const isShort = sql`coalesce(octet_length(${setting('answer')}), 0) <= ${maxBody}`
  const areKeysKept = keepings.includes('keys') ? sql`true` : sql`not (${isShort})`
  return sql`
    update ${name} set item_keys = case when ${areKeysKept} then ${setting('keys')} end,
      body = concat_ws(chr(${separator}), ${setting('body')}, case when ${isShort} then ${setting('answer')} end)
    where ${isOf(scope)}`
}

/** Answers as `writtenList` does. */
function recordedList(rows: RowQuery, key: RowQuery['members'], keeping: Keeping): Sql {
  const keys = sql`(select k.a from (${itemsText({ ...rows, members: key })}) k)`
  const isKept = keeping === 'body' ? empty : sql` and ${keep('keys', keys)} is not null`
  const text = sql`case when ${answered} <= ${integer(MAX_TEXT)}
    then case when ${keep('answer', sql`a.a`)} is not null${isKept} then a.a end
    else ${failingText(BEYOND)} end`
  return sql`select ${text} from (${itemsText(rows)}) a`
}

/** Adds a list to those that are kept; the value is all of them. */
function keep(name: Setting, list: Sql): Sql {
  const earlier = sql`${setting(name)} || chr(${separator})`
  return sql`set_config(${literal(`service.${name}`)}, concat(${earlier}, ${list}), true)`
}

/** Adds an answer, unless those before are too long already. */
function keepShort(list: Sql): Sql {
  const isTooLong = sql`octet_length(${setting('answer')}) > ${maxBody}`
  return sql`case when ${isTooLong} then '' else ${keep('answer', list)} end`
}

type Setting = 'answer' | 'body' | 'keys'

/** Null where nothing is kept. */
function setting(name: Setting): Sql {
  return sql`nullif(current_setting(${literal(`service.${name}`)}, true), '')`
}
