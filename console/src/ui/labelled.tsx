/** What stands around an input: its label, a hint and what is wrong with it, all of which a screen reader tells. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import styles from './field.module.css'

export type LabelledProps = {
  readonly label: string
  /** What stands in the label as it is to be typed. */
  readonly labelCode?: string | undefined
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly isOptional?: boolean
}

type Input = { readonly id: string; readonly 'aria-invalid': boolean; readonly 'aria-describedby': string | undefined }

/** `children` draws the input with the attributes that tie it to them. */
export function Labelled(props: LabelledProps & { readonly children: (input: Input) => ComponentChildren }) {
  const { label, labelCode, hint, error, isOptional, children } = props
  const id = useId()
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class={styles.field}>
      <div class={styles.label}>
        <label for={id}>{labelCode ? withCode(label, labelCode) : label}</label>
        {isOptional && <span class={styles.optional}>{t.value.common.optional}</span>}
      </div>
      {children({ id, 'aria-invalid': error !== undefined, 'aria-describedby': about || undefined })}
      {hint && (
        <p id={`${id}-hint`} class={styles.hint}>
          {codeIn(hint)}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} class={styles.error} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

/** A text of the console: what stands between backticks in it is code, which keeps its own direction. */
export function codeIn(text: string): ComponentChildren {
  return text.split(/`([^`]+)`/).map((part, at) => (at % 2 ? <code dir="ltr">{breakable(part)}</code> : part))
}

/** An address too long for a line is broken between its parts. */
function breakable(code: string): ComponentChildren {
  return code.split(/(?<=[/:@])(?![/:@])/).map((part, at) => (at === 0 ? part : [<wbr key={at} />, part]))
}

function withCode(label: string, code: string): ComponentChildren {
  const at = label.lastIndexOf(code)
  if (at < 0) return label
  return [label.slice(0, at), <code key="code">{code}</code>, label.slice(at + code.length)]
}
