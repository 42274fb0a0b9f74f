/** A workspace without a collection chosen: what there is in it, or how to begin. */
import { accessRequest, CodeButton } from '../app/code.tsx'
import { lazy } from '../app/lazy.tsx'
import { pathTo } from '../app/router.ts'
import { useQuery } from '../data/queries.ts'
import type { User } from '../data/session.ts'
import { accessQuery, isNowhere, readableQuery, workspacesQuery } from '../data/workspaces.ts'
import { t } from '../messages/messages.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Heading } from '../ui/heading.tsx'
import { CollectionMark } from '../ui/icon.tsx'
import { Empty, Fault, Skeleton } from '../ui/notice.tsx'
import { Recent } from './audit/recent.tsx'
import styles from './page.module.css'

const Settings = lazy(() => import('./workspace-settings.tsx'))

export function WorkspaceScreen({ workspace, user }: { readonly workspace: string; readonly user: User }) {
  const { data, error, refetch } = useQuery(readableQuery(workspace))
  const { data: access } = useQuery({ ...accessQuery(workspace), enabled: data !== undefined })
  const { data: workspaces } = useQuery(workspacesQuery())
  const record = workspaces?.find(({ apiName }) => apiName === workspace)
  const may = (right: string) => user.isAdministrator || access?.entitlements.includes(right) === true
  const [mayEdit, mayDelete] = [may('workspace:edit'), may('workspace:delete')]
  const own = data ?? []
  const mayConnect = (['dataSource:create', 'dataModel:edit'] as const).every((one) =>
    access?.entitlements.includes(one),
  )
  const texts = t.value.workspace
  return (
    <div class={styles.page}>
      <div class={styles.head}>
        <Heading text={record?.displayName ?? workspace} />
        <span class={styles.row}>
          {data && <CodeButton request={() => accessRequest(workspace)} />}
          {own.length > 0 && mayConnect && (
            <ButtonLink href={`/-/set-up?workspace=${encodeURIComponent(workspace)}`}>{texts.addData}</ButtonLink>
          )}
        </span>
      </div>
      {isNowhere(error) && (
        <Empty title={texts.notFound}>
          <ButtonLink href="/">{t.value.shell.home}</ButtonLink>
        </Empty>
      )}
      {error && !isNowhere(error) && !data && <Fault error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={5} />}
      {data && own.length === 0 && (
        <Empty title={texts.none} text={texts.noneText}>
          {user.isAdministrator && (
            <ButtonLink look="primary" href={`/-/set-up?workspace=${encodeURIComponent(workspace)}`}>
              {texts.addData}
            </ButtonLink>
          )}
        </Empty>
      )}
      {own.length > 0 && (
        <>
          <p class={styles.quiet}>{texts.choose}</p>
          <ul class={styles.cards}>
            {own.slice(0, 200).map(({ name, title, description, icon, color }) => (
              <li key={name} class={styles.stack}>
                <a class={`${styles.card} ${styles.named}`} href={pathTo(workspace, 'items', name)}>
                  <span class={styles.mark}>
                    <CollectionMark emoji={icon} color={color} />
                  </span>
                  <span>
                    <strong dir="auto">{title}</strong>
                    {description && (
                      <span class={styles.quiet} dir="auto">
                        {description}
                      </span>
                    )}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      {data && access?.entitlements.includes('auditLog:read') === true && <Recent workspace={workspace} />}
      {record && (mayEdit || mayDelete) && <Settings workspace={record} mayEdit={mayEdit} mayDelete={mayDelete} />}
    </div>
  )
}
