/** A text that finds one of many, in groups: the focus stays in the text while arrow keys go through the list. */
import { useEffect, useId, useState } from 'preact/hooks'
import { t } from '../messages/messages.ts'
import styles from './combobox.module.css'

export type Option = {
  readonly id: string
  readonly label: string
  readonly group: string
  readonly detail?: string
  /** Whether it is what is chosen already. */
  readonly isCurrent?: boolean
  /** Other words that it is found by, which are not shown. */
  readonly words?: string
  /** Why it cannot be chosen. */
  readonly refusal?: string
}

type ComboboxProps<O extends Option> = {
  /** Whether it has the focus when it is drawn. */
  readonly isFirst?: boolean
  readonly label: string
  readonly placeholder?: string
  readonly options: readonly O[]
  /** What is typed first. */
  readonly text?: string
  /** Who looks elsewhere for what was typed; `options` are what was found, in their order. */
  readonly onText?: (text: string) => void
  /** Whether `options` are still those of another text, among which Enter chooses none. */
  readonly isBehind?: boolean
  readonly onChoose: (option: O) => void
}

/** So many are drawn; whoever looks for another types more of it. */
const SHOWN = 50

export function Combobox<O extends Option>({
  label,
  placeholder,
  options,
  onChoose,
  onText,
  text: initialText = '',
  isFirst = false,
  isBehind = false,
}: ComboboxProps<O>) {
  const id = useId()
  const [text, setText] = useState(initialText)
  const [active, setActive] = useState(0)
  const found = (onText ? options : search(options, text)).slice(0, SHOWN)
  const groups = [...new Set(found.map(({ group }) => group))]
  const shown = groups.flatMap((group) => found.filter((option) => option.group === group))
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, active])
  const choose = (option: O | undefined) => {
    if (option !== undefined && option.refusal === undefined) onChoose(option)
  }
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return
    const next = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + 8, PageUp: active - 8 }[event.key]
    if (next !== undefined) {
      event.preventDefault()
      const isStep = Math.abs(next - active) === 1
      setActive(isStep ? (next + shown.length) % (shown.length || 1) : Math.max(0, Math.min(shown.length - 1, next)))
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      if (!isBehind) choose(shown[active])
    }
  }
  return (
    <div class={styles.box}>
      <input
        class={styles.input}
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={shown.length > 0 ? `${id}-${active}` : undefined}
        autofocus={isFirst}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        dir={text === '' ? undefined : 'auto'}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setActive(0)
          onText?.(event.currentTarget.value)
        }}
        onKeyDown={press}
      />
      <div id={`${id}-list`} role="listbox" aria-label={label} class={styles.list} tabIndex={-1}>
        {groups.map((group, place) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a list box
          <div key={group} role="group" aria-labelledby={`${id}-group-${place}`}>
            <div id={`${id}-group-${place}`} class={styles.group} role="presentation">
              {group}
            </div>
            {shown.map((option, index) =>
              option.group !== group ? null : (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text
                <div
                  key={option.id}
                  id={`${id}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === active}
                  aria-disabled={option.refusal !== undefined || undefined}
                  aria-current={option.isCurrent || undefined}
                  class={styles.option}
                  onPointerMove={() => setActive(index)}
                  onClick={() => choose(option)}
                >
                  <span>
                    <bdi>{option.label}</bdi>
                  </span>
                  <span class={styles.detail}>
                    <bdi>{option.refusal ?? option.detail}</bdi>
                  </span>
                </div>
              ),
            )}
          </div>
        ))}
      </div>
      {shown.length === 0 && (
        <p class={styles.empty} role="status">
          {t.value.common.noMatch}
        </p>
      )}
    </div>
  )
}

/** Options with all words of the text, those that begin with it first. */
export function search<O extends Option>(options: readonly O[], text: string): readonly O[] {
  const words = text.trim().toLowerCase().split(/\s+/)
  const fits = options.filter(({ label, detail = '', words: other = '' }) => {
    const whole = `${label} ${detail} ${other}`.toLowerCase()
    return words.every((word) => whole.includes(word))
  })
  const begins = (option: O) => (option.label.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1)
  return fits.toSorted((one, other) => begins(one) - begins(other))
}
