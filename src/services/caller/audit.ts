/**
 * The audit log: turns events of use cases into entries, written in the batch of the change itself; reads the log;
 * deletes expired entries.
 */
import type { Config } from '../../config.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { type Actor, type AuditAction, type AuditEntry, auditActions } from '../../core/audit.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Sql, Statement } from '../../core/sql/statement.ts'
import type { Ids, Ports } from '../../ports/ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import { auditStatement, deleteEntriesBefore } from '../../store/audit.ts'
import { type Caller, requireAdministrator } from './caller.ts'
import type { RequestScope } from './callers.ts'
import { type Directory, everything, type LazyBody, rowScopeOf } from './directory.ts'

/** An event to record; omitted members mean a success, no workspace, no target. */
export type AuditEvent = {
  readonly action: AuditAction
  readonly actor: Actor
  readonly outcome?: 'failure'
  readonly workspaceId?: string
  readonly target?: AuditEntry['target']
  readonly address?: string | undefined
  readonly payload?: AuditEntry['payload']
}

/**
 * Returns a statement for the batch of the change; with `provided` it records the event only if that condition holds at
 * its position in the batch.
 */
export function recordEvent(ids: Ids, event: AuditEvent, provided?: Sql): Statement {
  const { action, actor, outcome = 'success', workspaceId = null, target = null, address = null, payload = {} } = event
  return auditStatement(ids.next(), { action, actor, outcome, workspaceId, target, address, payload }, provided)
}

/** Records an action of the caller in a workspace. */
export function recordWorkspaceEvent(
  ids: Ids,
  { workspace, caller }: Pick<RequestScope, 'workspace' | 'caller'>,
  event: Omit<AuditEvent, 'actor' | 'workspaceId'>,
): Statement {
  return recordEvent(ids, { ...event, actor: actorOf(caller), workspaceId: workspace.id })
}

/** The caller as actor of an audit event. */
export function actorOf(caller: Caller): Actor {
  return caller.kind === 'user' ? { kind: 'user', id: caller.userId } : { kind: 'anonymous' }
}

export type LabelledAction = { readonly action: string; readonly label: string }

const labelled = Object.entries(auditActions).map(([action, label]) => ({ action, label }))

export type AuditLog = {
  /** Entries of the whole instance, for its administrators. */
  list(caller: Caller, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  /** Entries of one workspace; requires auditLog:read (403). */
  listOf(scope: RequestScope, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  /** Every action there is, with its label, for administrators of the instance. */
  actions(caller: Caller): readonly LabelledAction[]
  /** Like `actions`; requires auditLog:read (403). */
  actionsOf(scope: RequestScope): readonly LabelledAction[]
  /** Deletes entries older than SERVICE_AUDIT__RETENTION. */
  prune(): Promise<void>
}

export type AuditLogDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database'>
  readonly config: Config
  readonly directory: Directory
}

export function createAuditLog(deps: AuditLogDeps): AuditLog {
  const { ports, config, directory } = deps
  const { clock, database } = ports

  return {
    async list(caller, query) {
      requireAdministrator(caller)
      return directory.list('auditLog', everything, await query())
    },

    async listOf(scope, query) {
      requireEntitlement(scope.rights, 'auditLog:read')
      return directory.list('auditLog', rowScopeOf(scope), await query())
    },

    actions(caller) {
      requireAdministrator(caller)
      return labelled
    },

    actionsOf({ rights }) {
      requireEntitlement(rights, 'auditLog:read')
      return labelled
    },

    async prune() {
      await deleteEntriesBefore(database, clock.now() - config.SERVICE_AUDIT__RETENTION)
    },
  }
}
