/** A button, and a link that looks like one. */
import type { ComponentChildren, JSX } from 'preact'
import styles from './button.module.css'
import { Icon, type IconName, Spinner } from './icon.tsx'

type Look = {
  /** `danger` does what cannot be taken back, in the dialog that asks for it; `risky` opens that, or takes something away. */
  readonly look?: 'primary' | 'danger' | 'risky' | 'plain'
  /** Has an icon only; `aria-label` is its name. */
  readonly isIcon?: boolean
  readonly isWide?: boolean
  /** Beside a text, as high as that. */
  readonly isSmall?: boolean
  /** Stands before the words, and for them where there is little room. */
  readonly tool?: IconName
  readonly children?: ComponentChildren
}

type ButtonProps = Look &
  Omit<JSX.IntrinsicElements['button'], 'icon'> & {
    /** Something is under way that this button began; pressing it again does nothing. */
    readonly isBusy?: boolean
  }

export function Button({ look, isIcon, isWide, isSmall, tool, isBusy, children, onClick, ...others }: ButtonProps) {
  return (
    <button
      type="button"
      {...others}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
      aria-disabled={isBusy || undefined}
      class={classOf({ look, isIcon, isWide, isSmall, tool })}
    >
      {isBusy && <Spinner />}
      <Words tool={tool}>{children}</Words>
    </button>
  )
}

export function ButtonLink({ look, isIcon, isWide, tool, children, ...others }: Look & JSX.IntrinsicElements['a']) {
  return (
    <a {...others} class={classOf({ look, isIcon, isWide, tool })}>
      <Words tool={tool}>{children}</Words>
    </a>
  )
}

function Words({ tool, children }: Pick<Look, 'tool' | 'children'>) {
  if (tool === undefined) return <>{children}</>
  return (
    <>
      <Icon name={tool} />
      <span>{children}</span>
    </>
  )
}

function classOf({ look, isIcon, isWide, isSmall, tool }: Look): string {
  const sizes = [isIcon && styles.icon, isWide && styles.wide, isSmall && styles.small, tool && styles.tool]
  return [styles.button, look && styles[look], ...sizes].filter(Boolean).join(' ')
}
