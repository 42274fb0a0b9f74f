/**
 * Reading as somebody else would (docs/contract.md#acting-as-others): the rows of that principal, cut to what the caller may read.
 */
import { type Rights, requireEntitlement } from '../../core/access/principal.ts'
import { nested } from '../../core/error.ts'
import type { Ports } from '../../ports.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import { principalOfMember, principalOfRoles } from './principals.ts'

export type ActAs = {
  /**
   * The scope of a read as the header says, `user:<id>` or `role:<id>`, recorded in the audit log. Throws 403 without
   * workspaceMembers:read, and 422 for whom the workspace does not have.
   */
  enter(scope: RequestScope, header: string): Promise<RequestScope>
}

export type ActAsDeps = { readonly ports: Pick<Ports, 'database' | 'ids'> }

const FORM = /^(user|role):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i

export function createActAs(deps: ActAsDeps): ActAs {
  const { database, ids } = deps.ports

  return {
    async enter(scope, header) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      const [, type, sent = ''] = FORM.exec(header) ?? []
      if (type === undefined) throw refused('must be user:<id> or role:<id>')
      const id = sent.toLowerCase()
      const isUser = type.toLowerCase() === 'user'
      const { workspace } = scope
      const principal = await (isUser
        ? principalOfMember(database, workspace.id, id)
        : principalOfRoles(database, workspace.id, [id]))
      if (principal === undefined) throw refused('is nobody of this workspace')
      const target = { type: isUser ? ('user' as const) : ('role' as const), id }
      await database.query(recordWorkspaceEvent(ids, scope, { action: 'access.act_as.v1', target }))
      return { ...scope, rights: actingRights(principal.rights, scope.rights) }
    },
  }
}

/** No entitlement is theirs to use, and nothing is written. */
function actingRights(rights: Rights, within: Rights): Rights {
  return { kind: 'scoped', rights, entitlements: new Set(), collections: undefined, within }
}

function refused(reason: string) {
  return nested('invalid', ['Failed to read the headers', 'Act-As', reason])
}
