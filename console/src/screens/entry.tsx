/** The frame of what is shown before there is a session: one card, and the languages. */
import type { ComponentChildren } from 'preact'
import icon from '../../icon.svg'
import { chooseLanguage, language, languages, t } from '../messages/messages.ts'
import { Heading } from '../ui/heading.tsx'
import styles from './entry.module.css'

type EntryProps = { readonly title: string; readonly isWide?: boolean; readonly children: ComponentChildren }

export function Entry({ title, isWide = false, children }: EntryProps) {
  return (
    <div class={styles.page}>
      <main class={`${styles.card} ${isWide ? styles.wide : ''}`}>
        <div class={styles.brand}>
          <img src={icon} alt="" />
          {t.value.product}
        </div>
        <Heading text={title} />
        {children}
      </main>
      <footer class={styles.foot}>
        {languages.map(([name, label]) => (
          <button
            key={name}
            type="button"
            lang={name}
            aria-pressed={name === language.value}
            onClick={() => void chooseLanguage(name)}
          >
            {label}
          </button>
        ))}
      </footer>
    </div>
  )
}
