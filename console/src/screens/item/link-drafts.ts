/** What shall be linked and unlinked behind a junction and is not sent yet. By who and where, as drafts of fields are. */
import type { Signal } from '@preact/signals'
import { unsavedAt } from '../../data/unsaved.ts'
import type { ToMany } from '../grid/model.ts'
import { isSame, ownOf, type Row, type Value } from '../grid/values.ts'

/** `mediaType` is that of a file. */
export type LinkedItem = { readonly key: readonly Value[]; readonly label: string; readonly mediaType?: string }
export type LinkDraft = { readonly added: readonly LinkedItem[]; readonly removed: readonly LinkedItem[] }

/** By the name of the relation; without those that change nothing. */
export type LinkDrafts = Readonly<Record<string, LinkDraft>>

export function linkDraftsOf(...place: readonly unknown[]): Signal<LinkDrafts> {
  return unsavedAt<LinkDrafts>(['links', ...place], {})
}

/** Drafts after an item was added or taken away; one takes back the other. */
export function withLink(
  drafts: LinkDrafts,
  relation: string,
  change: 'added' | 'removed',
  item: LinkedItem,
): LinkDrafts {
  const before = ownOf(drafts, relation) ?? { added: [], removed: [] }
  const other = change === 'added' ? 'removed' : 'added'
  const isTakenBack = has(before[other], item)
  const after: LinkDraft = {
    ...before,
    ...(isTakenBack
      ? { [other]: before[other].filter(({ key }) => !isSame(key, item.key)) }
      : { [change]: has(before[change], item) ? before[change] : [...before[change], item] }),
  }
  const { [relation]: _, ...others } = drafts
  return after.added.length + after.removed.length === 0 ? others : { ...others, [relation]: after }
}

/** Items as they will be. */
export function withDraft(items: readonly LinkedItem[], { added, removed }: LinkDraft): readonly LinkedItem[] {
  return [...items.filter((item) => !has(removed, item)), ...added.filter((item) => !has(items, item))]
}

export function has(items: readonly LinkedItem[], { key }: LinkedItem): boolean {
  return items.some((item) => isSame(item.key, key))
}

/** The operations of a nested write, in a list as the API takes it. */
export function operationsOf(relation: ToMany, { added, removed }: LinkDraft): readonly object[] {
  const linked = relation.linked ?? relation.attached
  const names = linked?.over?.by ?? linked?.key ?? []
  const keyIn = ({ key }: LinkedItem): Row => Object.fromEntries(names.map((name, at) => [name, key[at]]))
  const conditionOf = ({ key }: LinkedItem): Row =>
    Object.fromEntries(names.map((name, at) => [name, { _eq: key[at] }]))
  const filter = { _or: removed.map(conditionOf) }
  const keys = added.map(keyIn)
  return [
    ...(removed.length === 0 ? [] : [linked?.over ? { _delete: { filter } } : { _disconnect: { filter } }]),
    ...(keys.length === 0 ? [] : [linked?.over ? { _create: { data: keys } } : { _connect: { keys } }]),
  ]
}

/** Of each relation what is sent of its draft. */
export function operationsIn(relations: readonly ToMany[], drafts: LinkDrafts): Row {
  const changed = relations.flatMap((relation) => {
    const draft = ownOf(drafts, relation.name)
    return draft === undefined ? [] : [[relation.name, operationsOf(relation, draft)] as const]
  })
  return Object.fromEntries(changed)
}

/** Those that lead back. */
export function backOf({ added, removed }: LinkDraft): LinkDraft {
  return { added: removed, removed: added }
}

/** As it is told where it could not be saved, such as `+ Ada, − Bo`. */
export function linkText({ added, removed }: LinkDraft): string {
  const signed = (sign: string) => (item: LinkedItem) => `${sign} ${item.label}`
  return [...added.map(signed('+')), ...removed.map(signed('−'))].join(', ')
}
