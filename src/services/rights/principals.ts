/** Loads members and roles of a workspace as principals, with the policies that define their rights. */
import { noRights, type Principal } from '../../core/access/principal.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { loadPrincipalState, loadPublicPrincipalState } from '../../store/principal-state.ts'
import { loadRoles, type RoleRow } from '../../store/roles.ts'

const nobody: Principal = { rights: noRights, roleIds: [], policies: [] }

/** The principal of a member; without rights if suspended, and undefined if the user is no member. */
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

/** A principal with exactly these roles and no particular user; undefined if the workspace lacks one of the roles. */
export async function principalOfRoles(
  database: SqlDriver,
  workspaceId: string,
  roleIds: readonly string[],
): Promise<Principal | undefined> {
  const roles = await loadRoles(database, workspaceId, roleIds)
  return roles.length === roleIds.length ? anybodyWith(roles) : undefined
}

/** The principal of a caller without a credential. */
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

/** A principal with these roles and no particular user; with a role of the public, the anonymous caller. */
export function anybodyWith(roles: readonly Pick<RoleRow, 'id' | 'kind' | 'policies'>[]): Principal {
  const principal = principalWith(undefined, roles)
  return roles.some(({ kind }) => kind === 'public') ? principal : { ...principal, isAnybody: true }
}

/** The principal with these roles. */
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
