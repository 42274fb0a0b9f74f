/** A part of the account, under its title. */
import type { ComponentChildren } from 'preact'
import page from '../page.module.css'
import styles from './account.module.css'

type SectionProps = {
  readonly title: string
  readonly text?: string
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

export function Section({ title, text, action, children }: SectionProps) {
  return (
    <div class={styles.section}>
      <div class={page.head}>
        <h2>
          <bdi>{title}</bdi>
        </h2>
        {action}
      </div>
      {text && <p class={page.quiet}>{text}</p>}
      {children}
    </div>
  )
}
