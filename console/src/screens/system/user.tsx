/** One account of a person: what it is and may, where it is a member, what hangs on it, and its end. */
import type { User } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { placePath } from '../../app/places.ts'
import { navigate, pathTo } from '../../app/router.ts'
import { system } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { checkSession, userId } from '../../data/session.ts'
import { accessTexts } from '../../messages/access.ts'
import { accountTexts } from '../../messages/account.ts'
import { formatNumber, formatTime, listed, t } from '../../messages/messages.ts'
import { systemTexts } from '../../messages/system.ts'
import { Button } from '../../ui/button.tsx'
import { Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Identifier } from '../account/identifier.tsx'
import { Keys, keysQuery } from '../account/keys.tsx'
import { Section } from '../account/section.tsx'
import { Entries } from '../audit/entries.tsx'
import { Missing } from '../missing.tsx'
import page from '../page.module.css'
import { accountsQuery, membershipsQuery, systemChanged, userQuery } from './data.ts'
import { faultMessageOf, Sure } from './sure.tsx'
import styles from './system.module.css'

export function OneUser({ id }: { readonly id: string }) {
  const texts = systemTexts.value
  const { data, error, refetch } = useQuery(userQuery(id))
  if (error?.status === 404 || error?.status === 422) return <Missing />
  return (
    <>
      <p class={page.quiet}>
        <a href="/-/users">{texts.allUsers}</a>
      </p>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={6} />
      {data && (
        <>
          <Account account={data} />
          <Memberships id={id} />
          <Owned id={id} />
          <Keys userId={id} text={texts.keysOfUser} mayMake={false} />
          <End account={data} />
        </>
      )}
    </>
  )
}

const confirmations = {
  suspend: { change: { status: 'suspended' }, title: 'suspendOf', text: 'suspendText', label: 'suspend' },
  promote: { change: { isAdministrator: true }, title: 'promoteOf', text: 'promoteText', label: 'promote' },
  demote: { change: { isAdministrator: false }, title: 'demoteOf', text: 'demoteText', label: 'demote' },
} as const

function Account({ account }: { readonly account: User }) {
  const texts = systemTexts.value
  const { id, email, fullName, status, isAdministrator, emailProvenAt, createdAt } = account
  const [question, setQuestion] = useState<keyof typeof confirmations>()
  const close = () => setQuestion(undefined)
  const done = () => {
    close()
    void systemChanged()
    if (id === userId.value) void checkSession()
  }
  const activate = async () => {
    const answer = await system.users.update(id, { status: 'active' })
    if (!answer.ok) showToast(faultMessageOf(answer), 'danger')
    done()
  }
  const right = isAdministrator ? 'demote' : 'promote'
  const chosen = question && confirmations[question]
  return (
    <Section title={fullName ?? email} action={<Entries id={id} name={fullName ?? email} />}>
      <dl class={styles.facts}>
        <dt>{t.value.signIn.email}</dt>
        <dd>{email}</dd>
        <dt>{texts.proven}</dt>
        <dd>{emailProvenAt === null ? texts.notProven : formatTime(emailProvenAt)}</dd>
        <dt>{texts.status}</dt>
        <dd>{texts.statuses[status]}</dd>
        <dt>{texts.administrator}</dt>
        <dd>{isAdministrator ? texts.yes : texts.no}</dd>
        <dt>{texts.since}</dt>
        <dd>{formatTime(createdAt)}</dd>
        <dt>{texts.id}</dt>
        <dd>
          <Identifier id={id} />
        </dd>
      </dl>
      <div class={page.row}>
        {status === 'active' ? (
          <Button onClick={() => setQuestion('suspend')}>{texts.suspend}</Button>
        ) : (
          <Button onClick={() => void activate()}>{texts.activate}</Button>
        )}
        <Button onClick={() => setQuestion(right)}>{texts[right]}</Button>
      </div>
      {chosen && (
        <Sure
          title={texts[chosen.title](email)}
          label={texts[chosen.label]}
          onConfirm={() => system.users.update(id, chosen.change)}
          onDone={done}
          onClose={close}
        >
          <p>{texts[chosen.text]}</p>
        </Sure>
      )}
    </Section>
  )
}

function End({ account }: { readonly account: User }) {
  const texts = systemTexts.value
  const [isDeleting, setDeleting] = useState(false)
  return (
    <Section title={texts.delete} text={texts.deleteUserShort}>
      <div class={page.row}>
        <Button look="risky" onClick={() => setDeleting(true)}>
          {texts.deleteOf(account.email)}
        </Button>
      </div>
      {isDeleting && <Deletion account={account} onClose={() => setDeleting(false)} />}
    </Section>
  )
}

type DeletionProps = { readonly account: User; readonly onClose: () => void }

/** Names what goes with it. */
function Deletion({ account: { id, email }, onClose }: DeletionProps) {
  const texts = systemTexts.value
  const { data: memberships = [] } = useQuery(membershipsQuery(id))
  const { data: accounts = [] } = useQuery(accountsQuery(id))
  const { data: keys = [] } = useQuery(keysQuery(id))
  const shown = (all: readonly unknown[]) => formatNumber(all.length)
  return (
    <Sure
      title={texts.deleteOf(email)}
      label={texts.delete}
      typed={email}
      onConfirm={() => system.users.delete(id)}
      onDone={() => {
        showToast(texts.deleted(email))
        navigate('/-/users', 'replace')
        void systemChanged()
      }}
      onClose={onClose}
    >
      <p>{texts.deleteUserText}</p>
      <ul class={styles.list}>
        <li>{texts.goes.sessions}</li>
        <li>{texts.goes.conversations}</li>
        <li>{texts.goes.memberships(shown(memberships))}</li>
        <li>{texts.goes.keys(shown(keys))}</li>
        {accounts.length > 0 && (
          <li>{texts.goes.accounts(shown(accounts), listed(accounts.map(({ name }) => name)))}</li>
        )}
      </ul>
    </Sure>
  )
}

function Memberships({ id }: { readonly id: string }) {
  const texts = systemTexts.value
  const { data, error, refetch } = useQuery(membershipsQuery(id))
  return (
    <Section title={texts.workspaces} text={texts.workspacesText}>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={2} />
      {data?.length === 0 && <p class={page.quiet}>{texts.noWorkspaces}</p>}
      {data && data.length > 0 && (
        <Table
          label={texts.workspaces}
          rows={data}
          keyOf={({ workspace }) => workspace}
          columns={[
            {
              title: accountTexts.value.workspace,
              cell: ({ workspace }) => <a href={pathTo(workspace, 'access')}>{workspace}</a>,
            },
            { title: texts.roles, cell: ({ roles }) => roles || accessTexts.value.noRoles },
            { title: texts.status, cell: ({ isActive }) => texts.statuses[isActive ? 'active' : 'suspended'] },
          ]}
        />
      )}
    </Section>
  )
}

function Owned({ id }: { readonly id: string }) {
  const texts = systemTexts.value
  const { data, error, refetch } = useQuery(accountsQuery(id))
  return (
    <Section title={texts.ownAccounts}>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={2} />
      {data?.length === 0 && <p class={page.quiet}>{texts.noOwnAccounts}</p>}
      {data && data.length > 0 && (
        <ul class={styles.list}>
          {data.map((one) => (
            <li key={one.id}>
              <a href={placePath('service-accounts', { id: one.id })}>{one.name}</a>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
