/** The input of one value, by its type. What was typed is passed on at each key, so that it outlives the input. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import styles from './grid.module.css'
import type { FieldModel } from './model.ts'
import { inputKindOf, isSame, parse, shapes, type Value } from './values.ts'

type EditorProps = {
  readonly field: FieldModel
  readonly value: Value
  readonly text: string
  readonly onText: (text: string) => void
  /** What is wrong with the text already. */
  readonly wrong: string | undefined
  readonly onWrong: (wrong: string | undefined) => void
  /** Where there is nothing to save, `value` is as before. */
  readonly onCommit: (value: Value, key: string | undefined) => void
  readonly onLeave: () => void
}

export function Editor({ field, value, text, onText, onWrong, onCommit, onLeave, ...before }: EditorProps) {
  const ref = useRef<HTMLElement>(null)
  const isDone = useRef(false)
  const [typed, setTyped] = useState(text)
  const [wrong, setWrong] = useState(before.wrong)
  const refuse = (now: string | undefined) => {
    setWrong(now)
    onWrong(now)
  }
  const initialText = useRef(text)
  useLayoutEffect(() => {
    const input = ref.current
    input?.focus()
    if (input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement)
      input.setSelectionRange(typed.length, typed.length)
  }, [])
  const kind = inputKindOf(field, value)
  /** The keys are the table's again. */
  const end = (isByKey: boolean) => {
    isDone.current = true
    if (isByKey) ref.current?.closest<HTMLElement>('[role=grid]')?.focus()
  }
  const commit = (key?: string) => {
    if (isDone.current) return
    const parsed = parse(field, typed)
    if ('wrong' in parsed) {
      refuse(t.value.grid.wrong[parsed.wrong])
      return
    }
    end(key !== 'blur')
    // Untouched it stays as it is, null included.
    const isUntouched =
      typed === initialText.current && isSame(parsed.value, value ?? (field.type === 'string' ? '' : null))
    onCommit(isUntouched ? value : parsed.value, key === 'blur' ? undefined : key)
  }
  const press = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.isComposing) return
    if (event.key === 'Escape') {
      event.preventDefault()
      end(true)
      onLeave()
    }
    const isCommit = event.key === 'Enter' && (kind !== 'lines' || event.ctrlKey || event.metaKey)
    if (isCommit || event.key === 'Tab') {
      event.preventDefault()
      commit(event.key === 'Tab' ? (event.shiftKey ? 'Shift+Tab' : 'Tab') : undefined)
    }
  }
  const common = {
    ref: ref as never,
    class: styles.input,
    'aria-label': field.title,
    'aria-invalid': wrong !== undefined,
    onKeyDown: press,
    // A row that is scrolled away takes its input with it, which is no end of typing.
    onBlur: () => setTimeout(() => ref.current?.isConnected && commit('blur')),
  }
  const change = (next: string) => {
    setTyped(next)
    refuse(undefined)
    onText(next)
  }
  return (
    <>
      {kind === 'choice' ? (
        <select {...common} value={typed} onChange={(event) => change(event.currentTarget.value)}>
          {(field.isNullable || typed === '') && <option value="">{t.value.grid.null}</option>}
          {(field.type === 'boolean' ? ['true', 'false'] : field.values).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      ) : kind === 'lines' ? (
        <textarea
          {...common}
          dir="auto"
          rows={Math.min(16, Math.max(4, typed.split('\n').length + 1))}
          spellcheck={field.type === 'string'}
          value={typed}
          onInput={(event) => change(event.currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          dir="auto"
          autocomplete="off"
          inputMode={/^(u?int)/.test(field.type) ? 'numeric' : /^(float|decimal)/.test(field.type) ? 'decimal' : 'text'}
          placeholder={shapes[field.type]}
          value={typed}
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
      {wrong && <Message key={wrong} text={wrong} />}
    </>
  )
}

/** Below the input, moved to where all of it is inside of the table. */
function Message({ text }: { readonly text: string }) {
  const ref = useRef<HTMLParagraphElement>(null)
  useLayoutEffect(() => {
    const grid = ref.current?.closest('[role=grid]')
    const place = () => {
      const message = ref.current
      const table = grid?.getBoundingClientRect()
      if (!message || !table) return
      message.style.translate = 'none'
      const { left, right, bottom, height } = message.getBoundingClientRect()
      const across = Math.max(Math.min(0, table.right - right), table.left - left)
      const isBelow = bottom > table.bottom
      const above = height + (message.parentElement?.getBoundingClientRect().height ?? 0)
      message.style.translate = `${across}px ${isBelow ? -above : 0}px`
    }
    place()
    addEventListener('resize', place)
    grid?.addEventListener('scroll', place)
    return () => {
      removeEventListener('resize', place)
      grid?.removeEventListener('scroll', place)
    }
  }, [])
  return (
    <p ref={ref} class={styles.message} role="alert">
      {text}
    </p>
  )
}
