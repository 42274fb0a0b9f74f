/** The queries of the audit log: of a workspace, or of the instance. */
import { type AuditEntry, workspace as workspaceOf } from 'governed-data-client/system'
import { pathTo } from '../../app/router.ts'
import { clientOf, system } from '../../data/client.ts'
import type { Query } from '../../data/queries.ts'
import { t } from '../../messages/messages.ts'
import type { CodeRequest } from '../code/request.ts'

/** Days are of the reader's own zone, `2026-01-31`. */
export type EntryFilter = {
  readonly action: string
  readonly actor: string
  /** The id of what it is about. */
  readonly target: string
  readonly from: string
  readonly to: string
}

export const PAGE = 50

const DAY = 86_400_000
/** So many deletions are looked at. */
const DELETIONS = 200

const logOf = (workspace: string | undefined) => (workspace === undefined ? system : workspaceOf(clientOf(workspace)))

export function entriesQuery(
  workspace: string | undefined,
  filter: EntryFilter,
  limit: number,
): Query<readonly AuditEntry[]> {
  return listQuery(workspace, conditionOf(filter), limit)
}

/** The last of what was changed: whoever comes and goes changes nothing. */
export function changesQuery(workspace: string | undefined, limit: number): Query<readonly AuditEntry[]> {
  return listQuery(workspace, { action: { _nstarts_with: 'auth.' } }, limit)
}

/** Files that were deleted within the last day. */
export function deletionsQuery(workspace: string): Query<readonly AuditEntry[]> {
  const since = new Date(Date.now() - DAY).toISOString()
  const filter = { _and: [{ action: { _eq: 'file.delete.v1' } }, { time: { _gte: since } }] }
  return {
    queryKey: ['audit', workspace, 'deleted files'],
    queryFn: () => logOf(workspace).auditLog.list(queryOf(filter, DELETIONS)).orThrow(),
  }
}

function listQuery(workspace: string | undefined, filter: object, limit: number): Query<readonly AuditEntry[]> {
  const query = queryOf(filter, limit)
  return {
    queryKey: ['audit', workspace, JSON.stringify(filter), limit],
    queryFn: () => logOf(workspace).auditLog.list(query).orThrow(),
  }
}

const queryOf = (filter: object, limit: number) => ({ filter, sort: [{ time: 'desc' }, { id: 'desc' }], limit })

/** The query for the entries that a log shows first. */
export function logRequest(workspace: string | undefined, filter: EntryFilter): CodeRequest {
  return {
    workspace,
    path: pathTo(workspace ?? 'system', 'audit-log'),
    query: {
      ...queryOf(conditionOf(filter), PAGE),
      sort: [{ time: { direction: 'desc' } }, { id: { direction: 'desc' } }],
    },
    call: [workspace === undefined ? 'system' : 'workspace', 'auditLog.list'],
  }
}

export function actionsQuery(workspace: string | undefined): Query<readonly { action: string; label: string }[]> {
  return {
    queryKey: ['audit actions', workspace],
    queryFn: () => logOf(workspace).auditActions().orThrow(),
    staleTime: Number.POSITIVE_INFINITY,
  }
}

function conditionOf({ action, actor, target, from, to }: EntryFilter): object {
  const conditions = [
    ...(action === '' ? [] : [{ action: { _eq: action } }]),
    ...(actor === '' ? [] : [{ actorEmail: { _icontains: actor } }]),
    ...(target === '' ? [] : [{ targetId: { _eq: target } }]),
    ...timeOf('_gte', from, 0),
    ...timeOf('_lt', to, 1),
  ]
  return conditions.length === 0 ? {} : { _and: conditions }
}

/** The beginning of a day, or of one after it. Nothing where it is no day. */
function timeOf(operator: string, day: string, after: number): readonly object[] {
  const [year, month, date] = day.split('-').map(Number)
  if (year === undefined || month === undefined || date === undefined) return []
  const at = new Date(year, month - 1, date + after)
  return Number.isNaN(at.getTime()) ? [] : [{ time: { [operator]: at.toISOString() } }]
}

/** What happened, in the reader's language. */
export function actionName({ action, label }: Pick<AuditEntry, 'action' | 'label'>): string {
  return t.value.audit.actions[action] ?? label
}

/** What happens where somebody accepts an invitation. */
const accepted = ['user.create.v1', 'invitation.accept.v1', 'user.join_workspace.v1', 'role.assign.v1']

export function actorOf({ action, actorEmail, actorType, workspaceId }: AuditEntry): string {
  const { actors } = t.value.audit
  // Nobody else joins a workspace without a sign-in: whoever accepts is whom the entry is about.
  const isAccepted = actorType === 'anonymous' && workspaceId !== null && accepted.includes(action)
  return actorEmail ?? actors[isAccepted ? 'invitation' : actorType] ?? actorType
}

/** What it is about was called then. */
export function nameIn(payload: object): string | undefined {
  const { name, apiName, fileName, email } = payload as Readonly<Record<string, unknown>>
  return [name, apiName, fileName, email].find((one) => typeof one === 'string' && one !== '') as string | undefined
}
