/** Asking somebody into a workspace, by a mail. */
import type { Invitation } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { pathTo } from '../../app/router.ts'
import { system } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { mailless, session } from '../../data/session.ts'
import { accessTexts } from '../../messages/access.ts'
import { accountTexts } from '../../messages/account.ts'
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
  const texts = accessTexts.value
  const { data: roles = [] } = useQuery(rolesQuery(workspace))
  const [email, setEmail] = useState('')
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [made, setMade] = useState<Made>()
  const [isWarned, setWarned] = useState(false)
  const [expiresIn, setExpiresIn] = useState<Lifetime>('7d')
  const { fault, isBusy, submit } = useSubmission(async () => {
    if (chosen.length === 0 && !isWarned) {
      setWarned(true)
      return undefined
    }
    const invitation = { email: email.trim(), workspace_roles: chosen, expiresIn }
    const answer = await accessOf(workspace).invitations.create(invitation)
    if (!answer.ok) return faultOf(answer, { 403: texts.exceeds })
    if (mailless.value === undefined) {
      showToast(texts.invited(answer.data.email))
      onClose()
    } else setMade({ invitation: answer.data, whose: await whose(answer.data.email) })
    await peopleChanged(workspace)
  })
  if (made !== undefined) return <Unmailed {...made} onClose={onClose} />
  const offered = assignable(roles)
  const isWithoutRole = isWarned && chosen.length === 0
  return (
    <Dialog title={texts.invite} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        {mailless.value && <Notice look="warning">{texts.unmailedBefore[mailless.value]}</Notice>}
        <EmailField value={email} onValue={setEmail} />
        <Choices
          label={texts.roles}
          options={offered.map(({ id, name }) => [id, name])}
          chosen={chosen}
          onChosen={setChosen}
        />
        {offered.length === 1 && <a href={pathTo(workspace, 'access', 'roles')}>{texts.makeRoles}</a>}
        {isWithoutRole && <Notice look="warning">{texts.noRoleChosen}</Notice>}
        <Select
          label={accountTexts.value.expires}
          value={expiresIn}
          onValue={setExpiresIn}
          options={(['1d', '7d', '30d'] as const).map((one) => [one, texts.lifetimes[one]])}
        />
        <FormActions
          label={isWithoutRole ? texts.inviteWithoutRole : texts.sendInvitation}
          isBusy={isBusy}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

type Made = { readonly invitation: Invitation; readonly whose: Whose }

/** What is known of an address: that it has an account which can accept by a link that is passed on, or that it needs a mail. */
type Whose = 'account' | 'new' | 'unknown'

/** Administrators of the service alone may look. */
async function whose(email: string): Promise<Whose> {
  if (session.value.kind !== 'signedIn' || !session.value.user.isAdministrator) return 'unknown'
  const found = await system.users.list({ filter: { email: { _eq: email } }, fields: ['emailProvenAt'], limit: 1 })
  if (!found.ok) return 'unknown'
  return found.data[0]?.emailProvenAt ? 'account' : 'new'
}

/** Where no mail goes out: how they get in. The link has the token that whoever invites is shown once, and nobody else. */
function Unmailed({ invitation, whose, onClose }: Made & { readonly onClose: () => void }) {
  const texts = accessTexts.value
  const { email, token = '' } = invitation
  const mail = mailless.value ?? 'none'
  const link = `${location.origin}/-/invitation#token=${encodeURIComponent(token)}&email=${encodeURIComponent(email)}`
  return (
    <Dialog title={texts.invite} onClose={onClose}>
      <div class={page.stack}>
        <Notice look="warning">{texts.unmailed[mail](email)}</Notice>
        {whose !== 'account' && (
          <>
            <h3>{texts.forNew}</h3>
            <p>{texts.unmailedNew[mail]}</p>
          </>
        )}
        {whose !== 'new' && (
          <>
            <h3>{texts.forAccount}</h3>
            <p>{texts.unmailedLink(email)}</p>
            <Field label={texts.invitationLink} dir="ltr" readOnly value={link} onValue={() => {}}>
              <CopyButton text={link} isSecondary={whose === 'unknown'} />
            </Field>
          </>
        )}
        <DialogActions>
          <Button look={whose === 'account' ? undefined : 'primary'} onClick={onClose}>
            {t.value.common.close}
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  )
}
