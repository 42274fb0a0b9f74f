/**
 * The license in the system database: one row that all processes and isolates share, and the lease that one of them
 * holds while it calls the licensing service. A lease expires by itself.
 */
import { parseJson } from '../core/exact-json.ts'
import type { ContactFault, Verdict } from '../core/license/status.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { json, milliseconds, param, type Sql, sql, statement, timestamp } from './statements.ts'

/** The stored license state. Only a digest of the key is stored. */
export type LicenseRow = {
  /** Incremented by each change of the row. */
  readonly version: number
  readonly keyDigest: string | null
  readonly activationId: string | null
  readonly document: string | null
  readonly verdict: Verdict | null
  readonly validatedAt: Instant | null
  readonly attemptedAt: Instant | null
  readonly fault: ContactFault | null
  /** Whether a process holds the lease. */
  readonly isBusy: boolean
}

export type LicenseRecord = Omit<LicenseRow, 'version' | 'isBusy'>

export async function loadLicense(database: SqlDriver): Promise<LicenseRow> {
  const [[text] = []] = await database.query(
    statement(sql`
      select json_build_object('version', i.license_version, 'keyDigest', l.key_digest,
        'activationId', l.activation_id, 'document', l.document, 'verdict', l.verdict,
        'validatedAt', ${milliseconds(sql`l.validated_at`)}, 'attemptedAt', ${milliseconds(sql`l.attempted_at`)},
        'fault', l.fault, 'isBusy', l.lease_until > clock_timestamp())::text
      from service.license l, service.instance i`),
  )
  return parseJson(text ?? 'null') as LicenseRow
}

/** Takes the lease; returns false if another process holds it or the row has another version. */
export async function takeLease(
  database: SqlDriver,
  lease: { readonly id: string; readonly seconds: number; readonly version: number },
): Promise<boolean> {
  const rows = await database.query(
    statement(sql`
      update service.license set lease_id = ${param(lease.id)}::uuid,
        lease_until = clock_timestamp() + ${param(String(lease.seconds))}::int * interval '1 second'
      where lease_until <= clock_timestamp()
        and (select license_version from service.instance) = ${param(String(lease.version))}::bigint
      returning 1`),
  )
  return rows.length === 1
}

/** Releases the lease if it is still held under this id. */
export async function releaseLease(database: SqlDriver, leaseId: string): Promise<void> {
  await database.query(statement(sql`${endLease} where lease_id = ${param(leaseId)}::uuid`))
}

const endLease = sql`update service.license set lease_id = null, lease_until = '-infinity'`

export type SaveOptions = {
  readonly leaseId: string
  /** The start that this answer completes. */
  readonly startId: string | undefined
  /** Builds audit entries, written only if the record is. */
  readonly audit: (provided: Sql) => readonly Statement[]
}

/**
 * Stores the result of a call to the licensing service and releases the lease. Changes nothing if the lease was lost.
 */
export async function saveLicense(
  database: SqlDriver,
  record: LicenseRecord,
  { leaseId, startId, audit }: SaveOptions,
): Promise<void> {
  const holdsLease = sql`exists (select 1 from service.license where lease_id = ${param(leaseId)}::uuid)`
  await database.batch([
    // Locks the row first, so that the lease cannot be taken before this batch ends.
    statement(sql`select 1 from service.license where lease_id = ${param(leaseId)}::uuid for update`),
    ...audit(holdsLease),
    statement(sql`update service.instance set license_version = license_version + 1 where ${holdsLease}`),
    ...(startId === undefined ? [] : rememberStart(startId, holdsLease)),
    statement(sql`
      ${endLease}, key_digest = ${param(record.keyDigest)}, activation_id = ${param(record.activationId)},
        document = ${param(record.document)}, verdict = ${param(record.verdict)},
        validated_at = ${timestamp(record.validatedAt)}, attempted_at = ${timestamp(record.attemptedAt)},
        fault = ${record.fault === null ? sql`null` : sql`${json(record.fault)}::jsonb`}
      where lease_id = ${param(leaseId)}::uuid`),
  ])
}

/** Whether this start was answered under the stored license. */
export async function isStarted(database: SqlDriver, startId: string): Promise<boolean> {
  const rows = await database.query(statement(sql`select 1 from service.license_start where id = ${param(startId)}`))
  return rows.length > 0
}

/** Also deletes entries of old starts. */
function rememberStart(id: string, provided: Sql): readonly Statement[] {
  return [
    statement(sql`delete from service.license_start where at < now() - interval '400 days'`),
    statement(sql`
      insert into service.license_start (id) select ${param(id)} where ${provided} on conflict do nothing`),
  ]
}
