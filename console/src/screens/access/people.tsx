/** The members of a workspace and who is invited: to invite, to give roles, to suspend, to remove. */
import type { Invitation, Member, PlannedRights } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { useQuery } from '../../data/queries.ts'
import { accessTexts } from '../../messages/access.ts'
import { accountTexts } from '../../messages/account.ts'
import { formatTime, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { faultOf } from '../submission.tsx'
import styles from './access.module.css'
import { Choices } from './choices.tsx'
import { Confirm } from './confirm.tsx'
import {
  accessOf,
  assignable,
  invitationsQuery,
  isSame,
  membersQuery,
  namesOf,
  peopleChanged,
  rolesQuery,
} from './data.ts'
import { Invite } from './invite.tsx'

type PeopleProps = { readonly workspace: string; readonly mayEdit: boolean }

export function People({ workspace, mayEdit }: PeopleProps) {
  const [isInviting, setInviting] = useState(false)
  return (
    <>
      <Members workspace={workspace} mayEdit={mayEdit} onInvite={() => setInviting(true)} />
      <Invitations workspace={workspace} mayEdit={mayEdit} />
      {isInviting && <Invite workspace={workspace} onClose={() => setInviting(false)} />}
    </>
  )
}

type OpenDialog = { readonly member: Member; readonly what: 'roles' | 'status' | 'removal' }

function Members({ workspace, mayEdit, onInvite }: PeopleProps & { readonly onInvite: () => void }) {
  const texts = accessTexts.value
  const { data, error, refetch } = useQuery(membersQuery(workspace))
  const { data: roles = [] } = useQuery(rolesQuery(workspace))
  const [dialog, setDialog] = useState<OpenDialog>()
  /** As it is by now: what was just changed may arrive behind the dialog, and decides what a change does. */
  const current = (member: Member) => data?.find(({ userId }) => userId === member.userId) ?? member
  const done = () => {
    setDialog(undefined)
    return peopleChanged(workspace)
  }
  const actions = (member: Member) => (
    <span class={styles.actions}>
      <Button aria-label={texts.rolesOf(member.email)} onClick={() => setDialog({ member, what: 'roles' })}>
        {texts.changeRoles}
      </Button>
      <Button
        aria-label={texts.turnOf(member.status === 'active', member.email)}
        onClick={() => setDialog({ member, what: 'status' })}
      >
        {member.status === 'active' ? texts.suspend : texts.activate}
      </Button>
      <Button
        look="risky"
        aria-label={texts.removeOf(member.email)}
        onClick={() => setDialog({ member, what: 'removal' })}
      >
        {texts.remove}
      </Button>
    </span>
  )
  return (
    <div class={styles.part}>
      <div class={page.head}>
        <h2>{texts.members}</h2>
        {mayEdit && (
          <Button look="primary" onClick={onInvite}>
            {texts.invite}
          </Button>
        )}
      </div>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={4} />
      {data && (
        <Table
          label={texts.members}
          rows={data}
          keyOf={({ userId }) => userId}
          columns={[
            { title: texts.person, cell: (member) => <Person {...member} /> },
            { title: texts.roles, cell: (member) => namesOf(member.roles, roles) || texts.noRoles },
            { title: texts.status, cell: ({ status }) => texts.statuses[status] },
            { title: texts.since, cell: ({ createdAt }) => formatTime(createdAt, { dateStyle: 'medium' }) },
            ...(mayEdit ? [{ title: texts.actions, cell: actions }] : []),
          ]}
        />
      )}
      {dialog?.what === 'roles' && (
        <MemberRoles workspace={workspace} member={current(dialog.member)} onClose={() => setDialog(undefined)} />
      )}
      {dialog?.what === 'removal' && (
        <Confirm
          workspace={workspace}
          title={texts.removeOf(dialog.member.email)}
          planned={plannedFor(current(dialog.member), null)}
          label={texts.remove}
          onConfirm={(how) => accessOf(workspace).members.delete(dialog.member.userId, how)}
          onDone={done}
          onClose={() => setDialog(undefined)}
        >
          {texts.removeText}
        </Confirm>
      )}
      {dialog?.what === 'status' && (
        <Turn workspace={workspace} {...dialog} onDone={done} onClose={() => setDialog(undefined)} />
      )}
    </div>
  )
}

type TurnProps = {
  readonly workspace: string
  readonly member: Member
  readonly onDone: () => Promise<void>
  readonly onClose: () => void
}

/** Suspends who is active, and makes active who is suspended. */
function Turn({ workspace, member, onDone, onClose }: TurnProps) {
  const texts = accessTexts.value
  const { userId, email, status, roles } = member
  const isActive = status === 'active'
  return (
    <Confirm
      workspace={workspace}
      title={texts.turnOf(isActive, email)}
      planned={{ members: { [userId]: isActive ? null : { roles } } }}
      label={isActive ? texts.suspend : texts.activate}
      look={isActive ? 'danger' : 'primary'}
      onConfirm={(how) =>
        accessOf(workspace).members.update(userId, { status: isActive ? 'suspended' : 'active' }, how)
      }
      onDone={onDone}
      onClose={onClose}
    >
      {isActive ? texts.suspendText : texts.activateText}
    </Confirm>
  )
}

/** Whoever is suspended has no rights to lose, nor gets any. */
function plannedFor({ userId, status }: Member, change: { readonly roles: readonly string[] } | null): PlannedRights {
  return status === 'active' ? { members: { [userId]: change } } : {}
}

/** A service account has no address that anybody writes to. */
function Person({ email, fullName, isService }: Member) {
  return (
    <span class={styles.person}>
      <strong>{fullName ?? email}</strong>
      {isService ? (
        <span class={page.quiet}>{accessTexts.value.service}</span>
      ) : (
        fullName && <span class={page.quiet}>{email}</span>
      )}
    </span>
  )
}

type RolesProps = { readonly workspace: string; readonly member: Member; readonly onClose: () => void }

function MemberRoles({ workspace, member, onClose }: RolesProps) {
  const texts = accessTexts.value
  const { data: roles = [] } = useQuery(rolesQuery(workspace))
  const [chosen, setChosen] = useState<readonly string[]>(member.roles)
  const [isReviewed, setReviewed] = useState(false)
  const title = texts.rolesOf(member.email)
  if (isReviewed) {
    return (
      <Confirm
        workspace={workspace}
        title={title}
        planned={plannedFor(member, { roles: chosen })}
        label={accountTexts.value.save}
        look="primary"
        onConfirm={(how) => accessOf(workspace).members.update(member.userId, { roles: chosen }, how)}
        onDone={() => {
          onClose()
          return peopleChanged(workspace)
        }}
        onClose={() => setReviewed(false)}
      />
    )
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          if (isSame(chosen, member.roles)) onClose()
          else setReviewed(true)
        }}
      >
        <Choices
          label={texts.roles}
          options={assignable(roles).map(({ id, name }) => [id, name])}
          chosen={chosen}
          onChosen={setChosen}
        />
        <FormActions label={t.value.common.continue} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function Invitations({ workspace, mayEdit }: PeopleProps) {
  const texts = accessTexts.value
  const { data = [] } = useQuery(invitationsQuery(workspace))
  const { data: roles = [] } = useQuery(rolesQuery(workspace))
  const withdraw = async ({ id }: Invitation) => {
    const answer = await accessOf(workspace).invitations.delete(id)
    if (!answer.ok) showToast(faultOf(answer, { 403: texts.exceeds }), 'danger')
    await peopleChanged(workspace)
  }
  if (data.length === 0) return null
  const action = (invitation: Invitation) => (
    <Button aria-label={texts.withdrawOf(invitation.email)} onClick={() => void withdraw(invitation)}>
      {texts.withdraw}
    </Button>
  )
  return (
    <div class={styles.part}>
      <h2>{texts.invitations}</h2>
      <Table
        label={texts.invitations}
        rows={data}
        keyOf={({ id }) => id}
        columns={[
          { title: t.value.signIn.email, cell: ({ email }) => email },
          { title: texts.roles, cell: (one) => namesOf(one.workspace_roles, roles) || texts.noRoles },
          { title: accountTexts.value.expires, cell: ({ expiresAt }) => formatTime(expiresAt) },
          ...(mayEdit ? [{ title: texts.actions, cell: action }] : []),
        ]}
      />
    </div>
  )
}
