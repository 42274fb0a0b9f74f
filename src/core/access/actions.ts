/** Referential actions of relations, by which the database writes and deletes items. */
import type { ConstraintRecord, ReferentialAction } from '../model/model.ts'

/** Actions that write or delete referring items when the referenced item is written. */
export const writes: ReadonlySet<ReferentialAction> = new Set(['cascade', 'setNull', 'setDefault'])

/** True if two constraints have the same actions over the same fields; without `one`, if `other` has no writing action. */
export function actsAlike(one: ConstraintRecord | undefined, other: ConstraintRecord): boolean {
  if (one === undefined) return !writes.has(other.onDelete) && !writes.has(other.onUpdate)
  const actionsOf = ({ onDelete, onUpdate, mappings }: ConstraintRecord) =>
    JSON.stringify([onDelete, onUpdate, mappings])
  return actionsOf(one) === actionsOf(other)
}
