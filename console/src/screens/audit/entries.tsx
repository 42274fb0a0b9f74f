/** From a thing to what the audit log has of it, for those who may read that. */
import { pathTo } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import { session } from '../../data/session.ts'
import { accessQuery } from '../../data/workspaces.ts'
import { t } from '../../messages/messages.ts'
import { ButtonLink } from '../../ui/button.tsx'

type EntriesProps = {
  /** Without a workspace in the log of the instance. */
  readonly workspace?: string
  readonly id: string
  /** What it is called. */
  readonly name: string
}

export function Entries({ workspace, id, name }: EntriesProps) {
  const { data: access } = useQuery({ ...accessQuery(workspace ?? ''), enabled: workspace !== undefined })
  const isAdministrator = session.value.kind === 'signedIn' && session.value.user.isAdministrator
  const mayRead = workspace === undefined ? isAdministrator : access?.entitlements.includes('auditLog:read') === true
  if (!mayRead) return null
  const log = workspace === undefined ? '/-/audit-log' : pathTo(workspace, 'audit-log')
  return (
    <ButtonLink
      look="plain"
      href={`${log}?${new URLSearchParams({ target: id })}`}
      aria-label={`${t.value.audit.title}: ${name}`}
    >
      {t.value.audit.title}
    </ButtonLink>
  )
}
