/** The intersection of two principals' read access: the rows that both may read, and in each row the fields that both may see. */
import { nested, ServiceError } from '../error.ts'
import type { Collection, Model, PrimitiveField, RelationField } from '../model/model.ts'
import { all, and, type Filter, filterText, someFilter, unite } from '../query/filter.ts'
import { type Access, denied, type Grant, granted, linkRows, type Viewer, visibility } from './access.ts'

/** Maximum number of resulting conditions. */
const MOST_PAIRS = 2_000

/** Intersects read access: combines each grant of one with each grant of the other. */
export function intersected(one: Access, other: Access): Access {
  if (one.kind === 'denied' || other.kind === 'denied') return denied
  const [left, right] = [byFields(one.grants), byFields(other.grants)]
  if (left.length * right.length > MOST_PAIRS) {
    throw new ServiceError('invalid', 'The policies of both have too many different lists of fields')
  }
  return granted(
    left.flatMap((own) =>
      right.map((their) => ({
        rows: and([own.rows, their.rows]),
        fields: inBoth(own.fields, their.fields),
        validation: all,
      })),
    ),
  )
}

/** Merges grants with equal fields into one grant with the union of their rows. */
function byFields(grants: readonly Grant[]): readonly Grant[] {
  const known = new Map<string, Grant[]>()
  for (const grant of grants) {
    const text = grant.fields === 'every' ? 'every' : [...grant.fields].sort().join()
    known.set(text, [...(known.get(text) ?? []), grant])
  }
  return [...known.values()].flatMap((same) => {
    const [first] = same
    if (first === undefined) return []
    const rows = [...new Map(same.map((grant) => [filterText(grant.rows), grant.rows])).values()]
    return [{ ...first, rows: unite(rows) }]
  })
}

function inBoth(one: Grant['fields'], other: Grant['fields']): Grant['fields'] {
  if (one === 'every') return other
  return other === 'every' ? one : new Set([...one].filter((id) => other.has(id)))
}

/**
 * Throws 403 if the conditions of `other` test fields that `viewer` may not read, because the matching rows would reveal their
 * values. A condition that all of the viewer's rows meet anyway reveals nothing.
 */
export function requireReadable({ viewer, model }: Reading, collection: Collection, other: Access): void {
  const own = viewer.accessTo(collection, 'read')
  if (own.kind === 'denied' || other.kind === 'denied') return
  const grantedRows = new Set(own.grants.map(({ rows }) => filterText(rows)))
  const hides = ({ rows }: Grant) =>
    !(grantedRows.size === 1 && grantedRows.has(filterText(rows))) && asksMore({ viewer, model }, rows)
  if (!other.grants.some(hides)) return
  throw nested('forbidden', [
    'You may not read all that decides this',
    `conditions of theirs on the collection ${collection.apiName} are about more than you may read`,
  ])
}

type Reading = { readonly viewer: Viewer; readonly model: Model }

/** True if a policy's condition tests more than the viewer may read: fields in any row of the viewer's, or related rows. */
export function asksMore({ viewer, model }: Reading, condition: Filter): boolean {
  const isVisible = (of: Collection | undefined, field: PrimitiveField | RelationField) => {
    const access = of && viewer.accessTo(of, 'read')
    return access?.kind === 'granted' && visibility(access, field)?.kind === 'all'
  }
  // The condition tests a many-to-many field by the two relations of its junction.
  const isNamed = (relation: RelationField) => {
    const { collection } = relation
    const over = collection.relations.filter(({ through }) => through?.near === relation)
    return [relation, ...over].some((one) => isVisible(collection, one))
  }
  return someFilter(condition, (one) => {
    if (one.kind === 'related') {
      const { relation, target } = one
      const behind = viewer.accessTo(target, 'read')
      const isOpen =
        behind.kind === 'granted' && behind.rows.kind === 'all' && linkRows(viewer, relation)?.kind === 'all'
      return !isOpen || !isNamed(relation)
    }
    return 'field' in one && !isVisible(model.collections.get(one.field.collectionId), one.field)
  })
}
