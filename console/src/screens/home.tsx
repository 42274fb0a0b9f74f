/** The workspaces that one is in, and what administrators have to know of license and databases. */
import { useState } from 'preact/hooks'
import { CodeButton } from '../app/code.tsx'
import { navigate, pathTo } from '../app/router.ts'
import { useQuery } from '../data/queries.ts'
import type { Info, User } from '../data/session.ts'
import { type Workspace, workspacesQuery } from '../data/workspaces.ts'
import { compareNames, listParts, t } from '../messages/messages.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { Heading } from '../ui/heading.tsx'
import { initialOf } from '../ui/icon.tsx'
import { Empty, Notice, Pending } from '../ui/notice.tsx'
import { Recent } from './audit/recent.tsx'
import type { CodeRequest } from './code/request.ts'
import { LicenseState, licenseWarnings } from './license.tsx'
import { NewWorkspace } from './new-workspace.tsx'
import styles from './page.module.css'

export function Home({ user, info }: { readonly user: User; readonly info: Info }) {
  const { data, error, refetch } = useQuery(workspacesQuery())
  const [isCreating, setCreating] = useState(false)
  const texts = t.value.home
  return (
    <div class={styles.page}>
      <div class={styles.head}>
        <Heading text={texts.title} />
        <span class={styles.row}>
          {data && data.length > 0 && <CodeButton request={() => workspacesRequest} />}
          {user.isAdministrator && data && data.length > 0 && (
            <Button look="primary" tool="add" onClick={() => setCreating(true)}>
              {texts.create}
            </Button>
          )}
        </span>
      </div>
      <Warnings info={info} user={user} />
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={4} />
      {data?.length === 0 && (
        <Empty title={texts.none} text={user.isAdministrator ? texts.noneTextAdministrator : texts.noneText}>
          {user.isAdministrator && (
            <ButtonLink look="primary" href="/-/set-up">
              {t.value.setUp.resume}
            </ButtonLink>
          )}
        </Empty>
      )}
      {data && data.length > 0 && <Cards workspaces={data} />}
      {user.isAdministrator && data && <Recent />}
      {user.isAdministrator && info.license && <LicenseState license={info.license} isShort />}
      {isCreating && (
        <Dialog title={texts.create} onClose={() => setCreating(false)}>
          <NewWorkspace onCreated={({ apiName }) => navigate(pathTo(apiName))} onCancel={() => setCreating(false)} />
        </Dialog>
      )}
    </div>
  )
}

/** So many are seen at a glance; of more one is found by its name. */
const SEEN = 12

function Cards({ workspaces }: { readonly workspaces: readonly Workspace[] }) {
  const [text, setText] = useState('')
  const texts = t.value.home
  const wanted = text.trim().toLowerCase()
  const found = workspaces
    .map(({ id, apiName, displayName }) => ({ id, apiName, name: displayName ?? apiName }))
    .filter(({ apiName, name }) => `${name} ${apiName}`.toLowerCase().includes(wanted))
    .toSorted((one, other) => compareNames(one.name, other.name))
  return (
    <>
      {workspaces.length > SEEN && (
        <div class={styles.find}>
          <Field type="search" label={texts.find} value={text} onValue={setText} />
        </div>
      )}
      {found.length === 0 && <p role="status">{texts.noneFound}</p>}
      <ul class={styles.cards}>
        {found.map(({ id, apiName, name }) => (
          <li key={id} class={styles.stack}>
            <a class={`${styles.card} ${styles.named}`} href={pathTo(apiName)}>
              <span class={styles.mark} aria-hidden="true">
                {initialOf(name)}
              </span>
              <span>
                <strong dir="auto">{name}</strong>
                {name !== apiName && <span class={styles.quiet}>{apiName}</span>}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

const workspacesRequest: CodeRequest = {
  workspace: undefined,
  path: '/system/workspaces',
  query: {},
  call: ['system', 'workspaces.list'],
}

type WarningsProps = { readonly info: Info; readonly user: User }

function Warnings({ info, user }: WarningsProps) {
  const texts = t.value.home
  const ofLicense = licenseWarnings(info, user.isAdministrator)
  const drifted = (info.warnings ?? []).flatMap(({ kind, workspace }) =>
    kind === 'schemaDrift' && workspace ? [workspace] : [],
  )
  if (ofLicense.length + drifted.length === 0) return null
  return (
    <section class={styles.stack} aria-label={texts.warnings}>
      {ofLicense.map((text) => (
        <Notice key={text} look="warning">
          {text}
        </Notice>
      ))}
      {drifted.length > 0 && <Drifted workspaces={[...new Set(drifted)].toSorted(compareNames)} />}
    </section>
  )
}

/** Each leads to its sources, where the change is taken in. */
function Drifted({ workspaces }: { readonly workspaces: readonly string[] }) {
  const texts = t.value.home
  return (
    <Notice look="warning">
      {texts.drift}{' '}
      {listParts(workspaces).map(({ isValue, text }) =>
        isValue ? (
          <a key={text} href={pathTo(text, 'sources')}>
            <bdi>{text}</bdi>
          </a>
        ) : (
          text
        ),
      )}
    </Notice>
  )
}
