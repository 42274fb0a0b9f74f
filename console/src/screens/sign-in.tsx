/** Signing in: by password, by a provider, by the one-time link of a local run. The form alone serves a session that was lost. */
import type { ServiceError } from 'governed-data-client'
import { useEffect, useState } from 'preact/hooks'
import { address, navigate } from '../app/router.ts'
import { instance, visitor } from '../data/client.ts'
import { useQuery } from '../data/queries.ts'
import { sessionOpened } from '../data/session.ts'
import { explainFault } from '../messages/fault.ts'
import { t } from '../messages/messages.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Fault, Notice, Skeleton } from '../ui/notice.tsx'
import styles from './entry.module.css'
import { Entry } from './entry.tsx'
import { EmailField, faultOf, Submission } from './submission.tsx'

export function SignIn({ notice }: { readonly notice?: string | undefined }) {
  const fault = address.value.searchParams.get('error')
  const faults: Readonly<Record<string, string>> = t.value.signIn.providerFault
  return (
    <Entry title={t.value.signIn.title}>
      {notice && <Notice look="warning">{notice}</Notice>}
      {fault && <Notice look="danger">{faults[fault] ?? t.value.signIn.providerFault.sign_in_failed}</Notice>}
      <SignInForm />
      <div class={styles.more}>
        <OtherWays />
        <a href="/-/reset">{t.value.signIn.forgot}</a>
        <a href="/-/invitation">{t.value.signIn.invited}</a>
      </div>
    </Entry>
  )
}

type SignInFormProps = {
  /** Where it is known who has to sign in. */
  readonly email?: string
  /** Before anything else is drawn. */
  readonly onSignedIn?: () => void
}

export function SignInForm({ email: known = '', onSignedIn = forgetFault }: SignInFormProps) {
  const [email, setEmail] = useState(known)
  const [password, setPassword] = useState('')
  const submit = async () => {
    const answer = await instance.$auth.login({ email: email.trim(), password })
    if (!answer.ok) return faultOf(answer, { 401: t.value.signIn.wrong })
    onSignedIn()
    await sessionOpened()
  }
  return (
    <Submission label={t.value.signIn.submit} onSubmit={submit}>
      <EmailField autofocus={known === ''} value={email} onValue={setEmail} />
      <Field
        label={t.value.signIn.password}
        type="password"
        name="password"
        autocomplete="current-password"
        required
        autofocus={known !== ''}
        value={password}
        onValue={setPassword}
      />
    </Submission>
  )
}

/** What a provider said is of the last try. */
function forgetFault(): void {
  const { pathname, searchParams } = address.value
  if (searchParams.has('error')) navigate(pathname, 'replace')
}

/** Asked for when it is opened: before that the service is asked nothing but `system/info`. */
function OtherWays() {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.value.signIn.otherWays}</summary>
      {isOpen && <Providers />}
    </details>
  )
}

function Providers() {
  const { data, error, refetch } = useQuery<readonly { readonly name: string }[]>({
    queryKey: ['providers'],
    queryFn: () => instance.$auth.providers().orThrow(),
  })
  if (error) return <Fault error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton lines={2} />
  if (data.length === 0) return <p class={styles.quiet}>{t.value.signIn.noOtherWays}</p>
  const back = new URL(address.value)
  back.searchParams.delete('error')
  back.hash = ''
  return (
    <div class={styles.ways}>
      {data.map(({ name }) => (
        <ButtonLink key={name} isWide href={instance.$auth.providerUrl(name, back.href)}>
          {t.value.signIn.with(name)}
        </ButtonLink>
      ))}
    </div>
  )
}

/** Uses the secret of a one-time link, which has left the address already. */
export function SignInByLink({ secret }: { readonly secret: string }) {
  const [fault, setFault] = useState<ServiceError>()
  useEffect(() => {
    void (async () => {
      const answer = await visitor.$request('POST', '/api/auth/link', { body: { token: secret } })
      if (answer.ok) await sessionOpened()
      else setFault(answer.error)
    })()
  }, [secret])
  if (fault === undefined) {
    return (
      <Entry title={t.value.signIn.linkUnderWay}>
        <Skeleton lines={3} />
      </Entry>
    )
  }
  return <SignIn notice={fault.status === 401 ? t.value.signIn.linkUsed : explainFault(fault)} />
}
