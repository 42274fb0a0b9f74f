/** What two principals may both read: the rows of both, and in each row the fields that both see there. */
import { ServiceError } from '../error.ts'
import { all, and, filterText, unite } from '../query/filter.ts'
import { type Access, denied, type Grant, granted } from './access.ts'

/** Conditions of the answer, at most. */
const MOST_PAIRS = 2_000

/**
 * Of reading alone. Each grant of the one meets each of the other: a row is seen where both admit it, a field where those do that
 * admit the field.
 */
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

/** Grants of the same fields are one, of the rows of all. */
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
