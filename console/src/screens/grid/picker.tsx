/** Chooses the item that a relation leads to, by what it is called. */
import type { ServiceError } from 'governed-data-client'
import { useEffect, useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { t } from '../../messages/messages.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/notice.tsx'
import { calledBy, type FieldModel, type ToOne } from './model.ts'
import { parse, type Row, textOf, type Value } from './values.ts'

/** The key of the item that was chosen and what it is called; nulls for none. */
export type Picked = { readonly key: readonly Value[]; readonly label: string | null }

type PickerProps = {
  readonly workspace: string
  readonly relation: Pick<ToOne, 'to' | 'display' | 'key' | 'title'>
  /** What is true of all that may be chosen. */
  readonly among?: object
  /** Whether there may be none. */
  readonly isNullable: boolean
  readonly text?: string
  /** The key of the item that is chosen, as its texts; nulls for none. */
  readonly current?: readonly (string | null)[] | undefined
  readonly onPick: (picked: Picked) => void
  readonly onClose: () => void
}

const SHOWN = 30

/** Typing rests so long before the service is asked. */
const PAUSE = 150

export function Picker(props: PickerProps) {
  const { workspace, relation, among, isNullable, text: initialText = '', current, onPick, onClose } = props
  const [text, setText] = useState(initialText)
  const [found, setFound] = useState<{ readonly text?: string; readonly rows: readonly Row[] }>({ rows: [] })
  const [error, setError] = useState<ServiceError | undefined>(undefined)
  const [tries, setTries] = useState(0)
  const { to, display, key, title } = relation
  useEffect(() => {
    const ended = new AbortController()
    const wait = setTimeout(async () => {
      const query = {
        ...searchOf(relation, text, among),
        limit: SHOWN,
        fields: [...new Set([...key, ...display.shows])].join(),
      }
      const path = `items/${encodeURIComponent(to)}`
      const options = { query, signal: ended.signal }
      const answer = await clientOf(workspace).$request<{ readonly data: readonly Row[] }>('GET', path, options)
      if (ended.signal.aborted) return
      setError(answer.ok ? undefined : answer.error)
      if (answer.ok) setFound({ text, rows: answer.data.data })
    }, PAUSE)
    return () => {
      clearTimeout(wait)
      ended.abort()
    }
  }, [text, tries])
  const isCurrent = (of: readonly (string | null)[]) => current !== undefined && current.join() === of.join()
  const nulls = key.map(() => null)
  const none = { id: '', group: title, label: t.value.grid.null, key: nulls, name: null, isCurrent: isCurrent(nulls) }
  const options = found.rows.map((row) => {
    const texts = key.map((name) => textOf(row[name]))
    const [label, keyText] = [calledBy(display, row), texts.join(', ')]
    const item = {
      id: keyText,
      group: title,
      key: key.map((name) => row[name]),
      name: label,
      isCurrent: isCurrent(texts),
    }
    return { ...item, label: label || keyText, ...(label !== keyText && { detail: keyText }) }
  })
  return (
    <Dialog title={t.value.item.choose(title)} onClose={onClose}>
      {error && <Fault error={error} onRetry={() => setTries(tries + 1)} />}
      <Combobox
        isFirst
        label={t.value.item.search(to)}
        placeholder={t.value.item.search(to)}
        text={initialText}
        options={isNullable && text === '' ? [none, ...options] : options}
        isBehind={found.text !== text}
        onText={setText}
        onChoose={({ key: chosen, name }) => onPick({ key: chosen, label: name })}
      />
    </Dialog>
  )
}

/** Texts by a part of them, others whole; nothing typed finds the first of all. */
function searchOf({ display }: Pick<ToOne, 'display'>, text: string, among?: object): object {
  const conditions = [among, conditionOf(display, text.trim())].filter((one) => one !== undefined)
  const filter = conditions.length > 1 ? { _and: conditions } : conditions[0]
  return { sort: [{ [display.name]: { direction: 'asc' } }], ...(filter && { filter }) }
}

/** What is true of those that are called so; undefined where nothing can be. */
export function conditionOf(display: FieldModel, wanted: string): object | undefined {
  if (wanted === '') return undefined
  const part = ['_icontains', '_contains'].find((name) => display.operators.includes(name))
  if (part !== undefined) return { [display.name]: { [part]: wanted } }
  const parsed = parse(display, wanted)
  return 'value' in parsed ? { [display.name]: { _eq: parsed.value } } : undefined
}
