/** An empty model by a form: up to three collections with their fields, planned like a model file. */
import type { Plan } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { formatNumber, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { DialogActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import styles from '../entry.module.css'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { type Model, modelsOf, Planned } from './planned.tsx'
import own from './set-up.module.css'

type NewModelProps = {
  readonly workspace: string
  readonly onDone: (collection: string | undefined) => void
  readonly onBack: () => void
}

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

export function NewModel({ workspace, onDone, onBack }: NewModelProps) {
  const texts = t.value.model
  const [all, setAll] = useState<readonly NewCollection[]>(() => [fresh()])
  const [planned, setPlanned] = useState<{ readonly model: Model; readonly plan: Plan }>()
  const { fault, isBusy, submit } = useSubmission(async () => {
    const models = modelsOf(workspace)
    const before = await models.model({ ids: false })
    if (!before.ok) return faultOf(before)
    const made = Object.fromEntries(all.map(collectionOf))
    const taken = Object.keys(made).find((name) => Object.hasOwn(before.data.collections ?? {}, name))
    if (taken !== undefined) return texts.taken(taken)
    const model = { version: 1, collections: { ...made, ...ofWorkspace(before.data.collections) } }
    const plan = await models.plan(model)
    if (!plan.ok) return faultOf(plan)
    setPlanned({ model, plan: plan.data })
    return undefined
  })
  if (planned !== undefined) {
    return <Planned workspace={workspace} {...planned} onDone={onDone} onBack={() => setPlanned(undefined)} />
  }
  const change = (at: number, to: NewCollection) => setAll(all.with(at, to))
  return (
    <form class={styles.form} onSubmit={submit}>
      {fault && <Notice look="danger">{fault}</Notice>}
      {all.map((collection, at) => (
        <Collection
          key={at}
          number={at + 1}
          collection={collection}
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
      <DialogActions>
        <Button look="plain" onClick={onBack}>
          {t.value.connect.back}
        </Button>
        <Button type="submit" look="primary" isBusy={isBusy}>
          {texts.showPlan}
        </Button>
      </DialogActions>
    </form>
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
  /** Names of those that a field can refer to. */
  readonly others: readonly string[]
  readonly onChange: (collection: NewCollection) => void
  readonly onRemove: (() => void) | undefined
}

function Collection({ number, collection, others, onChange, onRemove }: CollectionProps) {
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
        required
        autofocus
        dir="ltr"
        pattern={NAME}
        spellcheck={false}
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
          <label class={page.row}>
            <input
              type="checkbox"
              checked={field.isOptional}
              onChange={({ currentTarget }) => set(at, { isOptional: currentTarget.checked })}
            />
            {texts.isOptional}
          </label>
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
