/** Lists and ends the sessions of the caller's own account (docs/contract.md#sessions). */
import { ServiceError } from '../../core/error.ts'
import type { Ports } from '../../ports/ports.ts'
import type { AuditStatement } from '../../store/audit.ts'
import { endOtherSessions, endSession, loadSessions } from '../../store/sessions.ts'
import { actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, requireUser, sessionOf } from '../caller/caller.ts'

export type OwnSessions = {
  /** Returns the JSON text of the newest thousand active sessions; 403 for the anonymous caller. */
  list(caller: Caller): Promise<string>
  /** Ends a session at once; 404 for an unknown or ended session, and for one of another account. */
  end(caller: Caller, id: string): Promise<void>
  /** Ends all sessions except the caller's at once. */
  endOthers(caller: Caller): Promise<void>
}

export type OwnSessionsDeps = { readonly ports: Pick<Ports, 'database' | 'ids' | 'workspaces'> }

export function createOwnSessions(deps: OwnSessionsDeps): OwnSessions {
  const { ports } = deps
  const { database, ids, workspaces } = ports

  function record(caller: Caller, id: string | null): AuditStatement {
    const event = { action: 'session.delete.v1', actor: actorOf(caller) } as const
    const target = { type: 'session', id: id ?? '' } as const
    return (provided) => recordEvent(ids, id === null ? event : { ...event, target }, provided)
  }

  return {
    async list(caller) {
      return loadSessions(database, { userId: requireUser(caller), current: sessionOf(caller) })
    },

    async end(caller, id) {
      const userId = requireUser(caller)
      if (!(await endSession(database, { id, userId }, record(caller, id)))) {
        throw new ServiceError('notFound', 'Session does not exist')
      }
      await workspaces.changed(id)
    },

    async endOthers(caller) {
      const userId = requireUser(caller)
      const kept = sessionOf(caller)
      if (await endOtherSessions(database, { userId, kept }, record(caller, null))) await workspaces.changed(userId)
    },
  }
}
