/** What the parts of a collection have in common: a title with a button, and what is done to one of their things. */
import type { ComponentChildren } from 'preact'
import { modelTexts } from '../../messages/model.ts'
import { Button } from '../../ui/button.tsx'
import page from '../page.module.css'
import { type Change, isChanged, makingOf, without } from './changes.ts'
import { addChange, changesOf } from './data.ts'
import styles from './model.module.css'

type PartProps = {
  readonly title: string
  /** Absent where nothing can be added. */
  readonly add?: { readonly label: string; readonly onAdd: () => void } | undefined
  readonly children: ComponentChildren
}

export function Part({ title, add, children }: PartProps) {
  return (
    <div class={styles.part}>
      <div class={page.head}>
        <h2>{title}</h2>
        {add && (
          <Button look="primary" onClick={add.onAdd}>
            {add.label}
          </Button>
        )}
      </div>
      {children}
    </div>
  )
}

type NamedProps = { readonly workspace: string; readonly id: string; readonly name: string }

/** What it is called, and whether a change of it waits. */
export function NameOf({ workspace, id, name }: NamedProps) {
  const isMarked = isChanged(changesOf(workspace).value, id)
  return (
    <span class={styles.named}>
      {name}
      {isMarked && <ChangedMark />}
    </span>
  )
}

export function ChangedMark() {
  return (
    <span class={styles.mark} data-is-new>
      {modelTexts.value.marks.changed}
    </span>
  )
}

type ActionsProps = {
  readonly workspace: string
  readonly id: string
  /** What it is called. */
  readonly name: string
  readonly onEdit?: (() => void) | undefined
  readonly deletion: () => Change
}

/** Of a thing that is not made yet only what makes it can be taken back, with all that is about it. */
export function Actions({ workspace, id, name, onEdit, deletion }: ActionsProps) {
  const texts = modelTexts.value
  const changes = changesOf(workspace)
  const made = makingOf(changes.value, id)
  if (made !== undefined) {
    return (
      <span class={styles.actions}>
        <span class={styles.mark} data-is-new>
          {texts.marks.new}
        </span>
        <Button
          aria-label={texts.dropOf(name)}
          onClick={() => {
            changes.value = without(changes.value, made)
          }}
        >
          {texts.drop}
        </Button>
      </span>
    )
  }
  return (
    <span class={styles.actions}>
      {onEdit && (
        <Button aria-label={texts.editOf(name)} onClick={onEdit}>
          {texts.edit}
        </Button>
      )}
      <Button look="risky" aria-label={texts.deleteOf(name)} onClick={() => addChange(workspace, deletion())}>
        {texts.delete}
      </Button>
    </span>
  )
}
