/** Members and roles of a workspace as principals, with the policies that make their rights: for whoever asks about them. */
import { noRights, type Principal } from '../../core/access/principal.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { loadPrincipalState, loadPublicPrincipalState } from '../../store/principal-state.ts'
import { loadRoles, type RoleRow } from '../../store/roles.ts'

const nobody: Principal = { rights: noRights, roleIds: [], policies: [] }

/** A member as they are now; a suspended one has nothing. Undefined for who is no member. */
export async function principalOfMember(
  database: SqlDriver,
  workspaceId: string,
  userId: string,
): Promise<Principal | undefined> {
  const state = await loadPrincipalState(database, { kind: 'user', userId }, workspaceId)
  if (state?.member === undefined) return undefined
  const { status, roles } = state.member
  if (status === 'suspended') return nobody
  return ofRoles(database, workspaceId, { userId, roleIds: roles.map(({ id }) => id) })
}

/** Whoever has these roles and no other, nobody in particular. Undefined where the workspace lacks one of them. */
export async function principalOfRoles(
  database: SqlDriver,
  workspaceId: string,
  roleIds: readonly string[],
): Promise<Principal | undefined> {
  const roles = await loadRoles(database, workspaceId, roleIds)
  return roles.length === roleIds.length ? anybodyWith(roles) : undefined
}

/** A caller without a credential. */
export async function anonymousPrincipal(database: SqlDriver, workspaceId: string): Promise<Principal> {
  const { roles } = await loadPublicPrincipalState(database, workspaceId)
  return ofRoles(database, workspaceId, { userId: undefined, roleIds: roles.map(({ id }) => id) })
}

async function ofRoles(
  database: SqlDriver,
  workspaceId: string,
  { userId, roleIds }: { readonly userId: string | undefined; readonly roleIds: readonly string[] },
): Promise<Principal> {
  return principalWith(userId, await loadRoles(database, workspaceId, roleIds))
}

/** Whoever has these roles, nobody in particular: of those of the public that is whoever is not signed in. */
export function anybodyWith(roles: readonly Pick<RoleRow, 'id' | 'kind' | 'policies'>[]): Principal {
  const principal = principalWith(undefined, roles)
  return roles.some(({ kind }) => kind === 'public') ? principal : { ...principal, isAnybody: true }
}

/** Whoever has these roles. */
export function principalWith(
  userId: string | undefined,
  roles: readonly Pick<RoleRow, 'id' | 'kind' | 'policies'>[],
): Principal {
  const held = new Map(roles.flatMap(({ policies }) => policies.map((policy) => [policy.id, policy])))
  const policies = [...held.values()]
  const contents = policies.map(({ content }) => content)
  const known = { userId, roleIds: roles.map(({ id }) => id) }
  const entitlements = new Set(contents.flatMap((content) => content.entitlements))
  const isAdministrator = roles.some(({ kind }) => kind === 'administrator')
  const rights = isAdministrator
    ? ({ kind: 'all', ...(userId !== undefined && { userId }) } as const)
    : ({ kind: 'policies', ...known, policies: contents, entitlements } as const)
  return { rights, roleIds: known.roleIds, policies }
}
