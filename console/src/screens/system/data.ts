/** Users, service accounts, sign-in providers, license and settings as their screens read them. */
import type { User } from 'governed-data-client'
import type { LicenseReport, Provider, ServiceAccount, Setting } from 'governed-data-client/system'
import { instance, system } from '../../data/client.ts'
import { type Query, queries } from '../../data/queries.ts'
import { workspacesQuery } from '../../data/workspaces.ts'
import { accessOf, namesOf, rolesQuery } from '../access/data.ts'
import type { CodeRequest } from '../code/request.ts'

const KIND = 'system'

export const PAGE = 50

const byAddress = [{ email: 'asc' }]

/** People by a part of their name or address. */
export function usersQuery(wanted: string, limit: number): Query<readonly User[]> {
  const found = { _or: [{ email: { _icontains: wanted } }, { fullName: { _icontains: wanted } }] }
  const filter = { _and: [{ isService: { _eq: false } }, ...(wanted === '' ? [] : [found])] }
  return {
    queryKey: [KIND, 'users', wanted, limit],
    queryFn: () => system.users.list({ filter, sort: byAddress, limit }).orThrow(),
  }
}

export function userQuery(id: string): Query<User> {
  return { queryKey: [KIND, 'users', id], queryFn: () => system.users.get(id).orThrow() }
}

export type Membership = { readonly workspace: string; readonly roles: string; readonly isActive: boolean }

/** Where somebody is a member, of the workspaces whose people the reader may see. */
export function membershipsQuery(id: string): Query<readonly Membership[]> {
  const inOne = async (workspace: string): Promise<readonly Membership[]> => {
    const answer = await accessOf(workspace).members.list({ filter: { userId: { _eq: id } } })
    if (answer.status === 403 || answer.status === 404) return []
    if (!answer.ok) throw answer.error
    const [member] = answer.data
    if (member === undefined) return []
    const roles = namesOf(member.roles, await queries.fetchQuery(rolesQuery(workspace)))
    return [{ workspace, roles, isActive: member.status === 'active' }]
  }
  return {
    queryKey: [KIND, 'memberships', id],
    queryFn: async () => {
      const workspaces = await queries.fetchQuery(workspacesQuery())
      return (await Promise.all(workspaces.map(({ apiName }) => inOne(apiName)))).flat()
    },
  }
}

/** One's own; those of everybody for administrators, or of one owner. */
export function accountsQuery(owner?: string): Query<readonly ServiceAccount[]> {
  const filter = owner === undefined ? {} : { owner: { _eq: owner } }
  return {
    queryKey: [KIND, 'accounts', owner],
    queryFn: () => system.serviceAccounts.list({ filter, sort: [{ name: 'asc' }], limit: 0 }).orThrow(),
  }
}

export function accountQuery(id: string): Query<ServiceAccount> {
  return { queryKey: [KIND, 'accounts', 'one', id], queryFn: () => system.serviceAccounts.get(id).orThrow() }
}

export function providersQuery(): Query<readonly Provider[]> {
  return {
    queryKey: [KIND, 'providers'],
    queryFn: () => system.providers.list({ sort: [{ name: 'asc' }], limit: 0 }).orThrow(),
  }
}

/** As of an answer of the licensing service. */
export function licenseQuery(answered: string | null | undefined): Query<LicenseReport> {
  return { queryKey: [KIND, 'license', answered], queryFn: () => system.license().orThrow() }
}

export function settingsQuery(): Query<readonly Setting[]> {
  return { queryKey: [KIND, 'settings'], queryFn: () => system.settings().orThrow() }
}

export type AssistantUsage = {
  readonly workspace: string
  readonly requests: number
  readonly tokens: number
  readonly users: number
}

export function assistantUsageQuery(): Query<readonly AssistantUsage[]> {
  return {
    queryKey: [KIND, 'assistantUsage'],
    queryFn: async () => {
      const answer = instance.$request<{ data: readonly AssistantUsage[] }>('GET', '/api/system/ai/usage')
      return (await answer.orThrow()).data
    },
  }
}

/** After a change: lists, and what hangs on what was changed. */
export async function systemChanged(): Promise<void> {
  await queries.invalidateQueries({ queryKey: [KIND] })
  for (const kind of ['keys', 'people']) void queries.invalidateQueries({ queryKey: [kind] })
}

/** What a screen reads, as code; `call` is the member of the client. */
export const requestOf = (path: string, call: string): CodeRequest => ({
  workspace: undefined,
  path: `/system/${path}`,
  query: {},
  call: ['system', call],
})
