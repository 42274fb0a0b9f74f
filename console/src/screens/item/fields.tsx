/** All fields of an item as a form, those that refer with the item that they refer to. */
import { useState } from 'preact/hooks'
import { itemPath } from '../../app/router.ts'
import { FILES } from '../../data/files.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { FileField } from '../files/field.tsx'
import type { CollectionModel, FieldModel, ToOne } from '../grid/model.ts'
import { Picker } from '../grid/picker.tsx'
import { parse, textOf, type Value } from '../grid/values.ts'
import page from '../page.module.css'
import type { Draft } from './drafts.ts'
import { FieldInput, type Reference } from './field-input.tsx'
import styles from './item.module.css'

export type Shown = {
  readonly text: string | null | undefined
  readonly value: Value
  readonly wrong: string | undefined
  readonly isReadOnly: boolean
}

type FieldsProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly fields: readonly FieldModel[]
  readonly isNew?: boolean
  /** The element that says why a field may not be changed. */
  readonly whyOf?: (field: FieldModel) => string | undefined
  readonly shownOf: (field: FieldModel) => Shown
  /** What the item is called that a relation leads to, as it is stored; null for none. */
  readonly labelOf: (relation: ToOne) => string | null
  readonly draftOf: (name: string) => Draft | undefined
  readonly onText: (field: FieldModel, text: string | null, label?: string | null) => void
}

export function Fields({ workspace, model, fields, isNew, whyOf, shownOf, labelOf, draftOf, onText }: FieldsProps) {
  const [picking, setPicking] = useState<ToOne | undefined>(undefined)
  const fieldsBy = ({ by }: ToOne) => by.flatMap((name) => fields.find((one) => one.name === name) ?? [])
  const changeable = (relation: ToOne) => fieldsBy(relation).filter((one) => one.isNullable && !shownOf(one).isReadOnly)
  const mayBeNone = (relation: ToOne) => changeable(relation).length > 0
  const removeOf = (relation: ToOne) => {
    for (const one of changeable(relation)) onText(one, null)
  }
  const referenceOf = (field: FieldModel): Reference | undefined => {
    const relation = model.toOne.find(({ by }) => by.at(-1) === field.name)
    if (relation === undefined) return undefined
    const drafts = relation.by.map(draftOf)
    const isTyped = drafts.some((draft) => draft !== undefined)
    const label = isTyped ? (drafts.find((draft) => draft?.label !== undefined)?.label ?? null) : labelOf(relation)
    const keys = relation.by
      .map((name) => fields.find((one) => one.name === name))
      .map((one) => one && shownOf(one).text)
    const own = fieldsBy(relation)
    const isStored = !isTyped && own.length === relation.by.length && own.every((one) => shownOf(one).value != null)
    const isWhole = own.length === relation.by.length && own.some((one) => !shownOf(one).isReadOnly)
    return {
      title: relation.title,
      isAlone: relation.by.length === 1 && field.title === field.name,
      label,
      isNowhere: isStored && label === null,
      href: keys.every(Boolean) ? itemPath(workspace, relation.to, keys) : undefined,
      onChoose: isWhole ? () => setPicking(relation) : undefined,
      ...(relation.to === FILES && {
        onRemove: mayBeNone(relation) ? () => removeOf(relation) : undefined,
        file: (
          <FileField
            workspace={workspace}
            title={relation.title}
            id={keys[0] ?? null}
            onFile={isWhole ? ({ id, fileName }) => onText(field, id, fileName) : undefined}
          >
            {isWhole ? (
              <Button aria-haspopup="dialog" onClick={() => setPicking(relation)}>
                <Icon name="search" />
                {t.value.item.choose(relation.title)}
              </Button>
            ) : (
              !keys[0] && <span class={page.quiet}>{t.value.item.noLinks}</span>
            )}
          </FileField>
        ),
      }),
    }
  }
  /** Of several fields that refer, those that must stay decide what there is to choose from. */
  const amongOf = ({ by, key }: ToOne): object | undefined => {
    const kept = key.flatMap((name, at) => {
      const one = fields.find((field) => field.name === by[at])
      const shown = one && shownOf(one)
      const parsed = one && shown?.isReadOnly ? parse(one, shown.text ?? '') : undefined
      return parsed && 'value' in parsed ? [[name, { _eq: parsed.value }] as const] : []
    })
    return kept.length === 0 ? undefined : Object.fromEntries(kept)
  }
  return (
    <div class={styles.fields}>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          {...shownOf(field)}
          {...(isNew && { isNew })}
          reference={referenceOf(field)}
          why={whyOf?.(field)}
          onText={(text) => onText(field, text)}
        />
      ))}
      {picking && (
        <Picker
          workspace={workspace}
          relation={picking}
          among={amongOf(picking)}
          isNullable={mayBeNone(picking)}
          current={fieldsBy(picking).map((one) => shownOf(one).text ?? null)}
          onClose={() => setPicking(undefined)}
          onPick={({ key, label }) => {
            setPicking(undefined)
            for (const [at, one] of fieldsBy(picking).entries()) {
              const text = key[at] === null ? null : textOf(key[at])
              if (!shownOf(one).isReadOnly && (text !== null || one.isNullable)) onText(one, text, label)
            }
          }}
        />
      )}
    </div>
  )
}
