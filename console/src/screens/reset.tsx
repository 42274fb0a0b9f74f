/** A forgotten password: asking for the mail, and the new one by its token, which a link brings in its fragment. */
import { useState } from 'preact/hooks'
import { visitor } from '../data/client.ts'
import { t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import styles from './entry.module.css'
import { Entry } from './entry.tsx'
import { EmailField, faultOf, NewPasswordField, Submission } from './submission.tsx'

export default function Reset({ secret }: { readonly secret: string | undefined }) {
  const [step, setStep] = useState<'request' | 'confirm' | 'done'>(secret === undefined ? 'request' : 'confirm')
  const texts = t.value.reset
  return (
    <Entry title={step === 'request' ? texts.requestTitle : texts.title}>
      {step === 'request' && <Request onToken={() => setStep('confirm')} />}
      {step === 'confirm' && <Confirm given={secret ?? ''} onDone={() => setStep('done')} />}
      {step === 'done' && <Notice look="good">{texts.done}</Notice>}
      <div class={styles.more}>
        <a href="/">{texts.back}</a>
      </div>
    </Entry>
  )
}

function Request({ onToken }: { readonly onToken: () => void }) {
  const texts = t.value.reset
  const [email, setEmail] = useState('')
  const [isSent, setSent] = useState(false)
  const submit = async () => {
    setSent(false)
    const body = { email: email.trim() }
    const answer = await visitor.$request('POST', '/api/auth/password-reset/request', { body })
    setSent(answer.ok)
    return answer.ok ? undefined : faultOf(answer)
  }
  const haveToken = (
    <Button look={isSent ? 'primary' : undefined} isWide onClick={onToken}>
      {texts.haveToken}
    </Button>
  )
  return (
    <Submission label={texts.requestSubmit} isSecondary={isSent} onSubmit={submit} more={haveToken}>
      {isSent ? <Notice look="good">{texts.requested}</Notice> : <p class={styles.quiet}>{texts.requestText}</p>}
      <EmailField value={email} onValue={setEmail} />
    </Submission>
  )
}

function Confirm({ given, onDone }: { readonly given: string; readonly onDone: () => void }) {
  const texts = t.value.reset
  const [token, setToken] = useState(given)
  const [password, setPassword] = useState('')
  const submit = async () => {
    const body = { token: token.trim(), password }
    const answer = await visitor.$request('POST', '/api/auth/password-reset/confirm', { body })
    if (!answer.ok) return faultOf(answer, { 401: texts.wrongToken })
    onDone()
  }
  return (
    <Submission label={texts.submit} onSubmit={submit}>
      {given === '' && <Field label={texts.token} required autocomplete="off" value={token} onValue={setToken} />}
      <NewPasswordField label={texts.newPassword} value={password} onValue={setPassword} />
    </Submission>
  )
}
