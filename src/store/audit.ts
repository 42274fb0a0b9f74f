/** The audit log in the system database. Entries are only added, and deleted when their retention time is over. */
import { type AuditEntry, auditActions } from '../core/audit.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { empty, json, param, type Sql, sql, statement, timestamp } from './statements.ts'

/**
 * Builds the audit entry for the batch of the change it records. It is written if the condition `provided` is true at
 * that point of the batch; without one, whenever the batch succeeds.
 */
export function auditStatement(id: string, entry: AuditEntry, provided?: Sql): Statement {
  const { action, outcome, actor, workspaceId, target, address, payload } = entry
  const actorId = sql`${param(actor.kind === 'user' ? actor.id : null)}::uuid`
  return statement(sql`
    insert into service.audit_entry (id, action, label, outcome, actor_type, actor_id, actor_email, workspace_id,
      target_type, target_id, ip, payload)
    select ${param(id)}::uuid, ${param(action)}, ${param(auditActions[action])}, ${param(outcome)},
      case when u.is_service then 'service' else ${param(actor.kind)}::text end, ${actorId}, u.email,
      ${param(workspaceId)}::uuid, ${param(target?.type ?? null)}, ${param(target?.id ?? null)}::uuid,
      ${param(address)}, ${json(payload)}::jsonb
    from (select 1) one left join service."user" u on u.id = ${actorId}
    ${provided === undefined ? empty : sql`where ${provided}`}`)
}

export async function deleteEntriesBefore(database: SqlDriver, time: Instant): Promise<void> {
  await database.query(
    statement(sql`
      delete from service.audit_entry where "time" < ${timestamp(time)}`),
  )
}

/** Builds an audit log entry for a batch; it is written only if the condition `provided` is true. */
export type AuditStatement = (provided?: Sql) => Statement
