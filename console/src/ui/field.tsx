/** An input for a text, with what stands around it. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import { Button } from './button.tsx'
import styles from './field.module.css'
import { Icon } from './icon.tsx'
import { Labelled, type LabelledProps } from './labelled.tsx'

type InputProps = {
  readonly autocomplete?: string
  readonly autofocus?: boolean
  readonly dir?: 'auto' | 'ltr'
  readonly disabled?: boolean
  readonly maxLength?: number
  readonly minLength?: number
  readonly name?: string
  readonly pattern?: string
  readonly readOnly?: boolean
  readonly required?: boolean
  readonly spellcheck?: boolean
}

type FieldProps = InputProps &
  LabelledProps & {
    readonly type?: 'email' | 'password' | 'search' | 'text'
    readonly value: string
    readonly onValue: (value: string) => void
    /** Whether what is typed as a secret can be shown. */
    readonly canShow?: boolean
    /** So many are seen of what has several. */
    readonly lines?: number
    /** What else can give it a value, behind it. */
    readonly children?: ComponentChildren
  }

export function Field(props: FieldProps) {
  const { label, labelCode, value, onValue, hint, error, isOptional, lines, type = 'text', ...rest } = props
  const { children, canShow = false, ...others } = rest
  const [isShown, setShown] = useState(false)
  const common = {
    dir: 'auto',
    ...others,
    class: `${styles.input} ${lines === undefined ? '' : styles.lines}`,
    value,
  } as const
  return (
    <Labelled label={label} labelCode={labelCode} hint={hint} error={error} isOptional={isOptional}>
      {(input) =>
        lines === undefined ? (
          <div class={styles.line}>
            <input
              {...common}
              {...input}
              // One of these is the member of a union that has it.
              type={(isShown ? 'text' : type) as 'text'}
              onInput={(event) => onValue(event.currentTarget.value)}
            />
            {canShow && (
              <Button
                isIcon
                aria-label={t.value.common.showTyped}
                aria-pressed={isShown}
                onClick={() => setShown(!isShown)}
              >
                <Icon name="eye" />
              </Button>
            )}
            {children}
          </div>
        ) : (
          <textarea {...common} {...input} rows={lines} onInput={(event) => onValue(event.currentTarget.value)} />
        )
      }
    </Labelled>
  )
}
