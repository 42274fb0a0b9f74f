/** Accepting an invitation by the token of its mail, which a link brings in its fragment. */
import { useState } from 'preact/hooks'
import { visitor } from '../data/client.ts'
import { queries } from '../data/queries.ts'
import { t } from '../messages/messages.ts'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import styles from './entry.module.css'
import { Entry } from './entry.tsx'
import { FullNameField, faultOf, NewPasswordField, Submission } from './submission.tsx'

type Accepted = { readonly data: { readonly workspace: { readonly apiName: string } } }

export default function Invitation({ secret }: { readonly secret: string | undefined }) {
  const texts = t.value.invitation
  const [token, setToken] = useState(secret ?? '')
  const [fullName, setFullName] = useState('')
  const [password, setPassword] = useState('')
  const [workspace, setWorkspace] = useState<string>()
  const submit = async () => {
    const body = {
      token: token.trim(),
      ...(password !== '' && { password }),
      ...(fullName.trim() !== '' && { fullName: fullName.trim() }),
    }
    const answer = await visitor.$request<Accepted>('POST', '/api/auth/invitations/accept', { body })
    if (!answer.ok) return faultOf(answer, { 401: texts.wrongToken })
    void queries.invalidateQueries({ queryKey: ['workspaces'] })
    setWorkspace(answer.data.data.workspace.apiName)
  }
  return (
    <Entry title={texts.title}>
      {workspace !== undefined ? (
        <Notice look="good">{texts.done(workspace)}</Notice>
      ) : (
        <Submission label={texts.submit} onSubmit={submit}>
          <p class={styles.quiet}>{texts.text}</p>
          {secret === undefined && (
            <Field label={texts.token} required autofocus autocomplete="off" value={token} onValue={setToken} />
          )}
          <FullNameField value={fullName} onValue={setFullName} />
          <NewPasswordField isOptional value={password} onValue={setPassword} />
        </Submission>
      )}
      <div class={styles.more}>
        <a href="/">{t.value.reset.back}</a>
      </div>
    </Entry>
  )
}
