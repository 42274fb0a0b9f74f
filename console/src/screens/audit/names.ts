/** What things of the log are called today, by their ids, as far as its reader sees them. */
import type { AuditEntry } from 'governed-data-client/system'
import { system } from '../../data/client.ts'
import { type Query, useQuery } from '../../data/queries.ts'
import { session } from '../../data/session.ts'
import { accessQuery } from '../../data/workspaces.ts'
import { membersQuery, policiesQuery, rolesQuery } from '../access/data.ts'
import { sourcesQuery } from '../sources/data.ts'
import { nameIn } from './data.ts'

export type Names = ReadonlyMap<string, string>

/** Entries themselves name who did something, and what others are about. */
export function useNames(workspace: string | undefined, entries: readonly AuditEntry[]): Names {
  const own = entries.flatMap(({ actorId, actorEmail, targetId, payload }): readonly (readonly [string, string])[] => {
    const name = nameIn(payload)
    return [
      ...(actorId !== null && actorEmail !== null ? [[actorId, actorEmail] as const] : []),
      ...(targetId !== null && name !== undefined ? [[targetId, name] as const] : []),
    ]
  })
  const { data: access } = useQuery({ ...accessQuery(workspace ?? ''), enabled: workspace !== undefined })
  const may = (right: string) => access?.entitlements.includes(right) === true
  const people = { enabled: may('workspaceMembers:read') }
  const { data: members = [] } = useQuery({ ...membersQuery(workspace ?? ''), ...people })
  const { data: roles = [] } = useQuery({ ...rolesQuery(workspace ?? ''), ...people })
  const { data: policies = [] } = useQuery({ ...policiesQuery(workspace ?? ''), ...people })
  const { data: sources = [] } = useQuery({ ...sourcesQuery(workspace ?? ''), enabled: may('dataSource:read') })
  const { data: users = [] } = useQuery(usersQuery(workspace === undefined ? unnamed(entries, new Map(own)) : []))
  return new Map([
    ...users.map(({ id, email }) => [id, email] as const),
    ...members.map(({ userId, email }) => [userId, email] as const),
    ...[...roles, ...policies].map(({ id, name }) => [id, name] as const),
    ...sources.map(({ id, apiName }) => [id, apiName] as const),
    ...own,
  ])
}

function unnamed(entries: readonly AuditEntry[], known: Names): readonly string[] {
  const ids = entries.flatMap(({ targetType, targetId }) =>
    targetType === 'user' && targetId !== null ? targetId : [],
  )
  return [...new Set(ids)].filter((id) => !known.has(id)).sort()
}

/** For administrators of the instance, who see everybody. */
function usersQuery(ids: readonly string[]): Query<readonly { readonly id: string; readonly email: string }[]> {
  const isAdministrator = session.value.kind === 'signedIn' && session.value.user.isAdministrator
  return {
    queryKey: ['audit', 'users', ids],
    queryFn: () => system.users.list({ filter: { id: { _in: ids } }, fields: ['id', 'email'], limit: 0 }).orThrow(),
    enabled: isAdministrator && ids.length > 0,
  }
}
