/** One field of a form: its name, an input by its type, the item that it refers to, and what is wrong. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { typeName } from '../../messages/types.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { sizeText } from '../files/size.ts'
import type { FieldModel } from '../grid/model.ts'
import { inputKindOf, shapes, type Value } from '../grid/values.ts'
import page from '../page.module.css'
import { Calendar, hasCalendar } from './calendar.tsx'
import styles from './item.module.css'

export type Reference = {
  readonly title: string
  /** Whether the field says nothing but this, and has no name but that of its column: it is called as the relation is. */
  readonly isAlone?: boolean
  /** What the item is called that is referred to; null for none. */
  readonly label: string | null
  /** Whether it refers to something that is not there, or that the reader does not see. */
  readonly isNowhere?: boolean
  readonly href: string | undefined
  /** Absent where it may not be changed. */
  readonly onChoose: (() => void) | undefined
  /** Absent where it must refer to something. */
  readonly onRemove?: (() => void) | undefined
  /** The file that it refers to, by which it is shown and chosen instead of by its key. */
  readonly file?: ComponentChildren
}

type FieldInputProps = {
  readonly field: FieldModel
  /** What it is called where its field is named already. */
  readonly label?: string
  /** Null for null, undefined for nothing said. */
  readonly text: string | null | undefined
  /** As it is stored, which decides on one line or several. */
  readonly value: Value
  readonly isReadOnly: boolean
  readonly isNew?: boolean
  readonly wrong: string | undefined
  readonly reference?: Reference | undefined
  /** The id of the element that says why it may not be changed. */
  readonly why?: string | undefined
  readonly onText: (text: string | null) => void
}

export function FieldInput(props: FieldInputProps) {
  const { field, text, isReadOnly, isNew = false, wrong, reference, why, onText } = props
  const id = useId()
  const texts = t.value.item
  const mayNull = field.type === 'string' && field.isNullable && !isReadOnly && field.values.length === 0
  const title = props.label ?? (reference?.isAlone ? reference.title : field.title)
  const kind = reference?.file
    ? t.value.files.title
    : reference?.isAlone
      ? `${field.name} · ${typeName(field)}`
      : typeName(field)
  // A key that nobody types here says less than the name that it leads to.
  const key = isReadOnly && reference?.isAlone && reference.label && !reference.file ? text : undefined
  const isGroup = reference?.file !== undefined || key !== undefined
  const isRequired = isNew && !field.isNullable && !field.hasDefault
  return (
    <div class={styles.field} {...(isGroup && ({ role: 'group', 'aria-label': title } as const))}>
      <div class={styles.label}>
        {isGroup ? (
          <span dir="auto">{title}</span>
        ) : (
          <label for={id} dir="auto">
            {title}
          </label>
        )}
        <span class={page.quiet} title={field.isList ? `${field.type}[]` : field.type}>
          {isRequired ? `${kind} · ${texts.required}` : kind}
          {why && (
            <>
              {' · '}
              <a href={why} aria-label={t.value.item.whyReadOnly(field.title)}>
                {t.value.item.why}
              </a>
            </>
          )}
        </span>
        {field.description && (
          <span id={`${id}-description`} class={`${page.quiet} ${styles.description}`} dir="auto">
            {field.description}
          </span>
        )}
      </div>
      <div class={styles.value}>
        {reference && <Referred {...reference} keyText={key} />}
        {reference?.file}
        <div class={styles.line}>
          {!isGroup && <Input {...props} id={id} />}
          {!isReadOnly && !field.isList && hasCalendar(field.type) && (
            <Calendar title={field.title} type={field.type} text={text ?? ''} onText={onText} />
          )}
          {reference?.onChoose && !reference.file && (
            <Button aria-haspopup="dialog" aria-label={texts.choose(reference.title)} onClick={reference.onChoose}>
              <Icon name="search" />
            </Button>
          )}
          {mayNull && !(isNew && text === undefined) && text !== null && (
            <Button aria-label={`${texts.setNull}: ${field.title}`} onClick={() => onText(null)}>
              {texts.setNull}
            </Button>
          )}
        </div>
        {wrong && (
          <p id={`${id}-wrong`} class={page.wrong} role="alert">
            {wrong}
          </p>
        )}
      </div>
    </div>
  )
}

/** What the item is called that a field refers to, and the way to it. */
function Referred(props: Reference & { readonly keyText: string | null | undefined }) {
  const { title, isAlone, label, isNowhere, href, onRemove, keyText } = props
  if (!label && !isNowhere) return null
  return (
    <p class={styles.reference}>
      {!isAlone && (
        <span>
          <bdi>{title}</bdi>:{' '}
        </span>
      )}
      {isNowhere ? (
        <span class={page.quiet}>{t.value.grid.nowhere}</span>
      ) : href === undefined ? (
        <span dir="auto">{label}</span>
      ) : (
        <a href={href} dir="auto">
          {label}
        </a>
      )}
      {keyText && (
        <span>
          {' '}
          <bdi>{keyText}</bdi>
        </span>
      )}
      {onRemove && (
        <Button look="plain" isIcon aria-label={t.value.item.unlink(label ?? title)} onClick={onRemove}>
          <Icon name="close" />
        </Button>
      )}
    </p>
  )
}

function Input({
  field,
  text,
  value,
  isReadOnly,
  isNew,
  wrong,
  onText,
  id,
}: FieldInputProps & { readonly id: string }) {
  const kind = inputKindOf(field, value)
  const isCode = field.isList || field.type === 'json'
  const common = {
    id,
    class: `${styles.input} ${isCode ? styles.code : ''}`,
    'aria-invalid': wrong !== undefined,
    'aria-describedby':
      [field.description && `${id}-description`, wrong !== undefined && `${id}-wrong`].filter(Boolean).join(' ') ||
      undefined,
  }
  const nothing = isNew && text === undefined ? (field.hasDefault ? t.value.item.byDefault : '') : t.value.grid.null
  const placeholder = text === null || text === undefined ? nothing : shapes[field.type]
  if (field.type === 'boolean' && !field.isList && !field.isNullable && !isReadOnly && text) {
    const isOn = text === 'true'
    return (
      <span class={styles.switch}>
        <input
          {...common}
          class={undefined}
          type="checkbox"
          role="switch"
          aria-checked={isOn}
          checked={isOn}
          onChange={({ currentTarget }) => onText(String(currentTarget.checked))}
        />
        <span aria-hidden="true">{text}</span>
      </span>
    )
  }
  if (kind === 'choice' && !isReadOnly) {
    const names = field.type === 'boolean' ? ['true', 'false'] : field.values
    return (
      <select {...common} value={text ?? ''} onChange={({ currentTarget }) => onText(currentTarget.value)}>
        {(field.isNullable || !text) && <option value="">{nothing}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    )
  }
  const typed = {
    dir: isCode ? 'ltr' : text ? 'auto' : undefined,
    readOnly: isReadOnly,
    placeholder,
    value: field.isSize && isReadOnly && text ? sizeText(Number(text)) : (text ?? ''),
    spellcheck: field.type === 'string',
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => onText(currentTarget.value),
  } as const
  if (kind === 'lines')
    return <textarea {...common} {...typed} rows={Math.min(12, (text ?? '').split('\n').length + 1)} />
  return <input {...common} {...typed} autocomplete="off" />
}
