/** A form that is sent once at a time and says above its fields what went wrong, and the fields that several of them have. */
import type { ServiceError } from 'governed-data-client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { explainFault, retryAfterOf } from '../messages/fault.ts'
import { t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import styles from './entry.module.css'

/** What went wrong, in words of the reader; undefined where nothing did. */
export type Submitted = string | undefined

type SubmissionProps = {
  readonly label: string
  readonly isSecondary?: boolean
  readonly onSubmit: () => Promise<Submitted>
  readonly children: ComponentChildren
  /** Below the button. */
  readonly more?: ComponentChildren
}

export function Submission({ label, isSecondary = false, onSubmit, children, more }: SubmissionProps) {
  const { fault, isBusy, submit } = useSubmission(onSubmit)
  return (
    <form class={styles.form} onSubmit={submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      {children}
      <Button type="submit" look={isSecondary ? undefined : 'primary'} isWide isBusy={isBusy}>
        {label}
      </Button>
      {more}
    </form>
  )
}

/** The state of such a form, for those with buttons of their own. */
export function useSubmission(send: () => Promise<Submitted>) {
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    const form = event.currentTarget
    setBusy(true)
    setFault(undefined)
    const failed = await send()
    setFault(failed)
    setBusy(false)
    if (failed === undefined) return
    // It is of what was sent, which is another with the first change. That is taken up before anything is drawn anew.
    form?.addEventListener('input', () => setTimeout(setFault, 0, undefined), { once: true })
  }
  return { fault, isBusy, submit }
}

/** `known`: what statuses mean to this form, where it knows better. */
export function faultOf(
  answer: { readonly status: number; readonly error: ServiceError; readonly headers?: Headers },
  known: Readonly<Record<number, string>> = {},
): string {
  return known[answer.status] ?? explainFault(answer.error, retryAfterOf(answer))
}

type TypedProps = { readonly value: string; readonly onValue: (value: string) => void }

type EmailProps = TypedProps & { readonly autofocus?: boolean; readonly readOnly?: boolean }

export function EmailField({ autofocus = true, ...typed }: EmailProps) {
  return (
    <Field
      label={t.value.signIn.email}
      type="email"
      name="email"
      autocomplete="username"
      required
      autofocus={autofocus}
      {...typed}
    />
  )
}

export function FullNameField(typed: TypedProps) {
  return <Field label={t.value.invitation.fullName} isOptional autocomplete="name" maxLength={200} {...typed} />
}

type SecretProps = TypedProps & {
  readonly label: string
  readonly hint?: string
  readonly autocomplete?: 'current-password' | 'off'
}

/** What is typed and not shown: a password that counts already, or a token. */
export function SecretField({ autocomplete = 'off', ...typed }: SecretProps) {
  return <Field type="password" autocomplete={autocomplete} required {...typed} />
}

type NewPasswordProps = TypedProps & {
  readonly label?: string
  readonly hint?: string
  /** Whether there are those who need none, as the hint says. */
  readonly isOptional?: boolean
}

export function NewPasswordField(props: NewPasswordProps) {
  const { label = t.value.signIn.password, hint = t.value.passwordRule, isOptional = false, ...typed } = props
  return (
    <Field
      label={label}
      type="password"
      autocomplete="new-password"
      required={!isOptional}
      hint={hint}
      minLength={10}
      {...typed}
    />
  )
}
