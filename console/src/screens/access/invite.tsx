/** Asking somebody into a workspace, by a mail. */
import type { Invitation } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { useQuery } from '../../data/queries.ts'
import { mailless } from '../../data/session.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { EmailField, faultOf, useSubmission } from '../submission.tsx'
import { Choices } from './choices.tsx'
import { accessOf, assignable, peopleChanged, rolesQuery } from './data.ts'

type InviteProps = { readonly workspace: string; readonly onClose: () => void }

type Lifetime = '1d' | '7d' | '30d'

export function Invite({ workspace, onClose }: InviteProps) {
  const texts = t.value.access
  const { data: roles = [] } = useQuery(rolesQuery(workspace))
  const [email, setEmail] = useState('')
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [made, setMade] = useState<Invitation>()
  const [expiresIn, setExpiresIn] = useState<Lifetime>('7d')
  const { fault, isBusy, submit } = useSubmission(async () => {
    const invitation = { email: email.trim(), workspace_roles: chosen, expiresIn }
    const answer = await accessOf(workspace).invitations.create(invitation)
    if (!answer.ok) return faultOf(answer, { 403: texts.exceeds })
    if (mailless.value === undefined) {
      showToast(texts.invited(answer.data.email))
      onClose()
    } else setMade(answer.data)
    await peopleChanged(workspace)
  })
  if (made !== undefined) return <Unmailed invitation={made} onClose={onClose} />
  return (
    <Dialog title={texts.invite} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        <EmailField value={email} onValue={setEmail} />
        <Choices
          label={texts.roles}
          options={assignable(roles).map(({ id, name }) => [id, name])}
          chosen={chosen}
          onChosen={setChosen}
        />
        <Select
          label={t.value.account.expires}
          value={expiresIn}
          onValue={setExpiresIn}
          options={(['1d', '7d', '30d'] as const).map((one) => [one, texts.lifetimes[one]])}
        />
        <FormActions label={texts.sendInvitation} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

/** Where no mail goes out: how they get in. The link has the token that whoever invites is shown once, and nobody else. */
function Unmailed({ invitation, onClose }: { readonly invitation: Invitation; readonly onClose: () => void }) {
  const texts = t.value.access
  const { email, token = '' } = invitation
  const link = `${location.origin}/-/invitation#token=${encodeURIComponent(token)}&email=${encodeURIComponent(email)}`
  return (
    <Dialog title={texts.invite} onClose={onClose}>
      <div class={page.stack}>
        <Notice look="warning">{texts.unmailed[mailless.value ?? 'none'](email)}</Notice>
        <p>{texts.unmailedLink(email)}</p>
        <p>{texts.unmailedNew}</p>
        <Field label={texts.invitationLink} dir="ltr" readOnly value={link} onValue={() => {}} />
        <DialogActions>
          <Button onClick={onClose}>{t.value.common.close}</Button>
          <CopyButton text={link} />
        </DialogActions>
      </div>
    </Dialog>
  )
}
