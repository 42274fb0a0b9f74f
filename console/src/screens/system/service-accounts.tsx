/** Accounts of programs: one's own, for administrators all; made, changed, given keys, deleted. */
import type { ServiceAccount } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { placePath } from '../../app/places.ts'
import { address, navigate } from '../../app/router.ts'
import { system } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import type { User } from '../../data/session.ts'
import { accountTexts } from '../../messages/account.ts'
import { formatTime, listed } from '../../messages/messages.ts'
import { systemTexts } from '../../messages/system.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Empty, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Keys } from '../account/keys.tsx'
import { Section } from '../account/section.tsx'
import { Entries } from '../audit/entries.tsx'
import { Missing } from '../missing.tsx'
import page from '../page.module.css'
import { AccountForm } from './account-form.tsx'
import { accountQuery, accountsQuery, requestOf, systemChanged } from './data.ts'
import { SystemPage } from './page.tsx'
import { Sure } from './sure.tsx'

export default function ServiceAccounts({ user }: { readonly user: User }) {
  const id = address.value.searchParams.get('id')
  return (
    <SystemPage at="service-accounts" user={user} request={requestOf('service-accounts', 'serviceAccounts.list')}>
      {id === null ? <AccountList user={user} /> : <OneAccount key={id} id={id} user={user} />}
    </SystemPage>
  )
}

function AccountList({ user }: { readonly user: User }) {
  const texts = systemTexts.value
  const { data, error, refetch } = useQuery(accountsQuery())
  const [isMaking, setMaking] = useState(false)
  const make = (
    <Button look="primary" onClick={() => setMaking(true)}>
      {texts.newAccount}
    </Button>
  )
  return (
    <>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={4} />
      {data?.length === 0 && (
        <Empty title={texts.noAccounts} text={texts.noAccountsText}>
          {make}
        </Empty>
      )}
      {data && data.length > 0 && (
        <>
          <div class={page.row}>{make}</div>
          <Table
            label={texts.allAccounts}
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              { title: texts.name, cell: ({ id, name }) => <a href={placePath('service-accounts', { id })}>{name}</a> },
              { title: texts.owner, cell: ({ serviceAccountOwner: { email, fullName } }) => fullName ?? email },
              { title: texts.workspaces, cell: ({ roles }) => workspacesOf(roles) },
              { title: texts.status, cell: ({ status }) => texts.statuses[status] },
              { title: texts.since, cell: ({ createdAt }) => formatTime(createdAt, { dateStyle: 'medium' }) },
            ]}
          />
        </>
      )}
      {isMaking && (
        <Dialog title={texts.newAccount} onClose={() => setMaking(false)}>
          <AccountForm
            user={user}
            onSaved={({ id }) => navigate(placePath('service-accounts', { id }))}
            onCancel={() => setMaking(false)}
          />
        </Dialog>
      )}
    </>
  )
}

const workspacesOf = (roles: ServiceAccount['roles']) => listed([...new Set(roles.map(({ workspace }) => workspace))])

function OneAccount({ id, user }: { readonly id: string; readonly user: User }) {
  const texts = systemTexts.value
  const { data, error, refetch } = useQuery(accountQuery(id))
  const [isDeleting, setDeleting] = useState(false)
  if (error?.status === 404 || error?.status === 422) return <Missing />
  return (
    <>
      <p class={page.quiet}>
        <a href="/-/service-accounts">{texts.allAccounts}</a>
      </p>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={6} />
      {data && (
        <>
          <Section title={data.name} action={<Entries id={id} name={data.name} />}>
            <AccountForm account={data} user={user} onSaved={() => showToast(texts.saved)} />
          </Section>
          <Keys userId={id} text={texts.accountKeys} />
          <Section title={texts.delete} text={texts.deleteAccountText}>
            <div class={page.row}>
              <Button look="risky" onClick={() => setDeleting(true)}>
                {texts.deleteOf(data.name)}
              </Button>
            </div>
          </Section>
          {isDeleting && (
            <Sure
              title={texts.deleteOf(data.name)}
              label={accountTexts.value.delete}
              typed={data.name}
              onConfirm={() => system.serviceAccounts.delete(id)}
              onDone={() => {
                showToast(texts.deleted(data.name))
                navigate('/-/service-accounts', 'replace')
                void systemChanged()
              }}
              onClose={() => setDeleting(false)}
            >
              <p>{texts.deleteAccountText}</p>
            </Sure>
          )}
        </>
      )}
    </>
  )
}
