/** Resolves a field for sorting or grouping rows: of the collection, or behind to-one relations. */
import type { Granted, Viewer } from '../access/access.ts'
import { shortName } from '../message-text.ts'
import type { Collection } from '../model/model.ts'
import type { FieldRef } from '../query/filter.ts'
import { queryFault } from '../query/parse.ts'
import { readableField, relatedAccess } from './names.ts'
import type { PathStep } from './plan.ts'

type Reading = { readonly viewer: Viewer; readonly collection: Collection; readonly access: Granted }

/** The field at the end of `names`, with its visibility; `at` is its path in the request. */
export function pathField(
  reading: Reading,
  names: readonly string[],
  { at: start, purpose }: { readonly at: string; readonly purpose: 'sort' | 'group' },
): FieldRef & { readonly path: readonly PathStep[]; readonly at: string } {
  const { viewer } = reading
  const path: PathStep[] = []
  let { collection, access } = reading
  let at = start
  for (const name of names.slice(0, -1)) {
    at += `.${shortName(name)}`
    const { field, visible } = readableField(viewer, collection, access, name, at)
    if (field.kind === 'primitive') throw queryFault(at, `is a primitive field and has no fields to ${purpose} by`)
    if (field.isList) throw queryFault(at, `is a to-many relation, whose items cannot be ${purpose}ed by`)
    collection = field.target
    access = relatedAccess(viewer, collection)
    path.push({ relation: field, visible, rows: access.rows })
  }
  const name = names.at(-1) ?? ''
  at += `.${shortName(name)}`
  const { field, visible } = readableField(viewer, collection, access, name, at)
  if (field.kind === 'relation') throw queryFault(at, `is a relation: name a field of its items to ${purpose} by`)
  return { path, field, visible, at }
}
