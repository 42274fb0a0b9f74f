/**
 * Writes that change what a policy compares without asking a policy (decision 112): by referential actions and by defaults that
 * exist when the policy is saved. Callers without full rights cannot add such writes by a change of the model (`affected` in
 * gone.ts).
 */
import { lookupOf } from '../model/lookup.ts'
import type { DefaultValue, ModelRecords, RelationFieldRecord } from '../model/model.ts'
import { writes } from './actions.ts'
import { comparedFields, type PolicyContent } from './policy.ts'

/** Current names: `field` is what the policy compares, `by` is a relation or the field with the default. */
export type UncheckedWrite = {
  readonly kind: 'action' | 'default'
  readonly field: string
  readonly by: string
  readonly message: string
}

/** Returns the unchecked writes to what the content compares, without duplicates; ignores what the model lacks. */
export function uncheckedWrites(
  records: ModelRecords,
  content: Pick<PolicyContent, 'collections'>,
): readonly UncheckedWrite[] {
  const { collections, fields, relations, constraints } = lookupOf(records)
  const acting = records.relationFields.flatMap((relation) => {
    const constraint = constraints.get(relation.constraintId ?? '')
    return constraint === undefined ? [] : [{ relation, constraint }]
  })
  const writing = acting.flatMap(({ relation, constraint: { onDelete, onUpdate, mappings } }) => {
    const isWriting = writes.has(onUpdate) || (writes.has(onDelete) && onDelete !== 'cascade')
    return isWriting ? mappings.map(({ constrainedFieldId }) => ({ relation, id: constrainedFieldId })) : []
  })
  const writers = Map.groupBy(writing, ({ id }) => id)
  const emptiers = Map.groupBy(
    acting.filter(({ constraint }) => constraint.onDelete === 'cascade'),
    ({ relation }) => relation.collectionId,
  )
  const nameOf = (one: { readonly apiName: string; readonly collectionId: string }) =>
    `${collections.get(one.collectionId)?.apiName}.${one.apiName}`
  /** Both sides of a relation; for a many-to-many field, those of its two relations. */
  const pairsOf = (relation: RelationFieldRecord | undefined): readonly RelationFieldRecord[] => {
    if (relation === undefined) return []
    const { through, oppositeRelationFieldId } = relation
    if (through !== undefined) return [through.nearId, through.farId].flatMap((id) => pairsOf(relations.get(id)))
    return [relation, relations.get(oppositeRelationFieldId ?? '')].filter((one) => one !== undefined)
  }
  const reachedBy = (relation: RelationFieldRecord | undefined): readonly string[] => {
    if (relation === undefined) return []
    const { through, oppositeCollectionId } = relation
    if (through === undefined) return [oppositeCollectionId]
    return [through.nearId, through.farId].flatMap((id) => reachedBy(relations.get(id)))
  }
  const found = new Map<string, UncheckedWrite>()
  const add = (kind: UncheckedWrite['kind'], field: string, by: string, what: string) => {
    const message = `${field} is compared, and ${what} without asking any policy`
    found.set(JSON.stringify([field, by, what]), { kind, field, by, message })
  }
  for (const id of comparedFields(content)) {
    const compared = fields.get(id) ?? relations.get(id)
    if (compared === undefined) continue
    const name = nameOf(compared)
    const pairs = pairsOf(relations.get(id))
    const columns = new Set(fields.has(id) ? [id] : pairs.flatMap(({ constraintId }) => columnsOf(constraintId)))
    for (const column of columns) {
      for (const { relation } of writers.get(column) ?? []) {
        add('action', name, nameOf(relation), `an action of the relation ${nameOf(relation)} writes it`)
      }
      const field = fields.get(column)
      if (field !== undefined && givesValue(field.defaultValue)) {
        add('default', name, nameOf(field), `the default of ${nameOf(field)} gives it a value`)
      }
    }
    // If the action also deletes the compared item itself, no policy tests it any more.
    const own = new Set(pairs.filter(({ collectionId }) => collectionId === compared.collectionId).map(({ id }) => id))
    for (const relation of reachedBy(relations.get(id)).flatMap((reached) => emptiers.get(reached) ?? [])) {
      if (own.has(relation.relation.oppositeRelationFieldId ?? '')) continue
      const by = nameOf(relation.relation)
      add('action', name, by, `an action of the relation ${by} deletes items that it leads to`)
    }
  }
  return [...found.values()]

  function columnsOf(constraintId: string | null): readonly string[] {
    return (constraints.get(constraintId ?? '')?.mappings ?? []).map(({ constrainedFieldId }) => constrainedFieldId)
  }
}

/** Autoincrement does not count, because its numbers have no meaning. */
function givesValue(value: DefaultValue | null): boolean {
  return value !== null && (value.source === 'engineManaged' || value.isAutoincrement !== true)
}
