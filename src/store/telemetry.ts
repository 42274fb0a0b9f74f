/** Telemetry in the system database: whose turn it is to post today, and what is counted. */
import type { Instant, SqlDriver } from '../ports.ts'
import { param, sql, statement } from './statements.ts'

const DAY = 86_400_000

/** Takes the post of this day; undefined where it has been taken. Answers the name to post under. */
export async function claimPost(database: SqlDriver, now: Instant): Promise<string | undefined> {
  const at = (instant: Instant) => param(new Date(instant).toISOString())
  const [[id] = []] = await database.query(
    statement(sql`
      update service.telemetry set posted_at = ${at(now)}::timestamptz
      where posted_at <= ${at(now - DAY)}::timestamptz
      returning id`),
  )
  return id ?? undefined
}

/** In this order they are posted. */
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

export async function loadTelemetryCounts(database: SqlDriver): Promise<TelemetryCounts> {
  const results = await database.batch(
    Object.values(counted).map((rows) => statement(sql`select count(*) from ${rows}`)),
  )
  const entries = Object.keys(counted).map((name, index) => [name, Number(results[index]?.[0]?.[0])] as const)
  return Object.fromEntries(entries) as TelemetryCounts
}
