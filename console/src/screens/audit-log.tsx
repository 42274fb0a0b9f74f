/** What happened, in a workspace or in the whole instance: the newest first, by action, by whom and when. */
import type { AuditEntry } from 'governed-data-client/system'
import { useRef, useState } from 'preact/hooks'
import { CodeButton } from '../app/code.tsx'
import { placePath } from '../app/places.ts'
import { address, pathTo } from '../app/router.ts'
import { useQuery } from '../data/queries.ts'
import type { User } from '../data/session.ts'
import { workspacesQuery } from '../data/workspaces.ts'
import { formatTime, t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { Heading } from '../ui/heading.tsx'
import { Empty, Fault, Skeleton } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import styles from './audit/audit.module.css'
import { actionName, actorOf, entriesQuery, logRequest, nameIn, PAGE } from './audit/data.ts'
import { AuditFilter, filterInAddress } from './audit/filter.tsx'
import { type Names, useNames } from './audit/names.ts'
import page from './page.module.css'
import { Places } from './system/page.tsx'

type AuditLogProps = { readonly workspace?: string; readonly user: User }

/** Without a workspace that of the instance. */
export default function AuditLog({ workspace, user }: AuditLogProps) {
  const texts = t.value.audit
  const filter = filterInAddress()
  const filterText = JSON.stringify(filter)
  const [shown, setShown] = useState({ filterText, most: PAGE })
  const most = shown.filterText === filterText ? shown.most : PAGE
  const { data, error, refetch } = useQuery(entriesQuery(workspace, filter, most))
  const last = useRef<{ readonly filterText: string; readonly data: readonly AuditEntry[] }>(undefined)
  if (data !== undefined) last.current = { filterText, data }
  const entries = data ?? (last.current?.filterText === filterText ? last.current.data : undefined)
  return (
    <div class={page.page}>
      <div class={page.head}>
        <Heading text={workspace === undefined ? texts.titleOfInstance : texts.title} />
        <CodeButton request={() => logRequest(workspace, filter)} />
      </div>
      {workspace === undefined && <Places at="audit-log" user={user} />}
      <AuditFilter key={filterText} workspace={workspace} filter={filter} />
      {error && <Fault error={error} onRetry={() => void refetch()} />}
      {!entries && !error && <Skeleton lines={8} />}
      {entries?.length === 0 && <Empty title={texts.none} />}
      {entries && entries.length > 0 && (
        <Entries workspace={workspace} entries={entries} label={texts.title} user={user} />
      )}
      {entries && entries.length === most && (
        <div class={page.row}>
          <Button isBusy={data === undefined} onClick={() => setShown({ filterText, most: most + PAGE })}>
            {texts.older}
          </Button>
        </div>
      )}
    </div>
  )
}

type EntriesProps = {
  readonly workspace: string | undefined
  readonly entries: readonly AuditEntry[]
  readonly label: string
  readonly user: User
}

function Entries({ workspace, entries, label, user }: EntriesProps) {
  const texts = t.value.audit
  const names = useNames(workspace, entries)
  return (
    <Table
      label={label}
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { title: texts.time, cell: ({ time }) => formatTime(time, { dateStyle: 'medium', timeStyle: 'medium' }) },
        {
          title: texts.action,
          cell: (entry) => (
            <>
              {actionName(entry)}
              {entry.outcome !== 'success' && <strong class={styles.failed}> {texts.failed}</strong>}
            </>
          ),
        },
        { title: texts.actor, cell: (entry) => [actorOf(entry), ...(entry.ip === null ? [] : [entry.ip])].join(' · ') },
        { title: texts.target, cell: (entry) => <Target entry={entry} names={names} user={user} /> },
        { title: texts.changes, cell: (entry) => <Changes entry={entry} /> },
      ]}
    />
  )
}

type TargetProps = { readonly entry: AuditEntry; readonly names: Names; readonly user: User }

/** Leads to its screen; of what has none, to all that the log has of it. */
function Target({ entry, names, user }: TargetProps) {
  const { action, targetType, targetId, workspaceId, payload } = entry
  const { data: workspaces = [] } = useQuery(workspacesQuery())
  const nameOf = (id: string | null) => workspaces.find((one) => one.id === id)?.apiName
  if (targetType === null || targetId === null) {
    const workspace = nameOf(workspaceId)
    const isModel = action === 'schema.migrate.v1' || action === 'schema.apply.v1'
    return isModel && workspace !== undefined ? <a href={pathTo(workspace, 'model')}>{t.value.shell.model}</a> : null
  }
  const kind = t.value.audit.targets[targetType] ?? targetType
  const name = nameIn(payload) ?? names.get(targetId) ?? (targetType === 'workspace' ? nameOf(targetId) : undefined)
  return (
    <>
      {kind}{' '}
      <a href={pathOf(entry, { targetType, targetId, name, workspace: nameOf(workspaceId ?? targetId) }, user)}>
        {name === undefined ? <code class={styles.id}>{targetId}</code> : <bdi>{name}</bdi>}
      </a>
    </>
  )
}

type Thing = {
  readonly targetType: string
  readonly targetId: string
  readonly name: string | undefined
  readonly workspace: string | undefined
}

function pathOf({ action }: AuditEntry, thing: Thing, user: User): string {
  const { targetId } = thing
  if (targetId === user.id) return '/-/account'
  // What was deleted then has no screen any more.
  const path = action.includes('.delete.') ? undefined : (placeInWorkspace(thing) ?? placeOfService(thing, user))
  return path ?? `${address.value.pathname}?${new URLSearchParams({ target: targetId })}`
}

function placeInWorkspace({ targetType, targetId, workspace }: Thing): string | undefined {
  if (workspace === undefined) return undefined
  const below: Readonly<Record<string, readonly string[]>> = {
    workspace: [],
    source: ['sources', targetId],
    secret: ['sources', 'secrets'],
    role: ['access', 'roles'],
    policy: ['access', 'policies', targetId],
    accessTest: ['access', 'tests'],
    invitation: ['access'],
  }
  const parts = below[targetType]
  return parts && pathTo(workspace, ...parts)
}

function placeOfService({ targetType, targetId, name }: Thing, { isAdministrator }: User): string | undefined {
  if (!isAdministrator) return undefined
  if (targetType === 'serviceAccount') return placePath('service-accounts', { id: targetId })
  if (targetType === 'user') return placePath('users', { id: targetId })
  if (targetType === 'provider' && name !== undefined) return placePath('providers', { name })
  return undefined
}

function Changes({ entry }: { readonly entry: AuditEntry }) {
  const members = Object.entries(entry.payload)
  if (members.length === 0) return null
  return (
    <details class={styles.details}>
      <summary aria-label={t.value.audit.showOf(actionName(entry))}>{t.value.audit.show}</summary>
      <dl class={styles.members}>
        {members.map(([name, value]) => (
          <div key={name}>
            <dt>{t.value.audit.members[name] ?? name}</dt>
            <dd>
              <bdi>{memberText(value)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** Times as they are here. */
function memberText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 1)
  return TIME.test(value) ? formatTime(value) : value
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
