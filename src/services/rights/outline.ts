/** The rights of members and roles in a workspace, now and after a change. */
import type { PolicyContent } from '../../core/access/policy.ts'
import type { Principal } from '../../core/access/principal.ts'
import type { RightsOutline } from '../../store/roles.ts'
import { anybodyWith, principalWith } from './principals.ts'

/** A change of rights, by ids; null deletes, or suspends a member. */
export type RightsPlan = {
  readonly policies?: Readonly<Record<string, { readonly content: PolicyContent } | null>> | undefined
  readonly roles?: Readonly<Record<string, { readonly policies: readonly string[] } | null>> | undefined
  readonly members?: Readonly<Record<string, { readonly roles: readonly string[] } | null>> | undefined
}

/** The rights after the change; it may activate members, and must name existing policies and roles. */
export function outlineAfter(
  before: RightsOutline,
  { policies = {}, roles = {}, members = {} }: RightsPlan,
): RightsOutline {
  const added = Object.entries(members).flatMap(([userId, change]) => {
    const isThere = change === null || before.members.some((member) => member.userId === userId)
    return isThere ? [] : [{ userId, ...change }]
  })
  return {
    policies: before.policies.flatMap((policy) => {
      const change = policies[policy.id]
      return change === null ? [] : [{ ...policy, ...change }]
    }),
    roles: before.roles.flatMap((role) => {
      const change = roles[role.id]
      return change === null ? [] : [{ ...role, ...change }]
    }),
    members: [
      ...before.members.flatMap((member) => {
        const change = members[member.userId]
        return change === null ? [] : [{ ...member, ...change }]
      }),
      ...added,
    ],
  }
}

/** The principal with these roles in the outline. */
export function principalIn(outline: RightsOutline, userId: string | undefined, ids: readonly string[]): Principal {
  return principalWith(userId, rolesIn(outline, ids))
}

/** A principal with this role in the outline, without a particular user. */
export function anybodyIn(outline: RightsOutline, roleId: string): Principal {
  return anybodyWith(rolesIn(outline, [roleId]))
}

function rolesIn({ roles, policies }: RightsOutline, ids: readonly string[]) {
  const byId = new Map(policies.map((policy) => [policy.id, policy]))
  return roles
    .filter(({ id }) => ids.includes(id))
    .map((role) => ({ ...role, policies: role.policies.flatMap((id) => byId.get(id) ?? []) }))
}

/** The roles of anonymous callers. */
export function publicRoles({ roles }: RightsOutline): readonly string[] {
  return roles.flatMap(({ id, kind }) => (kind === 'public' ? [id] : []))
}
