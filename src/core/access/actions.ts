/** Actions of relations, by which the database writes and deletes items. */
import type { ConstraintRecord, ReferentialAction } from '../model/model.ts'

/** Actions that write where the items of others are written. */
export const writes: ReadonlySet<ReferentialAction> = new Set(['cascade', 'setNull', 'setDefault'])

/** Whether a constraint has the actions of another one, over the same fields; without another one, none that write. */
export function actsAlike(one: ConstraintRecord | undefined, other: ConstraintRecord): boolean {
  if (one === undefined) return !writes.has(other.onDelete) && !writes.has(other.onUpdate)
  const actionsOf = ({ onDelete, onUpdate, mappings }: ConstraintRecord) =>
    JSON.stringify([onDelete, onUpdate, mappings])
  return actionsOf(one) === actionsOf(other)
}
