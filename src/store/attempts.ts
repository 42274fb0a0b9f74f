/**
 * Rate limits for attempts at secrets, counted in the system database so that all processes and isolates share them and
 * restarts keep them. A counter holds the times of its recent attempts; its row is the lock that makes counting atomic.
 * Its key is a digest, so that a typed e-mail address is not stored.
 */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver, SqlRow } from '../ports/database.ts'
import { param, type Sql, sql, statement } from './statements.ts'

export type Counter = {
  readonly kind:
    | 'address'
    | 'fileLink'
    | 'credential'
    | 'credentialTrial'
    | 'password'
    | 'setUp'
    | 'resetMail'
    | 'sentMail'
    | 'deviceCode'
  /** The account as typed, in any case; empty if the counter is not for an account. */
  readonly account: string
  /** The client's network; empty if the counter covers all networks. */
  readonly network: string
  /** Maximum number of attempts within `span`. */
  readonly most: number
  /** Length of the window in milliseconds. */
  readonly span: number
}

export type Verdict = { readonly isRefused: boolean; readonly retryAfterSeconds: number }

/** Counts one more attempt unless the window is full. The resulting row is parsed by `verdictOf`. */
export function countAttempt(counter: Counter): Statement {
  return touch(counter, sql`clock_timestamp()`)
}

/** Returns the same verdict as `countAttempt` with the same work, but counts nothing. */
export function weighAttempt(counter: Counter): Statement {
  return touch(counter, sql`null`)
}

/** `time` is the time of the attempt, or null to add none. */
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

/** Returns the verdict on a possible next attempt; writes nothing. */
export function peekAttempts(counter: Counter): Statement {
  return statement(sql`
    select count(*) >= ${param(String(counter.most))}::int, ${secondsLeft(sql`min(t)`, counter)}
    from service.attempt a, unnest(a.times) t
    where a.key = ${keyOf(counter)} and t > clock_timestamp() - ${spanOf(counter)}`)
}

/** SQL condition for the batch that counted an attempt: that attempt was refused. */
export function wasRefused(counter: Counter): Sql {
  return sql`exists (select 1 from service.attempt a where a.key = ${keyOf(counter)} and a.is_refused)`
}

/** Parses the result rows of the statements above. */
export function verdictOf([row]: readonly SqlRow[]): Verdict {
  return { isRefused: row?.[0] === 't', retryAfterSeconds: Math.max(1, Number(row?.[1] ?? 1)) }
}

export async function deleteEndedAttempts(database: SqlDriver): Promise<void> {
  await database.query(statement(sql`delete from service.attempt where ends_at < now()`))
}

/**
 * The database lower-cases the address as the account look-up does, so that spellings of one address share a counter.
 */
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
