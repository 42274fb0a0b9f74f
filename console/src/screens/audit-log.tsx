/** What happened, in a workspace or in the whole instance: the newest first, by action, by whom and when. */
import type { AuditEntry } from 'governed-data-client/system'
import { useRef, useState } from 'preact/hooks'
import { pathTo } from '../app/router.ts'
import { useQuery } from '../data/queries.ts'
import { workspacesQuery } from '../data/workspaces.ts'
import { formatTime, t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Fault, Skeleton } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import styles from './audit/audit.module.css'
import { actionName, actorOf, entriesQuery, PAGE } from './audit/data.ts'
import { AuditFilter, filterInAddress } from './audit/filter.tsx'
import page from './page.module.css'

/** Without a workspace that of the instance. */
export default function AuditLog({ workspace }: { readonly workspace?: string | undefined }) {
  const texts = t.value.audit
  const filter = filterInAddress()
  const asked = JSON.stringify(filter)
  const [shown, setShown] = useState({ asked, most: PAGE })
  const most = shown.asked === asked ? shown.most : PAGE
  const { data, error, refetch } = useQuery(entriesQuery(workspace, filter, most))
  const last = useRef<{ readonly asked: string; readonly data: readonly AuditEntry[] }>(undefined)
  if (data !== undefined) last.current = { asked, data }
  const entries = data ?? (last.current?.asked === asked ? last.current.data : undefined)
  return (
    <div class={styles.page}>
      <h1>{workspace === undefined ? texts.titleOfInstance : texts.title}</h1>
      <AuditFilter key={asked} workspace={workspace} filter={filter} />
      {error && <Fault error={error} onRetry={() => void refetch()} />}
      {!entries && !error && <Skeleton lines={8} />}
      {entries?.length === 0 && <Empty title={texts.none} />}
      {entries && entries.length > 0 && <Entries entries={entries} label={texts.title} />}
      {entries && entries.length === most && (
        <div class={page.row}>
          <Button isBusy={data === undefined} onClick={() => setShown({ asked, most: most + PAGE })}>
            {texts.older}
          </Button>
        </div>
      )}
    </div>
  )
}

function Entries({ entries, label }: { readonly entries: readonly AuditEntry[]; readonly label: string }) {
  const texts = t.value.audit
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
        { title: texts.target, cell: (entry) => <Target entry={entry} /> },
        { title: texts.changes, cell: (entry) => <Changes entry={entry} /> },
      ]}
    />
  )
}

/** Leads to what there is a screen of. */
function Target({ entry }: { readonly entry: AuditEntry }) {
  const { targetType, targetId } = entry
  const { data: workspaces = [] } = useQuery(workspacesQuery())
  if (targetType === null) return null
  const found = targetType === 'workspace' ? workspaces.find(({ id }) => id === targetId) : undefined
  if (found !== undefined) return <a href={pathTo(found.apiName)}>{found.apiName}</a>
  return (
    <>
      {targetType.replaceAll('_', ' ')}
      {targetId !== null && <code class={styles.id}> {targetId}</code>}
    </>
  )
}

function Changes({ entry }: { readonly entry: AuditEntry }) {
  const members = Object.entries(entry.payload)
  if (members.length === 0) return null
  return (
    <details>
      <summary aria-label={t.value.audit.showOf(actionName(entry))}>{t.value.audit.show}</summary>
      <dl class={styles.members}>
        {members.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{typeof value === 'string' ? value : JSON.stringify(value, null, 1)}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
