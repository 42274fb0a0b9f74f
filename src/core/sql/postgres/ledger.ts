/**
 * How PostgreSQL keeps the answer of a write in the transaction of the write: in a setting, as slots are, since a batch
 * is sent whole. A key is held by an advisory lock, so that a second request learns at once that the first one runs.
 */

import type { Collection } from '../../model/model.ts'
import { MAX_TEXT } from '../answer-bound.ts'
import type { Dialect, Insertion, RowQuery } from '../dialect.ts'
import { empty, integer, join, literal, param, type Sql, sql } from '../statement.ts'
import {
  type Keeping,
  type Kept,
  keyMembers,
  type LedgerEntry,
  ledgerStatements,
  maxBody,
  RUNNING,
  separator,
} from '../write/ledger.ts'
import type { OperationKeeping } from '../write/ledger-batch.ts'
import type { LedgerTable } from '../write/ledger-table.ts'
import { answered, BEYOND, failing, itemsText, listText } from './rows.ts'
import { written } from './writes.ts'

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
  const list = (rows: RowQuery, { total, marker }: { readonly total?: Sql; readonly marker?: string } = {}) => {
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
      else ${failing(BEYOND)}::text end`
    const demanded =
      marker === undefined ? text : sql`case when a.a = '[]' then ${failing(marker)}::text else ${text} end`
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
export function claim(table: LedgerTable, entry: LedgerEntry, dialect: Dialect): Sql {
  return ledgerStatements(table, dialect).claim(entry, 'done', heldScope(entry))
}

/** The scope of the entry, once the transaction has its lock. */
function heldScope({ scope }: LedgerEntry): Sql {
  const isAlone = sql`pg_try_advisory_xact_lock(hashtextextended(${param(scope)}, 0))`
  return sql`case when ${isAlone} then ${param(scope)}::text else ${failing(RUNNING)}::text end`
}

/**
 * The dialect that inserts one row and its entry by one statement, which needs neither a transaction nor settings. Where
 * another request has just done the same, a constraint of either table may fail.
 */
export function combining(
  dialect: Dialect,
  { table, entry, kept }: { readonly table: LedgerTable; readonly entry: LedgerEntry; readonly kept: Kept },
): Dialect {
  const { collection, keeping } = kept
  const { name } = ledgerStatements(table, dialect)
  const keyColumns = collection.key.map(({ dbName }) => dbName)
  const isShort = { body: sql`true`, keys: sql`false`, bySize: sql`octet_length(a.a) <= ${maxBody}` }[keeping]
  const list = (rows: RowQuery) => {
    const key = keyMembers(collection, dialect, rows.row.alias)
    const keys = keeping === 'body' ? sql`null` : sql`(${itemsText({ ...rows, members: key })})`
    return sql`, a as materialized (select a.a, ${keys} k from (${itemsText(rows)}) a),
      entry as (insert into ${name}
        (scope, workspace_id, fingerprint, rights, outcome, started_at, expires_at, body, item_keys)
        select ${param(entry.scope)}::text, ${param(entry.workspaceId)}::text, ${param(entry.fingerprint)}::text,
          ${param(entry.rights)}::text, 'done', ${param(String(entry.startedAt))}::bigint,
          ${param(String(entry.expiresAt))}::bigint, case when ${isShort} then a.a end,
          case when not (${isShort}) then a.k end from a)
      select case when octet_length(a.a) <= ${integer(MAX_TEXT)} then a.a else ${failing(BEYOND)}::text end from a`
  }
  return {
    ...dialect,
    written(write, rendered) {
      if (write.kind !== 'insert' || !isOneOfOwnTypes(write.insertion)) return undefined
      const insertion = { ...write.insertion, provided: sql`${heldScope(entry)} is not null` }
      return written({ ...write, insertion }, (from, alias) => withColumns(rendered(from, alias), keyColumns), list)
    },
  }
}

/** In a query, unlike in `values`, a parameter does not take the type of its column. */
function isOneOfOwnTypes({ fields, rows, source }: Insertion): boolean {
  return rows.length === 1 && source === undefined && fields.length > 0 && fields.every(({ native }) => native === null)
}

/** Writes what was kept of the answers into the ledger; the last statement of the transaction. */
export function finish(
  table: LedgerTable,
  scope: string,
  { kept, dialect }: { readonly kept: Kept; readonly dialect: Dialect },
): Sql {
  const { name, isOf } = ledgerStatements(table, dialect)
  const { keeping, withoutItem } = kept
  const hasItem = withoutItem === undefined ? sql`true` : sql`nullif(${setting('answer')}, '[]') is not null`
  const isShort = { body: sql`true`, keys: sql`false`, bySize: sql`octet_length(${setting('answer')}) <= ${maxBody}` }[
    keeping
  ]
  const failed = sql`${failing(withoutItem ?? '')}::text`
  return sql`
    update ${name} set item_keys = case when not (${isShort}) then ${setting('keys')} end,
      body = case when not (${hasItem}) then ${failed} when ${isShort} then ${setting('answer')} end
    where ${isOf(scope)}`
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
    else ${failing(BEYOND)}::text end`
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
