/** The roles of a workspace: each is a name for several policies, which its holders have together. */
import type { Role } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { pathTo } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import { userId } from '../../data/session.ts'
import { unsavedAt } from '../../data/unsaved.ts'
import { accessTexts } from '../../messages/access.ts'
import { accountTexts } from '../../messages/account.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Entries } from '../audit/entries.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import styles from './access.module.css'
import { Choices } from './choices.tsx'
import { Confirm } from './confirm.tsx'
import { accessOf, isSame, membersQuery, namesOf, peopleChanged, policiesQuery, rolesQuery } from './data.ts'

type RolesProps = { readonly workspace: string; readonly mayEdit: boolean }

/** Of a role that there is, or a new one. */
type OpenDialog = { readonly what: 'form'; readonly role?: Role } | { readonly what: 'removal'; readonly role: Role }

export function Roles({ workspace, mayEdit }: RolesProps) {
  const texts = accessTexts.value
  const { data, error, refetch } = useQuery(rolesQuery(workspace))
  const { data: policies = [] } = useQuery(policiesQuery(workspace))
  const { data: members = [] } = useQuery(membersQuery(workspace))
  const [dialog, setDialog] = useState<OpenDialog>()
  const close = () => setDialog(undefined)
  const actions = (role: Role) => (
    <span class={styles.actions}>
      {mayEdit && role.kind !== 'administrator' && (
        <Button aria-label={texts.editOf(role.name)} onClick={() => setDialog({ what: 'form', role })}>
          {texts.edit}
        </Button>
      )}
      {mayEdit && role.kind === 'custom' && (
        <Button
          look="risky"
          aria-label={texts.deleteOf(role.name)}
          onClick={() => setDialog({ what: 'removal', role })}
        >
          {texts.delete}
        </Button>
      )}
      <Entries workspace={workspace} id={role.id} name={role.name} />
    </span>
  )
  const grants = (role: Role) =>
    role.kind === 'administrator' ? texts.everything : namesOf(role.policies, policies) || texts.nothing
  const holders = ({ id, kind }: Role) =>
    kind === 'public' ? texts.everybody : String(members.filter(({ roles }) => roles.includes(id)).length)
  return (
    <div class={styles.part}>
      <div class={page.head}>
        <h2>{texts.roles}</h2>
        {mayEdit && (
          <Button look="primary" onClick={() => setDialog({ what: 'form' })}>
            {texts.newRole}
          </Button>
        )}
      </div>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={4} />
      {data && (
        <Table
          label={texts.roles}
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            { title: texts.name, cell: (role) => <Described name={role.name} text={role.description} /> },
            { title: texts.parts.policies, cell: grants },
            { title: texts.members, cell: holders },
            { title: texts.actions, cell: actions },
          ]}
        />
      )}
      {dialog?.what === 'form' && <RoleForm workspace={workspace} role={dialog.role} onClose={close} />}
      {dialog?.what === 'removal' && (
        <Confirm
          workspace={workspace}
          planned={{ roles: { [dialog.role.id]: null } }}
          title={texts.deleteOf(dialog.role.name)}
          label={texts.delete}
          onConfirm={(how) => accessOf(workspace).roles.delete(dialog.role.id, how)}
          onDone={() => {
            close()
            return peopleChanged(workspace)
          }}
          onClose={close}
        >
          {texts.removeRoleText}
        </Confirm>
      )}
    </div>
  )
}

/** What it is called, and below it what it is for. */
export function Described({ name, text }: { readonly name: string; readonly text: string | null }) {
  return (
    <span class={styles.person}>
      <strong>{name}</strong>
      {text && <span class={page.quiet}>{text}</span>}
    </span>
  )
}

type FormProps = { readonly workspace: string; readonly role: Role | undefined; readonly onClose: () => void }

/** What was typed of a role, which stays while a policy is made for it. */
type Typed = { readonly name?: string; readonly description?: string; readonly policies?: readonly string[] }

function RoleForm({ workspace, role, onClose }: FormProps) {
  const texts = accessTexts.value
  const { data: policies = [] } = useQuery(policiesQuery(workspace))
  const typed = unsavedAt<Typed>(['role', userId.value, workspace, role?.id], {})
  const { name = role?.name ?? '', description = role?.description ?? '' } = typed.value
  const chosen = typed.value.policies ?? role?.policies ?? []
  const type = (more: Typed) => {
    typed.value = { ...typed.value, ...more }
  }
  const close = () => {
    typed.value = {}
    onClose()
  }
  // What everybody without a credential may do has its name.
  const isNamed = role?.kind !== 'public'
  const [isReviewed, setReviewed] = useState(false)
  const { roles } = accessOf(workspace)
  const named = isNamed ? { name: name.trim(), description: description.trim() || null } : {}
  const form = { ...named, policies: chosen }
  const done = () => {
    close()
    return peopleChanged(workspace)
  }
  const { fault, isBusy, submit } = useSubmission(async () => {
    // Nobody has a role yet that is made, and a name gives nothing.
    if (role !== undefined && !isSame(chosen, role.policies)) {
      setReviewed(true)
      return undefined
    }
    const answer = await (role === undefined
      ? roles.create({ ...form, name: name.trim() })
      : roles.update(role.id, form))
    if (!answer.ok) return faultOf(answer, { 403: texts.exceeds })
    await done()
    return undefined
  })
  if (role !== undefined && isReviewed) {
    return (
      <Confirm
        workspace={workspace}
        title={accountTexts.value.saveOf(role.name)}
        planned={{ roles: { [role.id]: { policies: chosen } } }}
        label={accountTexts.value.save}
        look="primary"
        onConfirm={(how) => roles.update(role.id, form, how)}
        onDone={done}
        onClose={() => setReviewed(false)}
      />
    )
  }
  return (
    <Dialog title={role === undefined ? texts.newRole : texts.editOf(role.name)} onClose={close}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        {isNamed && (
          <>
            <Field
              label={texts.name}
              required
              autofocus
              maxLength={200}
              value={name}
              onValue={(to) => type({ name: to })}
            />
            <Field
              label={texts.description}
              isOptional
              value={description}
              onValue={(to) => type({ description: to })}
            />
          </>
        )}
        <Choices
          label={texts.parts.policies}
          options={policies.map(({ id, name: shown }) => [id, shown])}
          chosen={chosen}
          onChosen={(policies) => type({ policies })}
          none={texts.noPolicies}
        />
        <p>
          <a href={pathTo(workspace, 'access', 'policies', 'new')}>{texts.newPolicy}</a>
        </p>
        <FormActions label={accountTexts.value.save} isBusy={isBusy} onCancel={close} />
      </form>
    </Dialog>
  )
}
