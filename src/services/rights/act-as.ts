/**
 * Reads with the rights of another principal (docs/contract.md#acting-as-others), limited to what the caller may read.
 */
import { type Rights, requireEntitlement } from '../../core/access/principal.ts'
import { nested } from '../../core/error.ts'
import type { Ports } from '../../ports/ports.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import { planTermOf } from '../caller/plan-term.ts'
import { principalOfMember, principalOfRoles } from './principals.ts'

export type ActAs = {
  /**
   * Returns the scope for a read as the header says, `user:<id>` or `role:<id>`, and records it in the audit log. Throws 403
   * without workspaceMembers:read, and 422 for a principal that the workspace does not have.
   */
  enter(scope: RequestScope, header: string): Promise<RequestScope>
}

export type ActAsDeps = { readonly ports: Pick<Ports, 'database' | 'ids'> }

type Target = { readonly type: 'user' | 'role'; readonly id: string }

const FORM = /^(user|role):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i

export function createActAs(deps: ActAsDeps): ActAs {
  const { database, ids } = deps.ports

  /** `again` loads the rights of both anew. */
  async function actingIn(scope: RequestScope, target: Target): Promise<RequestScope> {
    requireEntitlement(scope.rights, 'workspaceMembers:read')
    const { workspace } = scope
    const { type, id } = target
    const principal = await (type === 'user'
      ? principalOfMember(database, workspace.id, id)
      : principalOfRoles(database, workspace.id, [id]))
    if (principal === undefined) throw refused('is nobody of this workspace')
    return actingScope(scope, principal.rights, async () => actingIn(await scope.again(), target))
  }

  return {
    async enter(scope, header) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      const [, type, sent = ''] = FORM.exec(header) ?? []
      if (type === undefined) throw refused('must be user:<id> or role:<id>')
      const id = sent.toLowerCase()
      const target = { type: type.toLowerCase() === 'user' ? ('user' as const) : ('role' as const), id }
      const acting = await actingIn(scope, target)
      await database.query(recordWorkspaceEvent(ids, scope, { action: 'access.act_as.v1', target }))
      return acting
    },
  }
}

/** The scope for reading with the rights `of`, limited by those of the caller; `again` returns the current scope. */
export function actingScope(scope: RequestScope, of: Rights, again: () => Promise<RequestScope>): RequestScope {
  const rights = actingRights(of, scope.rights)
  return { ...scope, rights, term: planTermOf({ snapshot: scope.snapshot, rights }, again), again }
}

/** Without entitlements, so nothing can be written. */
function actingRights(rights: Rights, within: Rights): Rights {
  return { kind: 'scoped', rights, entitlements: new Set(), collections: undefined, within }
}

function refused(reason: string) {
  return nested('invalid', ['Failed to read the headers', 'Act-As', reason])
}
