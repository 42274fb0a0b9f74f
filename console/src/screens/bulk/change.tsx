/** Gives one field of many rows the same value. What is chosen is saved like cells; all of a view by one bounded request. */
import { ServiceError } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { isTouched } from '../../app/preferences.ts'
import { userId } from '../../data/session.ts'
import { explainFault } from '../../messages/fault.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Fault, Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { batchOf, type Call, itemsOf, readItems } from '../grid/items.ts'
import type { FieldModel } from '../grid/model.ts'
import { Picker } from '../grid/picker.tsx'
import { keyOf } from '../grid/rows.ts'
import { baseIn, type Change, savingOf } from '../grid/saving.ts'
import { isKept, isSame, parse, type Row, type Value } from '../grid/values.ts'
import { FieldInput } from '../item/field-input.tsx'
import item from '../item/item.module.css'
import page from '../page.module.css'
import { filterOfAll, useCount } from './count.ts'
import type { BulkProps } from './props.ts'
import { useUnderWay } from './use-under-way.ts'

/** So many are read before they are changed, so that it can be taken back. */
const MOST_UNDONE = 1_000

export function ChangeDialog(props: BulkProps) {
  const { workspace, model, rows, marks, which } = props
  const texts = t.value.many
  const saving = savingOf(userId.value, workspace, model, rows)
  const fields = model.fields.filter(({ mayUpdate }) => mayUpdate)
  const [field, setField] = useState<FieldModel | undefined>(fields.find(({ isKey }) => !isKey) ?? fields[0])
  const [text, setText] = useState<string | null>('')
  const [wrong, setWrong] = useState<string | undefined>(undefined)
  const [isPicking, setPicking] = useState(false)
  const [error, setError] = useState<ServiceError | undefined>(undefined)
  const underWay = useUnderWay(props.onClose)
  const { count, error: uncounted, recount } = useCount(props, which === 'chosen' ? marks.keys.value.size : undefined)
  const relation = model.toOne.find(({ by }) => by.length === 1 && by[0] === field?.name)
  const backText = field?.type === 'json' ? `${undoText()} ${texts.exactOnly}` : undoText()
  const canUndo = which === 'chosen' || (count ?? 0) <= MOST_UNDONE

  const changeChosen = async ({ name, type }: FieldModel, value: Value) => {
    const keys = [...marks.keys.value.values()]
    const shown = keys.map((key) => rows.find(key))
    // A column that is hidden is not in the rows.
    const isKnown = shown.every((row) => row !== undefined && Object.hasOwn(row, name))
    const now = isKnown ? shown : await readItems(workspace, model, keys)
    // What was closed while it read has changed nothing.
    if (!underWay.goesOn()) return underWay.leave()
    const changes = now.flatMap((row): Change[] => {
      if (row === undefined) return []
      const key = keyOf(model, row)
      const base = baseIn(saving, key, name, row[name])
      return isSame(base, value) ? [] : [{ key, field: name, base, value }]
    })
    underWay.leave()
    if (changes.length === 0) showToast(texts.sameAlready)
    else if (await saving.save(changes)) {
      toastChanged(changes.length, changes.filter(({ base }) => isKept({ type }, base)).length, changes.length)
    }
  }

  const changeAll = async ({ name, type }: FieldModel, value: Value, most: number) => {
    const items = itemsOf(workspace, model)
    const filter = filterOfAll(model, props.view)
    const fields = [...new Set([...model.key, name])]
    const update = (more: object) => items.update({ filter, max: most }, { [name]: value }, { fields, ...more })
    if (!canUndo) {
      const changed = (await update({ idempotencyKey: true }).orThrow()) as unknown as readonly Row[]
      finish(changed.length, [], 0)
      return
    }
    const read = items.list({ fields, filter, limit: most })
    const [before, after] = (await batchOf<unknown>(workspace, [read, update({}) as Call<unknown>])) as [Row[], Row[]]
    const old = new Map(before.map((row) => [JSON.stringify(keyOf(model, row)), row]))
    const back = after.flatMap((row): Change[] => {
      const key = keyOf(model, row)
      const was = old.get(JSON.stringify(key))
      return was === undefined || isSame(was[name], row[name])
        ? []
        : [{ key, field: name, base: row[name], value: was[name] }]
    })
    const kept = back.filter((change) => isKept({ type }, change.value))
    finish(after.length, kept, back.length)
  }

  const finish = (changed: number, back: readonly Change[], other: number) => {
    saving.remember(back)
    underWay.leave()
    toastChanged(changed, back.length, other)
    void rows.reload()
  }

  const submit = async (event: Event) => {
    event.preventDefault()
    if (underWay.isBusy || field === undefined || !count) return
    const parsed = text === null ? { value: null } : parse(field, text)
    if ('wrong' in parsed) return setWrong(t.value.grid.wrong[parsed.wrong])
    underWay.begin()
    setError(undefined)
    try {
      if (which === 'chosen') await changeChosen(field, parsed.value)
      else await changeAll(field, parsed.value, count)
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause
      if (!underWay.isThere()) return showToast(whyEnded(cause, 0), 'danger')
      underWay.stay()
      setError(cause)
      if (cause.code === '4013') recount()
    }
  }
  const choose = (value: string | null) => {
    setText(value)
    setWrong(undefined)
  }
  return (
    <Dialog
      title={count === undefined ? texts.counting : texts.changeTitle(formatNumber(count), count)}
      onClose={underWay.close}
    >
      <form class={page.stack} onSubmit={submit}>
        {error && <BulkFault error={error} done={0} />}
        {uncounted && <Fault error={uncounted} onRetry={recount} />}
        {which === 'all' && marks.keys.value.size > 0 && <p>{texts.notOnlyChosen}</p>}
        <Select
          label={t.value.grid.field}
          value={field?.name ?? ''}
          onValue={(name) => {
            setField(fields.find((one) => one.name === name))
            choose('')
          }}
          options={fields.map(({ name, title }) => [name, title] as const)}
        />
        {field && (
          <div class={item.one}>
            <FieldInput
              field={field}
              label={t.value.grid.value}
              text={text}
              value={null}
              isReadOnly={false}
              wrong={wrong}
              onText={choose}
              reference={
                relation && {
                  title: relation.title,
                  label: null,
                  href: undefined,
                  onChoose: () => setPicking(true),
                }
              }
            />
          </div>
        )}
        {field && text === '' && 'value' in parse(field, '') && <p class={page.quiet}>{texts.writesEmpty}</p>}
        <p class={page.quiet} role="status">
          {underWay.isClosing ? texts.closing : count === 0 ? texts.none : canUndo ? backText : texts.cannotUndo}
        </p>
        <FormActions
          label={texts.changeButton(formatNumber(count ?? 0), count ?? 0)}
          isBusy={underWay.isBusy}
          isDisabled={!count}
          onCancel={underWay.close}
        />
      </form>
      {isPicking && relation && field && (
        <Picker
          workspace={workspace}
          relation={relation}
          isNullable={field.isNullable}
          onClose={() => setPicking(false)}
          onPick={({ key: [value] }) => {
            setPicking(false)
            choose(value === null || value === undefined ? null : String(value))
          }}
        />
      )}
    </Dialog>
  )
}

const undoText = () => t.value.many[isTouched() ? 'canUndoByTouch' : 'canUndo']

/** How many were changed, and how many `back` of the `other` values that they had can be taken back. */
function toastChanged(count: number, back: number, other: number): void {
  const texts = t.value.many
  const messages = [texts.changed(formatNumber(count), count)]
  if (back > 0) messages.push(undoText())
  if (back < other) messages.push(texts.exactOnly)
  showToast(messages.join(' '))
}

export function BulkFault({ error, done }: { readonly error: ServiceError; readonly done: number }) {
  return <Notice look="danger">{whyEnded(error, done)}</Notice>
}

/** Why it ended, and how many are gone nevertheless: what is done piece by piece may fail after some. */
export function whyEnded(error: ServiceError, done: number): string {
  const texts = t.value.many
  const isGone = done > 0
  const because = () => {
    if (error.code === '4013') return texts.grown
    if (error.status === 403) return isGone ? texts.forbiddenOthers : texts.forbidden
    return [404, 412].includes(error.status) ? texts.changedMeanwhile : explainFault(error)
  }
  return isGone ? `${texts.deletedBefore(formatNumber(done), done)} ${because()}` : because()
}
