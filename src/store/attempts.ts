/**
 * Attempts of late, counted in the system database so that all processes and isolates share them and a restart forgets
 * none. A counter keeps the times of its last attempts; its row is the lock that makes counting atomic. Its key is a
 * digest: nothing is looked up for it, and what somebody typed as an e-mail address is not kept.
 */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver, SqlRow } from '../ports.ts'
import { param, type Sql, sql, statement } from './statements.ts'

export type Counter = {
  readonly kind: 'address' | 'credential' | 'credentialTrial' | 'password' | 'setUp' | 'resetMail'
  /** The account as it was named, in any case; empty where the counter is not of an account. */
  readonly account: string
  /** Where it came from; empty where that is all the same. */
  readonly network: string
  /** So many attempts are let through ... */
  readonly most: number
  /** ... in so many milliseconds. */
  readonly span: number
}

export type Verdict = { readonly isRefused: boolean; readonly retryAfterSeconds: number }

/** Counts one more attempt unless there were too many of late. Its row is a verdict. */
export function countAttempt(counter: Counter): Statement {
  return touch(counter, sql`clock_timestamp()`)
}

/** Gives the verdict that `countAttempt` would give, with the same work, but counts nothing. */
export function weighAttempt(counter: Counter): Statement {
  return touch(counter, sql`null`)
}

/** `time` is of the attempt, or null where none is added. */
function touch(counter: Counter, time: Sql): Statement {
  const recent = sql`array(
    select t from unnest(a.times) t where t > clock_timestamp() - ${spanOf(counter)} order by t)`
  const isFull = sql`cardinality(${recent}) >= ${param(String(counter.most))}::int`
  const added = sql`array_remove(array[${time}::timestamptz], null)`
  const end = sql`clock_timestamp() + ${spanOf(counter)}`
  return statement(sql`
    insert into service.attempt as a (key, times, is_refused, ends_at)
    values (${keyOf(counter)}, ${added}, false, ${end})
    on conflict (key) do update set
      is_refused = ${isFull},
      times = ${recent} || case when ${isFull} then '{}' else ${added} end,
      ends_at = ${end}
    returning is_refused, ${secondsLeft(sql`times[1]`, counter)}`)
}

/** The verdict on an attempt that may come, written down nowhere. */
export function lookAtAttempts(counter: Counter): Statement {
  return statement(sql`
    select count(*) >= ${param(String(counter.most))}::int, ${secondsLeft(sql`min(t)`, counter)}
    from service.attempt a, unnest(a.times) t
    where a.key = ${keyOf(counter)} and t > clock_timestamp() - ${spanOf(counter)}`)
}

/** Whether the last attempt counted was one too many: a condition for the batch that has counted it. */
export function wasRefused(counter: Counter): Sql {
  return sql`exists (select 1 from service.attempt a where a.key = ${keyOf(counter)} and a.is_refused)`
}

export function verdictOf([row]: readonly SqlRow[]): Verdict {
  return { isRefused: row?.[0] === 't', retryAfterSeconds: Math.max(1, Number(row?.[1] ?? 1)) }
}

export async function deleteEndedAttempts(database: SqlDriver): Promise<void> {
  await database.query(statement(sql`delete from service.attempt where ends_at < now()`))
}

/** The address is put in lower case by the database, which finds accounts so: no spelling gets a counter of its own. */
function keyOf({ kind, account, network }: Counter): Sql {
  return sql`encode(sha256(convert_to(
    ${param(kind)}::text || ' ' || lower(${param(account)}::text) || ' ' || ${param(network)}::text, 'UTF8')), 'hex')`
}

function spanOf({ span }: Counter): Sql {
  return sql`${param(String(span))}::int * interval '1 millisecond'`
}

function secondsLeft(oldest: Sql, counter: Counter): Sql {
  return sql`ceil(extract(epoch from ${oldest} + ${spanOf(counter)} - clock_timestamp()))`
}
