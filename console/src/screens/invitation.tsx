/** Accepting an invitation by the token of its mail, which a link brings in its fragment; then one is inside of the workspace. */
import { useState } from 'preact/hooks'
import { navigate, pathTo } from '../app/router.ts'
import { instance, visitor } from '../data/client.ts'
import { queries, useQuery } from '../data/queries.ts'
import { sessionOpened } from '../data/session.ts'
import { t } from '../messages/messages.ts'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import styles from './entry.module.css'
import { Entry } from './entry.tsx'
import { SignInForm } from './sign-in.tsx'
import { EmailField, FullNameField, faultOf, NewPasswordField, Submission } from './submission.tsx'

type InvitationProps = { readonly given: { readonly token: string; readonly email: string } | undefined }
type Accepted = { readonly data: Member }
type Invited = {
  readonly email: string
  readonly workspace: { readonly apiName: string }
  readonly invitedBy: string | null
  /** Of the address; absent where the link came not by mail. */
  readonly account?: 'none' | 'unproven' | 'proven'
}
type Member = { readonly email: string; readonly workspace: { readonly apiName: string } }

export default function Invitation({ given }: InvitationProps) {
  const texts = t.value.invitation
  const [member, setMember] = useState<Member>()
  if (member === undefined) {
    return (
      <Entry title={texts.title}>
        <Accepting given={given} onMember={setMember} />
        <div class={styles.more}>
          <a href="/">{t.value.reset.back}</a>
        </div>
      </Entry>
    )
  }
  const { email, workspace } = member
  return (
    <Entry title={t.value.signIn.title}>
      <Notice look="good">{texts.done(workspace.apiName)}</Notice>
      <SignInForm email={email} onSignedIn={() => navigate(pathTo(workspace.apiName), 'replace')} />
    </Entry>
  )
}

const lookUp = (token: string) =>
  visitor.$request<{ data: Invited }>('POST', '/api/auth/invitations/lookup', { body: { token } }).orThrow()

type AcceptingProps = InvitationProps & { readonly onMember: (member: Member) => void }

/** Who gave a password that counts is signed in by it; others are asked for the one that they have. */
function Accepting({ given, onMember }: AcceptingProps) {
  const texts = t.value.invitation
  const { data, error } = useQuery({
    queryKey: ['invitation', given?.token],
    queryFn: () => lookUp(given?.token ?? ''),
    enabled: given !== undefined,
  })
  if (error?.status === 401) return <Notice look="danger">{texts.wrongToken}</Notice>
  // What is not known for another reason is asked for as of a token that is typed.
  const isKnown = given === undefined || data !== undefined || error !== null
  return isKnown ? <Acceptance given={given} invited={data?.data} onMember={onMember} /> : null
}

function Acceptance({ given, invited, onMember }: AcceptingProps & { readonly invited: Invited | undefined }) {
  const texts = t.value.invitation
  const [token, setToken] = useState(given?.token ?? '')
  const [fullName, setFullName] = useState('')
  const [password, setPassword] = useState('')
  const submit = async () => {
    const body = {
      token: token.trim(),
      ...(password !== '' && { password }),
      ...(fullName.trim() !== '' && { fullName: fullName.trim() }),
    }
    const known = { 401: texts.wrongToken, 403: texts.wrongAccount }
    const answer = await visitor.$request<Accepted>('POST', '/api/auth/invitations/accept', { body })
    if (!answer.ok) return faultOf(answer, password === '' ? { ...known, 422: texts.passwordNeeded } : known)
    void queries.invalidateQueries({ queryKey: ['workspaces'] })
    const member = answer.data.data
    const isSignedIn = password !== '' && (await instance.$auth.login({ email: member.email, password })).ok
    if (isSignedIn) {
      navigate(pathTo(member.workspace.apiName), 'replace')
      await sessionOpened()
    } else onMember(member)
    return undefined
  }
  const email = invited?.email ?? given?.email
  const account = invited?.account
  return (
    <Submission label={texts.submit} onSubmit={submit}>
      {invited && <p>{texts.invited(invited.workspace.apiName, invited.invitedBy)}</p>}
      {account !== 'none' && <p class={styles.quiet}>{account === 'proven' ? texts.keepsAccount : texts.text}</p>}
      {given === undefined && (
        <Field label={texts.token} required autofocus autocomplete="off" value={token} onValue={setToken} />
      )}
      {email && <EmailField readOnly autofocus={false} value={email} onValue={() => {}} />}
      {account !== 'proven' && (
        <>
          {account !== 'unproven' && <FullNameField value={fullName} onValue={setFullName} />}
          <NewPasswordField
            isOptional={account === undefined}
            hint={account === undefined ? texts.passwordHint : undefined}
            value={password}
            onValue={setPassword}
          />
        </>
      )}
    </Submission>
  )
}
