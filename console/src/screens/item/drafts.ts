/** What was typed into a form and is not sent yet. By who types and where, so that it outlives the screen. */
import type { Signal } from '@preact/signals'
import { unsavedAt } from '../../data/unsaved.ts'
import { t } from '../../messages/messages.ts'
import type { FieldModel } from '../grid/model.ts'
import { isSame, ownOf, parse, type Value } from '../grid/values.ts'

export type Draft = {
  /** Null for null. */
  readonly text: string | null
  /** What the field had when it was typed. */
  readonly base: Value
  /** What the item is called that was chosen. */
  readonly label?: string | null
}

export type Drafts = Readonly<Record<string, Draft>>

export function draftsOf(...place: readonly unknown[]): Signal<Drafts> {
  return unsavedAt<Drafts>(['fields', ...place], {})
}

/** Drafts, or what is wrong with them, but for those of one field. */
export function without<T>(ofFields: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(ofFields).filter(([one]) => one !== name))
}

export type Read = {
  readonly values: Readonly<Record<string, Value>>
  /** What is wrong, by the field that it is wrong in. */
  readonly wrong: Readonly<Record<string, string>>
}

/** The values of what was typed. */
export function readDrafts(drafts: Drafts, fields: readonly FieldModel[]): Read {
  const values: Record<string, Value> = {}
  const wrong: Record<string, string> = {}
  for (const field of fields) {
    const draft = ownOf(drafts, field.name)
    if (draft === undefined) continue
    const parsed = draft.text === null ? { value: null } : parse(field, draft.text)
    if ('wrong' in parsed) wrong[field.name] = t.value.grid.wrong[parsed.wrong]
    else if (!isSame(parsed.value, draft.base) || draft.base === undefined) values[field.name] = parsed.value
  }
  return { values, wrong }
}
