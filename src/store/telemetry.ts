/** Telemetry in the system database: claims the daily post and counts what is posted. */
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { sql, statement, timestamp } from './statements.ts'

const DAY = 86_400_000

/** Claims the post of this day and returns the name to post under; undefined if another process has claimed it. */
export async function claimPost(database: SqlDriver, now: Instant): Promise<string | undefined> {
  const [[id] = []] = await database.query(
    statement(sql`
      update service.telemetry set posted_at = ${timestamp(now)}
      where posted_at <= ${timestamp(now - DAY)}
      returning id`),
  )
  return id ?? undefined
}

/** Posted in this order. */
const counted = {
  workspaces: sql`service.workspace`,
  users: sql`service."user" where not is_service`,
  serviceAccounts: sql`service."user" where is_service`,
  apiKeys: sql`service.api_key`,
  roles: sql`service.role where kind = 'custom'`,
  policies: sql`service.policy`,
  providers: sql`service.provider`,
} as const

export type TelemetryCounts = Readonly<Record<keyof typeof counted, number>>

/** Counts the rows behind each number of the report. */
export async function loadTelemetryCounts(database: SqlDriver): Promise<TelemetryCounts> {
  const results = await database.batch(
    Object.values(counted).map((rows) => statement(sql`select count(*) from ${rows}`)),
  )
  const entries = Object.keys(counted).map((name, index) => [name, Number(results[index]?.[0]?.[0])] as const)
  return Object.fromEntries(entries) as TelemetryCounts
}
