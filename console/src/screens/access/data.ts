/** The people, roles and policies of a workspace as its screens read them, each asked for once. */
import {
  type AccessTest,
  type Invitation,
  type Member,
  type PlannedRights,
  type Policy,
  type RightsEffects,
  type Role,
  workspace as workspaceOf,
} from 'governed-data-client/system'
import { clientOf } from '../../data/client.ts'
import { type Query, queries, useQuery } from '../../data/queries.ts'
import { accessQuery } from '../../data/workspaces.ts'
import { listed } from '../../messages/messages.ts'

const KIND = 'people'

export const accessOf = (workspace: string) => workspaceOf(clientOf(workspace))

export function membersQuery(workspace: string): Query<readonly Member[]> {
  const query = { limit: 0, sort: [{ email: 'asc' }] }
  return { queryKey: [KIND, workspace, 'members'], queryFn: () => accessOf(workspace).members.list(query).orThrow() }
}

export function invitationsQuery(workspace: string): Query<readonly Invitation[]> {
  return {
    queryKey: [KIND, workspace, 'invitations'],
    queryFn: () => accessOf(workspace).invitations.list({ limit: 0 }).orThrow(),
  }
}

export function rolesQuery(workspace: string): Query<readonly Role[]> {
  return { queryKey: [KIND, workspace, 'roles'], queryFn: () => accessOf(workspace).roles.list({ limit: 0 }).orThrow() }
}

export function policiesQuery(workspace: string): Query<readonly Policy[]> {
  return {
    queryKey: [KIND, workspace, 'policies'],
    queryFn: () => accessOf(workspace).policies.list({ limit: 0 }).orThrow(),
  }
}

/** The entitlements needed to see what others may do, or would. */
const insight = ['workspaceMembers:read', 'workspaceMembers:edit', 'dataModel:read'] as const

/** Undefined until one's own rights are there. */
export function useInsight(workspace: string): boolean | undefined {
  const { data: access } = useQuery(accessQuery(workspace))
  return access && insight.every((right) => access.entitlements.includes(right))
}

export function testsQuery(workspace: string): Query<readonly AccessTest[]> {
  return { queryKey: [KIND, workspace, 'tests'], queryFn: () => accessOf(workspace).tests.list().orThrow() }
}

/** Of a change that is not made, as things are now; of none it has what tests say of them. */
export function effectQuery(workspace: string, planned: PlannedRights): Query<RightsEffects> {
  return {
    queryKey: [KIND, workspace, 'effect', planned],
    queryFn: () => accessOf(workspace).effect(planned).orThrow(),
    staleTime: 0,
  }
}

/** After a change: all of it follows from each other, and one's own rights from all of it. */
export async function peopleChanged(workspace: string): Promise<void> {
  await queries.invalidateQueries({ queryKey: [KIND, workspace] })
  for (const kind of ['access', 'readable', 'model', 'collections', 'manifest'])
    void queries.invalidateQueries({ queryKey: [kind, workspace] })
}

/** Those that somebody may be given: everybody without a credential has the role of the public, and nobody else. */
export function assignable(roles: readonly Role[]): readonly Role[] {
  return roles.filter(({ kind }) => kind !== 'public')
}

export function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((id) => other.includes(id))
}

export function namesOf(
  ids: readonly string[],
  all: readonly { readonly id: string; readonly name: string }[],
): string {
  return listed(ids.map((id) => all.find((one) => one.id === id)?.name ?? id))
}
