/** The tables that a database has, of which those are chosen that are imported. */
import { useState } from 'preact/hooks'
import { compareNames, formatNumber, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import page from '../page.module.css'
import styles from './tables.module.css'

/** What is known of its columns is how many there are. */
export type FoundTable = { readonly name: string; readonly columns?: number }

type TablesProps = {
  readonly tables: readonly FoundTable[]
  readonly chosen: ReadonlySet<string>
  readonly isDisabled: boolean
  readonly onChoose: (chosen: ReadonlySet<string>) => void
}

/** So many are drawn; whoever looks for another types more of its name. */
const SHOWN = 300

export function Tables({ tables, chosen, isDisabled, onChoose }: TablesProps) {
  const texts = t.value.connect
  const [text, setText] = useState('')
  const found = tables
    .filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
    .toSorted((one, other) => compareNames(one.name, other.name))
  const names = found.map(({ name }) => name)
  return (
    <fieldset class={styles.tables} disabled={isDisabled}>
      <legend>{texts.tables}</legend>
      <p class={page.quiet} role="status">
        {texts.chosen(formatNumber(chosen.size), formatNumber(tables.length))}
      </p>
      {tables.length > 10 && <Field type="search" label={texts.findTable} value={text} onValue={setText} />}
      <div class={page.row}>
        <Button onClick={() => onChoose(new Set([...chosen, ...names]))}>{texts.all}</Button>
        <Button onClick={() => onChoose(new Set([...chosen].filter((name) => !names.includes(name))))}>
          {texts.none}
        </Button>
      </div>
      <ul class={styles.list}>
        {found.slice(0, SHOWN).map(({ name, columns }) => (
          <li key={name}>
            <label class={styles.table}>
              <input
                type="checkbox"
                checked={chosen.has(name)}
                onChange={({ currentTarget: { checked } }) =>
                  onChoose(new Set(checked ? [...chosen, name] : [...chosen].filter((one) => one !== name)))
                }
              />
              <span dir="auto">{name}</span>
              {columns !== undefined && (
                <span class={`${page.quiet} ${styles.columns}`}>{texts.columns(formatNumber(columns), columns)}</span>
              )}
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  )
}
