/** The arguments of a call, each with its name or with a title for it. */
import styles from './assistant.module.css'

type ArgumentsProps = { readonly values: object; readonly titleOf?: (name: string) => string }

export function Arguments({ values, titleOf = (name) => name }: ArgumentsProps) {
  return (
    <dl class={styles.arguments}>
      {Object.entries(values).map(([name, value]) => (
        <div key={name}>
          <dt>
            <bdi>{shown(titleOf(name))}</bdi>
          </dt>
          <dd>
            <bdi>{shown(value)}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** What would reorder or hide a part of what is approved is shown as what it is. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' && value !== '' ? value : JSON.stringify(value, null, 1)
  const written = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replaceAll(/[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, written)
}
