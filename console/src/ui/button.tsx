/** A button, and a link that looks like one. */
import type { ComponentChildren, JSX } from 'preact'
import styles from './button.module.css'
import { Spinner } from './icon.tsx'

type Look = {
  readonly look?: 'primary' | 'danger' | 'plain'
  /** Has an icon only; `aria-label` is its name. */
  readonly isIcon?: boolean
  readonly isWide?: boolean
  readonly children?: ComponentChildren
}

type ButtonProps = Look &
  Omit<JSX.IntrinsicElements['button'], 'icon'> & {
    /** Something is under way that this button began; pressing it again does nothing. */
    readonly isBusy?: boolean
  }

export function Button({ look, isIcon, isWide, isBusy = false, children, onClick, ...others }: ButtonProps) {
  return (
    <button
      type="button"
      {...others}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
      aria-disabled={isBusy || undefined}
      class={classOf({ look, isIcon, isWide })}
    >
      {isBusy && <Spinner />}
      {children}
    </button>
  )
}

export function ButtonLink({ look, isIcon, isWide, children, ...others }: Look & JSX.IntrinsicElements['a']) {
  return (
    <a {...others} class={classOf({ look, isIcon, isWide })}>
      {children}
    </a>
  )
}

function classOf({ look, isIcon, isWide }: Look): string {
  return [styles.button, look && styles[look], isIcon && styles.icon, isWide && styles.wide].filter(Boolean).join(' ')
}
