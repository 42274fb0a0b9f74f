/**
 * What is written of what a policy compares without asking any policy (decision 112): by actions of relations and by defaults that
 * are there when the policy is saved. A change of the model that adds such is refused, to whom it may be (`affected` in gone.ts).
 */
import { lookupOf } from '../model/lookup.ts'
import type { DefaultValue, ModelRecords, RelationFieldRecord } from '../model/model.ts'
import { writes } from './actions.ts'
import { comparedFields, type PolicyContent } from './policy.ts'

/** The names are those of the model: `field` is what the policy compares, `by` a relation or the field that has a default. */
export type UncheckedWrite = {
  readonly kind: 'action' | 'default'
  readonly field: string
  readonly by: string
  readonly message: string
}

/** Returns what of a model writes what the content compares, each once; of what the model lacks nothing. */
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
  /** Both sides of a relation, and of a many-to-many field those of its relations. */
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
    // Where the item itself goes with those that refer to it, nobody asks of it any more.
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

/** Numbers that only count are no values that anybody would have chosen. */
function givesValue(value: DefaultValue | null): boolean {
  return value !== null && (value.source === 'engineManaged' || value.isAutoincrement !== true)
}
