/** What a service account is called, whose it is, and which roles it has in which workspaces. */
import type { ServiceAccount } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { system } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import type { User } from '../../data/session.ts'
import { unsavedAt } from '../../data/unsaved.ts'
import { workspacesQuery } from '../../data/workspaces.ts'
import { accessTexts } from '../../messages/access.ts'
import { accountTexts } from '../../messages/account.ts'
import { listed } from '../../messages/messages.ts'
import { systemTexts } from '../../messages/system.ts'
import { FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice, Skeleton } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { Choices } from '../access/choices.tsx'
import { assignable, rolesQuery } from '../access/data.ts'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { systemChanged } from './data.ts'
import styles from './system.module.css'

type AccountFormProps = {
  /** Undefined of a new one. */
  readonly account?: ServiceAccount
  readonly user: User
  readonly onSaved: (saved: ServiceAccount) => void
  readonly onCancel?: () => void
}

type Roles = ServiceAccount['roles']

/** What was typed and is not saved. */
type Draft = {
  readonly name?: string
  readonly description?: string
  readonly owner?: string
  readonly roles?: Roles
}

export function AccountForm({ account, user, onSaved, onCancel }: AccountFormProps) {
  const texts = systemTexts.value
  const ownerBefore = account?.serviceAccountOwner.email ?? user.email
  const draft = unsavedAt<Draft>(['service account', user.id, account?.id], {})
  const { name = account?.name ?? '', description = account?.description ?? '', owner = ownerBefore } = draft.value
  const roles = draft.value.roles ?? account?.roles ?? []
  const type = (typed: Draft) => {
    draft.value = { ...draft.value, ...typed }
  }
  const isChanged = Object.keys(draft.value).length > 0
  const forget = () => {
    draft.value = {}
    onCancel?.()
  }
  const [ownerFault, setOwnerFault] = useState<string>()
  const { fault, isBusy, submit } = useSubmission(async () => {
    setOwnerFault(undefined)
    const change = {
      name: name.trim(),
      description: description.trim() || null,
      ...(isSameRoles(roles, account?.roles ?? []) ? {} : { roles }),
    }
    const wanted = owner.trim()
    if (wanted !== ownerBefore) {
      const found = await system.users.list({ filter: { email: { _eq: wanted } }, fields: ['id'], limit: 1 })
      if (!found.ok) return faultOf(found)
      const [person] = found.data
      if (person === undefined) {
        setOwnerFault(texts.noOwner)
        return texts.noOwner
      }
      Object.assign(change, { owner: person.id })
    }
    const answer = await (account === undefined
      ? system.serviceAccounts.create(change)
      : system.serviceAccounts.update(account.id, change))
    if (!answer.ok) return faultOf(answer, { 403: accessTexts.value.exceeds })
    await systemChanged()
    draft.value = {}
    onSaved(answer.data)
    return undefined
  })
  return (
    <form class={styles.form} onSubmit={submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      <Field
        label={texts.name}
        required
        autofocus={account === undefined}
        maxLength={200}
        value={name}
        onValue={(typed) => type({ name: typed })}
      />
      <Field
        label={texts.description}
        isOptional
        value={description}
        onValue={(typed) => type({ description: typed })}
      />
      {user.isAdministrator && (
        <Field
          label={texts.owner}
          type="email"
          hint={texts.ownerHint}
          error={ownerFault}
          required
          autocomplete="off"
          value={owner}
          onValue={(typed) => type({ owner: typed })}
        />
      )}
      <RolesByWorkspace roles={roles} onRoles={(chosen) => type({ roles: chosen })} />
      <FormActions
        label={account === undefined ? texts.makeAccount : texts.save}
        isBusy={isBusy}
        onCancel={onCancel !== undefined || isChanged ? forget : undefined}
      />
    </form>
  )
}

function isSameRoles(one: Roles, other: Roles): boolean {
  const written = (roles: Roles) =>
    roles
      .map(({ workspace, roleId }) => `${workspace} ${roleId}`)
      .toSorted()
      .join()
  return written(one) === written(other)
}

type RolesProps = { readonly roles: Roles; readonly onRoles: (roles: Roles) => void }

function RolesByWorkspace({ roles, onRoles }: RolesProps) {
  const texts = systemTexts.value
  const { data: known = [] } = useQuery(workspacesQuery())
  const held = [...new Set(roles.map(({ workspace }) => workspace))]
  const names = [...new Set([...held, ...known.map(({ apiName }) => apiName)])]
  const [chosen, setChosen] = useState('')
  const workspace = chosen === '' ? names[0] : chosen
  // Those of the workspace that is shown are seen in its list.
  const others = held.filter((one) => one !== workspace)
  return (
    <div class={page.stack}>
      <h3>{texts.roles}</h3>
      <p class={page.quiet}>{texts.rolesHint}</p>
      {held.length === 0 && <p>{texts.noRoles}</p>}
      {others.length > 0 && (
        <ul class={styles.list}>
          {others.map((one) => (
            <li key={one}>
              <bdi>{one}</bdi>: <RoleNames workspace={one} roles={roles} />
            </li>
          ))}
        </ul>
      )}
      {workspace !== undefined && (
        <>
          <Select
            label={accountTexts.value.workspace}
            value={workspace}
            onValue={setChosen}
            options={names.map((one) => [one, one])}
          />
          <RolesIn key={workspace} workspace={workspace} roles={roles} onRoles={onRoles} />
        </>
      )}
    </div>
  )
}

type InProps = { readonly workspace: string; readonly roles: Roles }

const idsIn = ({ workspace, roles }: InProps) =>
  roles.filter((role) => role.workspace === workspace).map(({ roleId }) => roleId)

function RoleNames(props: InProps) {
  const { data = [] } = useQuery(rolesQuery(props.workspace))
  const names = idsIn(props).map((id) => data.find((role) => role.id === id)?.name ?? systemTexts.value.unknownRole)
  return <bdi>{listed(names)}</bdi>
}

function RolesIn({ onRoles, ...props }: InProps & RolesProps) {
  const texts = systemTexts.value
  const { workspace, roles } = props
  const { data, error } = useQuery(rolesQuery(workspace))
  if (error) return <p class={page.quiet}>{texts.rolesHidden}</p>
  if (data === undefined) return <Skeleton lines={2} />
  const others = roles.filter((role) => role.workspace !== workspace)
  return (
    <Choices
      label={texts.rolesIn(workspace)}
      options={assignable(data).map(({ id, name }) => [id, name])}
      chosen={idsIn(props)}
      onChosen={(ids) => onRoles([...others, ...ids.map((roleId) => ({ workspace, roleId }))])}
    />
  )
}
