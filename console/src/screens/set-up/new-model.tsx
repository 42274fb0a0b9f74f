/** An empty model by a form: up to three collections with their fields, planned like a model file. */
import { useState } from 'preact/hooks'
import { formatNumber, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Select } from '../../ui/select.tsx'
import page from '../page.module.css'
import { faultOf } from '../submission.tsx'
import { modelsOf } from './planned.tsx'
import { Planning, type WayProps } from './planning.tsx'
import own from './set-up.module.css'

type NewField = { readonly name: string; readonly type: string; readonly isOptional: boolean }
type NewCollection = { readonly name: string; readonly fields: readonly NewField[] }

const MOST = 3

/** As the service takes them; longer ones are refused by it. */
const NAME = '[A-Za-z][A-Za-z0-9_]*'

/** A type that refers to another collection of the form. */
const TO = 'to:'

const types = ['string', 'int32', 'decimal(12,2)', 'boolean', 'date', 'dateTime', 'json'] as const

const freshField = (name = ''): NewField => ({ name, type: 'string', isOptional: false })
const fresh = (): NewCollection => ({ name: '', fields: [freshField('name')] })

export function NewModel(way: WayProps) {
  const texts = t.value.model
  const [all, setAll] = useState<readonly NewCollection[]>(() => [fresh()])
  /** A name that the workspace, or another collection of the form, has already. */
  const [taken, setTaken] = useState<string>()
  const onModel = async () => {
    const before = await modelsOf(way.workspace).model({ ids: false })
    if (!before.ok) return faultOf(before)
    const names = all.map(({ name }) => name)
    const second = names.find(
      (name, at) => Object.hasOwn(before.data.collections ?? {}, name) || names.indexOf(name) < at,
    )
    setTaken(second)
    if (second !== undefined) return undefined
    return {
      version: 1,
      collections: { ...Object.fromEntries(all.map(collectionOf)), ...ofWorkspace(before.data.collections) },
    }
  }
  const change = (at: number, to: NewCollection) => setAll(all.with(at, to))
  return (
    <Planning {...way} draft={all} onModel={onModel}>
      {all.map((collection, at) => (
        <Collection
          key={at}
          number={at + 1}
          collection={collection}
          error={collection.name === taken ? texts.taken(taken) : undefined}
          others={all.flatMap(({ name }, index) => (index === at || name === '' ? [] : name))}
          onChange={(to) => change(at, to)}
          onRemove={all.length > 1 ? () => setAll(all.toSpliced(at, 1)) : undefined}
        />
      ))}
      {all.length < MOST && (
        <span>
          <Button onClick={() => setAll([...all, fresh()])}>
            <Icon name="add" />
            {texts.addCollection}
          </Button>
        </span>
      )}
    </Planning>
  )
}

/** Those of attached databases stay as they are where they are not named. */
function ofWorkspace(collections: Readonly<Record<string, object>> = {}): Readonly<Record<string, object>> {
  return Object.fromEntries(Object.entries(collections).filter(([, collection]) => !('source' in collection)))
}

function collectionOf({ name, fields }: NewCollection): readonly [string, object] {
  const written = fields.map(({ name: field, type, isOptional }) => {
    const mark = isOptional ? '?' : ''
    return [field, type.startsWith(TO) ? { to: type.slice(TO.length) + mark } : type + mark] as const
  })
  return [name, { fields: Object.fromEntries([['id', 'int64 auto'], ...written]) }]
}

type CollectionProps = {
  readonly number: number
  readonly collection: NewCollection
  /** What is wrong with its name. */
  readonly error: string | undefined
  /** Names of those that a field can refer to. */
  readonly others: readonly string[]
  readonly onChange: (collection: NewCollection) => void
  readonly onRemove: (() => void) | undefined
}

function Collection({ number, collection, error, others, onChange, onRemove }: CollectionProps) {
  const texts = t.value.model
  const { name, fields } = collection
  const set = (at: number, to: Partial<NewField>) => {
    const before = fields[at]
    if (before) onChange({ ...collection, fields: fields.with(at, { ...before, ...to }) })
  }
  const options = [
    ...types.map((type) => [type, texts.types[type]] as const),
    ...others.map((other) => [TO + other, texts.refersTo(other)] as const),
  ]
  return (
    <fieldset class={own.collection}>
      <legend>{texts.collection(formatNumber(number))}</legend>
      <Field
        label={texts.name}
        hint={texts.nameText}
        required
        autofocus
        dir="ltr"
        pattern={NAME}
        spellcheck={false}
        error={error}
        value={name}
        onValue={(to) => onChange({ ...collection, name: to })}
      />
      {fields.map((field, at) => (
        <div key={at} class={own.field}>
          <Field
            label={texts.field(formatNumber(at + 1))}
            required
            dir="ltr"
            pattern={NAME}
            spellcheck={false}
            value={field.name}
            onValue={(to) => set(at, { name: to })}
          />
          <Select label={texts.type} value={field.type} options={options} onValue={(type) => set(at, { type })} />
          <Checkbox
            label={texts.isOptional}
            isChecked={field.isOptional}
            onCheck={(isOptional) => set(at, { isOptional })}
          />
          <Button
            look="plain"
            isIcon
            aria-label={texts.removeField(field.name || formatNumber(at + 1))}
            onClick={() => onChange({ ...collection, fields: fields.toSpliced(at, 1) })}
          >
            <Icon name="close" />
          </Button>
        </div>
      ))}
      <span class={page.row}>
        <Button onClick={() => onChange({ ...collection, fields: [...fields, freshField()] })}>
          <Icon name="add" />
          {texts.addField}
        </Button>
        {onRemove && (
          <Button look="plain" onClick={onRemove}>
            {texts.removeCollection(name || formatNumber(number))}
          </Button>
        )}
      </span>
    </fieldset>
  )
}
