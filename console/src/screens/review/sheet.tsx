/** The review of a dangerous change: all that it does stands in one place, and whoever makes it has seen it. */
import type { Breaks, Change, TouchedRows } from 'governed-data-client/system'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { formatNumber, t } from '../../messages/messages.ts'
import { valuesTexts } from '../../messages/values.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import page from '../page.module.css'
import styles from './review.module.css'
import { effectsOf, fieldText } from './values.ts'
import { indexWords, memberTexts, typeWords } from './words.ts'

/** What is known of a change before it is made; what is absent is not said. */
export type Review = {
  readonly changes?: readonly ShownChange[]
  readonly rows?: readonly TouchedRows[]
  readonly breaks?: Partial<Breaks>
  readonly statements?: readonly { readonly sql: string }[]
  /** What can be taken back afterwards: the change with its data, also with what it makes, without, or nothing. */
  readonly back?: 'data' | 'made' | 'model' | 'nothing'
}

/** `effects`: sentences on what it does to the database. */
export type ShownChange = Change & { readonly effects?: readonly string[] }

type ReviewSheetProps = {
  readonly title: string
  readonly review?: Review | undefined
  /** What its button says. */
  readonly label: string
  readonly look?: 'primary' | 'danger'
  /** What has to be typed before: the name of what loses data. */
  readonly typed?: string | undefined
  readonly isBusy?: boolean
  readonly isDisabled?: boolean
  readonly onConfirm: (event: Event) => unknown
  readonly onClose: () => void
  /** What goes wrong, and what there is to say besides. */
  readonly children?: ComponentChildren
}

export function ReviewSheet(props: ReviewSheetProps) {
  const { title, review = {}, label, look = 'danger', typed, isBusy = false, isDisabled = false } = props
  const { onConfirm, onClose, children } = props
  const [text, setText] = useState('')
  const confirm = (event: Event) => {
    event.preventDefault()
    onConfirm(event)
  }
  return (
    <Dialog title={title} onClose={onClose} isWide={review.statements !== undefined}>
      <form class={styles.sheet} onSubmit={confirm}>
        {children}
        <ReviewContent {...review} />
        {typed !== undefined && <TypedName name={typed} value={text} onValue={setText} />}
        <DialogActions>
          <Button onClick={onClose}>{t.value.common.cancel}</Button>
          <Button
            type="submit"
            look={look}
            isBusy={isBusy}
            disabled={isDisabled || (typed !== undefined && !isTyped(text, typed))}
          >
            {label}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

type TypedNameProps = { readonly name: string; readonly value: string; readonly onValue: (value: string) => void }

/** Asks for the name of what loses data. */
export function TypedName({ name, value, onValue }: TypedNameProps) {
  const label = t.value.review.type(name)
  return <Field label={label} labelCode={name} value={value} onValue={onValue} required spellcheck={false} />
}

export function isTyped(text: string, name: string): boolean {
  return text.trim() === name
}

/** The first of the touched collections that loses what it has. */
export function lossIn(rows: readonly TouchedRows[] = []): TouchedRows | undefined {
  return rows.find(({ destroys, rows: count }) => destroys && count !== 0)
}

/** What is known of a change, wherever somebody decides on it. */
export function ReviewContent({ changes = [], rows = [], breaks, statements = [], back }: Review) {
  const texts = t.value.review
  return (
    <>
      {back && <Notice look={back === 'data' || back === 'made' ? 'good' : 'warning'}>{texts.back[back]}</Notice>}
      {changes.length > 0 && <Changes changes={changes} />}
      {rows.length > 0 && <Rows rows={rows} changes={changes} />}
      {breaks && <Broken breaks={breaks} />}
      {statements.length > 0 && <Statements statements={statements} />}
    </>
  )
}

type ChangesProps = {
  readonly changes: readonly ShownChange[]
  /** Of its title: below that of a dialog where nothing is said. */
  readonly level?: 'h2' | 'h3'
}

/** Of several collections each is a group that can be folded; none is folded at first, so that all of it was seen. */
export function Changes({ changes, level: Title = 'h3' }: ChangesProps) {
  const texts = t.value.model
  const groups = [...Map.groupBy(changes, ({ path }) => path.split(/[.:]/)[0] ?? path)]
  const lines = (some: readonly ShownChange[]) =>
    some.map((change) => (
      <li key={`${change.action} ${change.path}`}>
        <HeadOf {...change} />
        {restOf(change)}
      </li>
    ))
  const groupOf = (name: string, own: readonly ShownChange[]) => {
    const [first] = own
    const rest = own.length === 1 && first && restOf(first)
    if (first && rest === null) return <HeadOf {...first} />
    return (
      <details open>
        <summary>
          {first && rest ? (
            <HeadOf {...first} />
          ) : (
            <>
              <code dir="ltr">{name}</code>{' '}
              <span class={page.quiet}>{valuesTexts.value.changes(formatNumber(own.length), own.length)}</span>
            </>
          )}
        </summary>
        {rest || <ul class={styles.list}>{lines(own)}</ul>}
      </details>
    )
  }
  return (
    <section class={page.stack}>
      <Title>{texts.changes}</Title>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well */}
      <section class={styles.changes} tabIndex={0} aria-label={texts.changes}>
        <ul class={styles.list} aria-label={texts.changes}>
          {groups.length === 1 ? lines(changes) : groups.map(([name, own]) => <li key={name}>{groupOf(name, own)}</li>)}
        </ul>
      </section>
    </section>
  )
}

function HeadOf(change: ShownChange) {
  const { action } = change
  return (
    <>
      <span class={action === 'delete' ? page.wrong : page.quiet}>{t.value.model.actions[action]}</span>{' '}
      <PathOf {...change} />
    </>
  )
}

/** What it is or becomes, below its path; null where that is all. */
function restOf(change: ShownChange): ComponentChildren {
  const { action, path, effects = [] } = change
  const whole = action === 'create' && ofModel.test(path) && wholeOf(change)
  const values = action === 'change' && ofField.test(path) && valuesOf(change)
  const members = action === 'change' && ofModel.test(path) && membersChanged(change)
  if (!whole && !values && !members && effects.length === 0) return null
  return (
    <>
      {whole}
      {values}
      {members}
      {effects.length > 0 && (
        <ul class={styles.effects}>
          {effects.map((effect) => (
            <li key={effect}>{effect}</li>
          ))}
        </ul>
      )}
    </>
  )
}

const ofField = /^\w+\.\w+$/
const ofModel = /^\w+(\.\w+|: key)?$/

/** Of what is renamed the name before as well: its path ends with the new one. */
function PathOf({ action, path, from, to }: Change) {
  const isRenamed = action === 'rename' && typeof from === 'string' && typeof to === 'string'
  return (
    <>
      {isRenamed && (
        <>
          <code dir="ltr">{path.slice(0, path.length - to.length) + from}</code>{' '}
          <span class={page.quiet}>{valuesTexts.value.becomes}</span>{' '}
        </>
      )}
      <PathText path={path} />
    </>
  )
}

export function PathText({ path }: { readonly path: string }) {
  const words = indexWords(path)
  if (words === undefined) return <code dir="ltr">{path}</code>
  return (
    <>
      <code dir="ltr">{words.of}</code>: {words.index}
    </>
  )
}

/** Of what is made what it is: of a collection its fields, key and indexes, one below the other. */
function wholeOf({ to }: Change) {
  const { fields, key, indexes, ...rest } = membersOf(to)
  const members = membersChanged({ to: rest })
  if (members === null && fields === undefined) return null
  return (
    <>
      {members}
      {fields !== undefined && (
        <ul class={styles.effects}>
          {Object.entries(membersOf(fields)).map(([name, form]) => (
            <li key={name}>
              <code dir="ltr">{name}</code>
              {membersChanged({ to: form })}
            </li>
          ))}
          {memberTexts({}, { ...(key !== undefined && { key }), ...(indexes !== undefined && { indexes }) }).map(
            (text) => (
              <li key={text}>{text}</li>
            ),
          )}
        </ul>
      )}
    </>
  )
}

/** What else of it changes; of what is made its type goes without saying. */
function membersChanged({ from = {}, to }: Pick<Change, 'from' | 'to'>) {
  const isInType = effectsOf(from, to).length > 0
  const [before, after] = [from, to].map((form) => ({ ...membersOf(form), ...(isInType && { type: undefined }) }))
  const texts = memberTexts(before ?? {}, after ?? {})
  return texts.length === 0 ? null : <span class={page.quiet}>: {texts.join(' · ')}</span>
}

/** A field may be its type alone, and a key is a list. */
function membersOf(form: unknown): Readonly<Record<string, unknown>> {
  if (typeof form === 'string') return { type: form }
  return typeof form === 'object' && form !== null && !Array.isArray(form) ? { ...form } : { '': form }
}

/** Of a field that gets another type: which, and what that does to the values that it has. */
function valuesOf({ from, to }: Change) {
  const effects = effectsOf(from, to)
  if (effects.length === 0) return null
  return (
    <>
      : {typeWords(fieldText(from))} {valuesTexts.value.becomes} {typeWords(fieldText(to))}{' '}
      <ul class={styles.effects}>
        {effects.map((effect) => (
          <li key={effect} class={effect === 'anew' ? page.wrong : undefined}>
            {valuesTexts.value[effect]}
          </li>
        ))}
      </ul>
    </>
  )
}

/** Collapsed, since few read them; whoever does takes them along. */
export function Statements({ statements }: { readonly statements: readonly { readonly sql: string }[] }) {
  const texts = t.value.model
  const text = statements.map(({ sql }) => `${sql};`).join('\n')
  return (
    <details>
      <summary>{texts.statements}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well */}
      <section class={styles.sql} tabIndex={0} aria-label={texts.statements}>
        <pre dir="ltr">{text}</pre>
      </section>
      <CopyButton text={text} isSecondary />
    </details>
  )
}

type RowsProps = { readonly rows: readonly TouchedRows[]; readonly changes: readonly Change[] }

function Rows({ rows, changes }: RowsProps) {
  const texts = t.value.review
  return (
    <section class={page.stack}>
      <h3>{texts.rows}</h3>
      <ul class={styles.list} aria-label={texts.rows}>
        {rows.map((touched) => (
          <li key={touched.collection} data-destroys={touched.destroys}>
            <bdi>{touched.collection}</bdi>: {countOf(touched)}
            <span class={touched.destroys ? page.wrong : undefined}>
              {' '}
              {texts.fate[fateOf(touched, changes)](touched.rows ?? Number.POSITIVE_INFINITY)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What becomes of the rows of a collection. */
function fateOf({ collection, destroys }: TouchedRows, changes: readonly Change[]) {
  const isGone = changes.some(({ action, path }) => action === 'delete' && path === collection)
  if (destroys) return isGone ? 'deleted' : 'reduced'
  const isConverted = changes.some(
    ({ path, from, to }) => path.startsWith(`${collection}.`) && effectsOf(from, to).length > 0,
  )
  return isConverted ? 'converted' : 'filled'
}

function countOf({ rows, isAtLeast }: TouchedRows): string {
  const texts = t.value.review
  if (rows === null) return texts.hiddenCount
  const counted = t.value.grid.count(formatNumber(rows), rows)
  return isAtLeast ? texts.atLeast(counted) : counted
}

const kinds = ['policies', 'views', 'tests'] as const

/** What names what goes, by kinds, and whether there may be more that is not told. */
export function Broken({ breaks }: { readonly breaks: Partial<Breaks> }) {
  const texts = t.value.review
  const groups = kinds.flatMap((kind) => {
    const names = breaks[kind] ?? []
    return names.length === 0 ? [] : [{ kind, names }]
  })
  const isHidden = kinds.some((kind) => breaks[kind] === null)
  if (groups.length === 0) return isHidden ? <p class={page.quiet}>{texts.hidden}</p> : null
  return (
    <section class={page.stack}>
      <h3>{texts.breaks}</h3>
      <ul class={styles.list} aria-label={texts.breaks}>
        {groups.map(({ kind, names }) => (
          <li key={kind}>
            <span class={page.quiet}>{texts.broken[kind]}</span>{' '}
            {names.map(({ id, name }, at) => (
              <span key={id}>
                {at > 0 && t.value.common.comma}
                <q>
                  <bdi>{name}</bdi>
                </q>
              </span>
            ))}
          </li>
        ))}
      </ul>
      {isHidden && <p class={page.quiet}>{texts.hidden}</p>}
    </section>
  )
}
