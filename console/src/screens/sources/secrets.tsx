/** Named secrets: written, changed and deleted, and never shown. */
import type { ServiceError } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { queries, useQuery } from '../../data/queries.ts'
import { formatTime, listed, t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Empty, Notice, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { type Secret, secretsQuery, usersQuery } from './data.ts'
import { useEntitled } from './rights.tsx'
import styles from './sources.module.css'

type OpenDialog =
  | { readonly what: 'write'; readonly name: string | undefined }
  | { readonly what: 'delete'; readonly name: string }

export function Secrets({ workspace }: { readonly workspace: string }) {
  const texts = sourceTexts.value
  const { data, error, refetch } = useQuery(secretsQuery(workspace))
  const mayRead = useEntitled(workspace, 'dataSource:read')
  const { data: users } = useQuery({ ...usersQuery(workspace), enabled: mayRead })
  const [dialog, setDialog] = useState<OpenDialog>()
  const close = () => setDialog(undefined)
  const usersOf = (name: string) => users && (users.get(name) ?? [])
  const write = (
    <Button look="primary" onClick={() => setDialog({ what: 'write', name: undefined })}>
      {texts.newSecret}
    </Button>
  )
  const actions = ({ name }: Secret) => (
    <span class={styles.actions}>
      <Button aria-label={texts.rotateOf(name)} onClick={() => setDialog({ what: 'write', name })}>
        {texts.rotate}
      </Button>
      <Button look="risky" aria-label={texts.deleteOf(name)} onClick={() => setDialog({ what: 'delete', name })}>
        {texts.delete}
      </Button>
    </span>
  )
  return (
    <div class={styles.part}>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={3} />
      {data?.length === 0 && (
        <Empty title={texts.noSecretsYet} text={texts.noSecretsText}>
          {write}
        </Empty>
      )}
      {data && data.length > 0 && (
        <>
          <div class={page.row}>{write}</div>
          <Table
            label={texts.parts.secrets}
            rows={data}
            keyOf={({ name }) => name}
            columns={[
              { title: texts.secret, cell: ({ name }) => <code dir="ltr">{name}</code> },
              ...(users
                ? [{ title: texts.users, cell: ({ name }: Secret) => listed(usersOf(name) ?? []) || texts.noUsers }]
                : []),
              { title: texts.created, cell: ({ createdAt }) => formatTime(createdAt) },
              { title: texts.updated, cell: ({ updatedAt }) => formatTime(updatedAt) },
              { title: texts.actions, cell: actions },
            ]}
          />
        </>
      )}
      {dialog?.what === 'write' && (
        <WriteSecret
          workspace={workspace}
          name={dialog.name}
          users={dialog.name === undefined ? [] : usersOf(dialog.name)}
          onClose={close}
        />
      )}
      {dialog?.what === 'delete' && <Delete workspace={workspace} name={dialog.name} onClose={close} />}
    </div>
  )
}

type WriteProps = {
  readonly workspace: string
  /** Undefined of a new one. */
  readonly name: string | undefined
  /** The sources that are opened anew with it; undefined where they are not told. */
  readonly users: readonly string[] | undefined
  readonly onClose: () => void
}

export function WriteSecret({ workspace, name: known, users, onClose }: WriteProps) {
  const texts = sourceTexts.value
  const named = users && listed(users)
  const [name, setName] = useState(known ?? '')
  const [value, setValue] = useState('')
  const [wrong, setWrong] = useState<string>()
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await clientOf(workspace).$request('PUT', secretPath(name), { body: { value } })
    if (!answer.ok) {
      const reason = failureIn(answer.error, users ?? [])
      setWrong(reason)
      return reason === undefined ? faultOf(answer) : undefined
    }
    showToast(named ? texts.reopened(named) : texts.written)
    onClose()
    await secretsChanged(workspace)
    return undefined
  })
  return (
    <Dialog title={known === undefined ? texts.newSecret : texts.changeSecret(known)} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        {known !== undefined && <p>{named === '' ? texts.rotateUnused : texts.rotateText}</p>}
        {named && <p class={page.quiet}>{`${texts.users}: ${named}`}</p>}
        {known === undefined && (
          <Field
            label={texts.secret}
            hint={texts.secretText}
            required
            autofocus
            dir="ltr"
            pattern="[a-z][a-z0-9_]{0,39}"
            autocomplete="off"
            spellcheck={false}
            value={name}
            onValue={setName}
          />
        )}
        <Field
          type="password"
          label={texts.value}
          dir="ltr"
          autocomplete="off"
          required
          canShow
          value={value}
          onValue={(next) => {
            setValue(next)
            setWrong(undefined)
          }}
          {...(wrong !== undefined && { error: wrong })}
        />
        <FormActions label={named === '' ? texts.save : texts.testAndSave} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

/** Why a source does not work with a new value; undefined where something else is wrong. */
function failureIn({ messages: [, source = '', ...rest] }: ServiceError, users: readonly string[]): string | undefined {
  const { away, oldStays } = sourceTexts.value
  const reason = rest.at(-1)
  if (reason === undefined || !users.includes(source)) return undefined
  const why = reason === 'Failed to connect to the database' ? away : `${reason}.`
  return `${source}: ${why} ${oldStays}`
}

type DeleteProps = { readonly workspace: string; readonly name: string; readonly onClose: () => void }

function Delete({ workspace, name, onClose }: DeleteProps) {
  const texts = sourceTexts.value
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await clientOf(workspace).$request('DELETE', secretPath(name))
    // The service says which source uses it.
    if (!answer.ok && answer.status === 409) return answer.error.messages.join(': ')
    if (!answer.ok && answer.status !== 404) return faultOf(answer)
    onClose()
    await secretsChanged(workspace)
    return undefined
  })
  return (
    <Dialog title={texts.deleteOf(name)} onClose={onClose}>
      {fault && <Notice look="danger">{fault}</Notice>}
      <p>{texts.deleteSecretText}</p>
      <DialogActions>
        <Button onClick={onClose}>{t.value.common.cancel}</Button>
        <Button look="danger" isBusy={isBusy} onClick={(event) => void submit(event)}>
          {texts.delete}
        </Button>
      </DialogActions>
    </Dialog>
  )
}

const secretPath = (name: string) => `secrets/${encodeURIComponent(name.trim())}`

/** What uses it is opened anew, and may have another state. */
async function secretsChanged(workspace: string): Promise<void> {
  await queries.invalidateQueries({ queryKey: ['secrets', workspace] })
  await queries.invalidateQueries({ queryKey: ['sources', workspace] })
}
