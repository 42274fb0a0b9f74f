/** The fields of a collection: what each holds, and the form that makes or changes one. */
import { useState } from 'preact/hooks'
import { modelTexts } from '../../messages/model.ts'
import { typeName } from '../../messages/types.ts'
import { valuesTexts } from '../../messages/values.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Field as Input } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { Table } from '../../ui/table.tsx'
import page from '../page.module.css'
import { isSame, outcomeOf } from '../review/values.ts'
import { changeField, createField, deleteField, typeOf } from './changes.ts'
import { addChange, type OfCollection, useTyped } from './data.ts'
import { familyOf } from './families.ts'
import styles from './model.module.css'
import { DbName, NameField } from './name-fields.tsx'
import { Actions, NameOf, Part } from './part.tsx'
import type { Field, FieldType } from './records.ts'
import { changesOf, defaultOf, defaultText, type Fill, fillOf, fillsOf, membersOf, typesIn, typeText } from './types.ts'

export function Fields(of: OfCollection) {
  const { workspace, collection, mayEdit } = of
  const texts = modelTexts.value
  const [dialog, setDialog] = useState<Field | 'new'>()
  const isFixed = collection.isReadOnly || collection.isView
  const filled = (field: Field) => {
    const fill = fillOf(field)
    if (fill === 'none') return ''
    return fill === 'value' ? <code dir="ltr">{defaultText(field)}</code> : texts.fills[fill]
  }
  return (
    <Part
      title={texts.sections.fields}
      add={mayEdit && !isFixed ? { label: texts.newField, onAdd: () => setDialog('new') } : undefined}
    >
      <Table
        label={texts.sections.fields}
        rows={collection.fields}
        keyOf={({ id }) => id}
        columns={[
          { title: texts.field, cell: ({ id, apiName }) => <NameOf workspace={workspace} id={id} name={apiName} /> },
          {
            title: texts.type,
            cell: (field) => (
              <>
                {typeName({ type: field.type.name, isList: field.isList })}{' '}
                <code class={page.quiet} dir="ltr">
                  {typeText(field)}
                </code>
              </>
            ),
          },
          { title: texts.fill, cell: filled },
          { title: texts.dbName, cell: ({ dbName }) => <code dir="ltr">{dbName}</code> },
          ...(mayEdit
            ? [
                {
                  title: texts.actions,
                  cell: (field: Field) =>
                    field.isReadOnly ? (
                      <span class={page.quiet}>{texts.readOnly}</span>
                    ) : (
                      <Actions
                        workspace={workspace}
                        id={field.id}
                        name={field.apiName}
                        onEdit={() => setDialog(field)}
                        deletion={() => deleteField(collection, field)}
                      />
                    ),
                },
              ]
            : []),
        ]}
      />
      {dialog !== undefined && (
        <FieldForm {...of} field={dialog === 'new' ? undefined : dialog} onClose={() => setDialog(undefined)} />
      )}
    </Part>
  )
}

type FormProps = OfCollection & { readonly field: Field | undefined; readonly onClose: () => void }

type Typed = {
  readonly name: string
  readonly dbName: string
  readonly type: string
  readonly length: string
  readonly precision: string
  readonly scale: string
  readonly isNullable: boolean
  readonly isList: boolean
  readonly fill: Fill
  readonly value: string
}

function FieldForm({ workspace, model, collection, field, onClose }: FormProps) {
  const texts = modelTexts.value
  const { typed, set, forget } = useTyped<Typed>([workspace, collection.id, field?.id ?? 'field'], typedOf(field))
  const [isWrong, setWrong] = useState(false)
  const name = typed.name.trim()
  const isTaken =
    name !== field?.apiName && [...collection.fields, ...collection.relations].some(({ apiName }) => apiName === name)
  const family = familyOf(model, collection.sourceId)
  const stored = typesIn(family)
  const types =
    field === undefined
      ? stored
      : changesOf(field.type, field.isList).filter((one) => one === field.type.name || stored.includes(one))
  const before = field && fillOf(field)
  const fills = [...fillsOf(typed.type, typed.isList), ...(before === 'kept' ? [before] : [])]
  const fill = fills.includes(typed.fill) ? typed.fill : 'none'
  const close = () => {
    forget()
    onClose()
  }
  const send = () => {
    const defaultValue = defaultOf(fill, typed.type, typed.isList, typed.value)
    if (defaultValue === undefined) {
      setWrong(true)
      return
    }
    const { dbName, isNullable, isList } = typed
    const after = { apiName: name, dbName, isNullable, isList, type: typeIn(typed) }
    const isKept = field !== undefined && fill === before && (fill !== 'value' || typed.value === defaultText(field))
    addChange(
      workspace,
      field === undefined
        ? createField(model, collection, { ...after, defaultValue })
        : {
            ...changeField(collection, field, { ...after, ...(!isKept && { defaultValue }) }),
            members: [membersOf(field), membersOf({ ...field, ...after, ...(!isKept && { defaultValue }) })],
          },
    )
    close()
  }
  return (
    <Dialog title={field === undefined ? texts.newField : texts.editOf(field.apiName)} onClose={close}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <div class={styles.two}>
          <NameField
            error={isTaken ? texts.taken(name) : undefined}
            value={typed.name}
            onValue={(to) => set({ name: to })}
          />
          <DbName
            hint={texts.columnText}
            isRequired={field !== undefined}
            value={typed.dbName}
            onValue={(dbName) => set({ dbName })}
          />
        </div>
        <Select
          label={texts.type}
          hint={field === undefined ? undefined : `${outcomeText(field, typeIn(typed))}${texts.typesText}`}
          value={typed.type}
          options={types.map((one) => [one, `${typeName({ type: one, isList: false })} (${one})`])}
          onValue={(type) => set({ type })}
        />
        <Bounds typed={typed} isNeeded={family.needsBounds} onValue={set} />
        <Checkbox label={texts.isNullable} isChecked={typed.isNullable} onCheck={(isNullable) => set({ isNullable })} />
        {field === undefined && family.hasLists && (
          <Checkbox label={texts.isList} isChecked={typed.isList} onCheck={(isList) => set({ isList })} />
        )}
        <Select
          label={texts.fill}
          value={fill}
          options={fills.map((one) => [one, texts.fills[one]])}
          onValue={(to) => set({ fill: to })}
        />
        {fill === 'value' && (
          <Input
            label={texts.value}
            hint={texts.valueText}
            error={isWrong ? texts.noValue : undefined}
            spellcheck={false}
            value={typed.value}
            onValue={(value) => {
              setWrong(false)
              set({ value })
            }}
          />
        )}
        <FormActions label={texts.add} isDisabled={isTaken} onCancel={close} />
      </form>
    </Dialog>
  )
}

/** What becomes of the values where it gets the chosen type. */
function outcomeText({ type, isList }: Field, to: FieldType): string {
  return isSame(type, to) ? '' : `${valuesTexts.value[outcomeOf(type, to, isList) ?? 'lossy']} `
}

type BoundsProps = {
  readonly typed: Typed
  /** Of a decimal: whether the database has none without. */
  readonly isNeeded: boolean
  readonly onValue: (to: Partial<Typed>) => void
}

const WHOLE = '[0-9]+'

/** How much a text or a decimal holds. */
function Bounds({ typed, isNeeded, onValue }: BoundsProps) {
  const texts = modelTexts.value
  const { type, length, precision, scale } = typed
  if (type === 'string') {
    return (
      <Input
        label={texts.length}
        hint={texts.lengthText}
        isOptional
        dir="ltr"
        pattern={WHOLE}
        value={length}
        onValue={(to) => onValue({ length: to })}
      />
    )
  }
  if (type !== 'decimal') return null
  return (
    <div class={styles.two}>
      <Input
        label={texts.precision}
        {...(!isNeeded && { hint: texts.decimalText })}
        isOptional={!isNeeded}
        required={isNeeded || scale !== ''}
        dir="ltr"
        pattern={WHOLE}
        value={precision}
        onValue={(to) => onValue({ precision: to })}
      />
      <Input
        label={texts.scale}
        isOptional={!isNeeded}
        required={isNeeded || precision !== ''}
        dir="ltr"
        pattern={WHOLE}
        value={scale}
        onValue={(to) => onValue({ scale: to })}
      />
    </div>
  )
}

function typeIn({ type, length, precision, scale }: Typed): FieldType {
  if (type === 'string' && length !== '') return typeOf(type, { length: 'fixed', value: Number(length) })
  if (type === 'decimal' && precision !== '') {
    return typeOf(type, { kind: 'constrained', precision: Number(precision), scale: Number(scale) })
  }
  return typeOf(type)
}

function typedOf(field: Field | undefined): Typed {
  const { value, precision, scale } = field?.type.params ?? {}
  return {
    name: field?.apiName ?? '',
    dbName: field?.dbName ?? '',
    type: field?.type.name ?? 'string',
    length: String(value ?? ''),
    precision: String(precision ?? ''),
    scale: String(scale ?? ''),
    isNullable: field?.isNullable ?? false,
    isList: field?.isList ?? false,
    fill: field === undefined ? 'none' : fillOf(field),
    value: field === undefined ? '' : defaultText(field),
  }
}
