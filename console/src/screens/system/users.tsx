/** Everybody with an account: found by name or address, and one of them. */
import type { User } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { placePath } from '../../app/places.ts'
import { address, navigate } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import type { User as Reader } from '../../data/session.ts'
import { workspacesQuery } from '../../data/workspaces.ts'
import { accountTexts } from '../../messages/account.ts'
import { formatTime, t } from '../../messages/messages.ts'
import { systemTexts } from '../../messages/system.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Empty, Pending } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { Table } from '../../ui/table.tsx'
import { Invite } from '../access/invite.tsx'
import page from '../page.module.css'
import { PAGE, requestOf, usersQuery } from './data.ts'
import { SystemPage } from './page.tsx'
import styles from './system.module.css'
import { OneUser } from './user.tsx'

export default function Users({ user }: { readonly user: Reader }) {
  const { searchParams } = address.value
  const id = searchParams.get('id')
  const wanted = searchParams.get('q') ?? ''
  return (
    <SystemPage at="users" user={user} request={requestOf('users', 'users.list')}>
      {id === null ? <UserList key={wanted} wanted={wanted} /> : <OneUser key={id} id={id} />}
    </SystemPage>
  )
}

function UserList({ wanted }: { readonly wanted: string }) {
  const texts = systemTexts.value
  const [typed, setTyped] = useState(wanted)
  const [most, setMost] = useState(PAGE)
  const [isInviting, setInviting] = useState(false)
  const { data, error, refetch } = useQuery(usersQuery(wanted, most))
  return (
    <>
      <form
        class={styles.search}
        onSubmit={(event) => {
          event.preventDefault()
          navigate(typed.trim() === '' ? '/-/users' : placePath('users', { q: typed.trim() }))
        }}
      >
        <Field label={texts.find} type="search" value={typed} onValue={setTyped} />
        <Button type="submit">{texts.search}</Button>
        <Button look="primary" onClick={() => setInviting(true)}>
          {texts.invite}
        </Button>
      </form>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={6} />
      {data?.length === 0 && <Empty title={texts.none} />}
      {data && data.length > 0 && (
        <Table
          label={texts.allUsers}
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            { title: texts.person, cell: (one) => <Person {...one} /> },
            { title: texts.status, cell: ({ status }) => texts.statuses[status] },
            { title: texts.administrator, cell: ({ isAdministrator }) => (isAdministrator ? texts.yes : texts.no) },
            { title: texts.since, cell: ({ createdAt }) => formatTime(createdAt, { dateStyle: 'medium' }) },
          ]}
        />
      )}
      {data?.length === most && (
        <div class={page.row}>
          <Button onClick={() => setMost(most + PAGE)}>{texts.more}</Button>
        </div>
      )}
      {isInviting && <InviteSomewhere onClose={() => setInviting(false)} />}
    </>
  )
}

function Person({ id, email, fullName }: User) {
  return (
    <span class={styles.person}>
      <a href={placePath('users', { id })}>{fullName ?? email}</a>
      {fullName && <span class={page.quiet}>{email}</span>}
    </span>
  )
}

/** Accounts begin with an invitation, which is to a workspace. */
function InviteSomewhere({ onClose }: { readonly onClose: () => void }) {
  const texts = systemTexts.value
  const { data: workspaces = [], isPending } = useQuery(workspacesQuery())
  const [chosen, setChosen] = useState('')
  const [workspace, setWorkspace] = useState<string>()
  const first = workspaces[0]?.apiName
  if (workspace !== undefined) return <Invite workspace={workspace} onClose={onClose} />
  return (
    <Dialog title={texts.invite} onClose={onClose}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          setWorkspace(chosen === '' ? first : chosen)
        }}
      >
        <p>{first === undefined && !isPending ? texts.inviteNowhere : texts.inviteText}</p>
        {first !== undefined && (
          <Select
            label={accountTexts.value.workspace}
            value={chosen === '' ? first : chosen}
            onValue={setChosen}
            options={workspaces.map(({ apiName, displayName }) => [apiName, displayName ?? apiName])}
          />
        )}
        <FormActions label={t.value.common.continue} isDisabled={first === undefined} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
