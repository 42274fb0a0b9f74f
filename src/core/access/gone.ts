/**
 * What a change of the model takes away of what policies may name, and what it lets them compare in another way. What is
 * deleted and made again under its id is taken away: a policy that names it would mean something else from then on.
 */
import type { FieldType } from '../model/field-type.ts'
import { lookupOf } from '../model/lookup.ts'
import type { ConstraintRecord, ModelRecords, ReferentialAction, RelationFieldRecord } from '../model/model.ts'
import { isInteger } from '../model/number-range.ts'

/** Operations of a migration, as far as it matters here. */
type AnyOperation = { readonly kind: string; readonly data: object }

export type Change = {
  readonly before: ModelRecords
  readonly after: ModelRecords
  /** Those that lead from the one to the other, where operations do. */
  readonly operations?: readonly AnyOperation[] | undefined
}

/** The names, by id, of the collections and fields that are gone. */
export function gone({ before, after, operations = [] }: Change): ReadonlyMap<string, string> {
  const removed = removedBy(operations, before)
  const kept = new Set([...after.collections, ...after.primitiveFields, ...after.relationFields].map(({ id }) => id))
  const isGone = ({ id }: { readonly id: string }) => !kept.has(id) || removed.has(id)
  const names = new Map(before.collections.map(({ id, apiName }) => [id, apiName]))
  const relations = before.relationFields.filter((field) => isGone(field) && !isSame(field, { before, after }, removed))
  return new Map([
    ...before.collections.filter(isGone).map(({ id, apiName }) => [id, `collection ${apiName}`] as const),
    ...[...before.primitiveFields.filter(isGone), ...relations].map(
      ({ id, apiName, collectionId }) => [id, `field ${names.get(collectionId)}.${apiName}`] as const,
    ),
  ])
}

/**
 * The fields, by id, whose values policies compare in another way afterwards, or whose values change by what no policy allows:
 * an action of a relation, or another default. Of a relation whose action deletes items, their collection. A relation is one of
 * these where its columns are, a many-to-many field where those of its relations are (decision 112).
 */
export type Affected = ReadonlyMap<string, Effect>

export type Effect = {
  readonly name: string
  /** What does it, as the end of a sentence. */
  readonly how: string
  /** The ids of which the operation that does it has one. */
  readonly by: readonly string[]
}

export function affected({ before, after }: Pick<Change, 'before' | 'after'>): Affected {
  const { collections, fields, relations, constraints } = lookupOf(before)
  const next = lookupOf(after)
  const nameOf = (one: { readonly apiName: string; readonly collectionId: string }) =>
    `field ${collections.get(one.collectionId)?.apiName}.${one.apiName}`
  const found = new Map<string, Effect>()
  for (const field of before.primitiveFields) {
    const then = next.fields.get(field.id)
    if (then === undefined || then === field) continue
    const isRetyped = then.isList !== field.isList || !comparesAlike(field.type, then.type)
    const isFilledIn = JSON.stringify(then.defaultValue) !== JSON.stringify(field.defaultValue)
    if (!isRetyped && !isFilledIn) continue
    const how = `which another ${isRetyped ? 'type' : 'default'} would change`
    found.set(field.id, { name: nameOf(field), how, by: [field.id] })
  }
  for (const relation of after.relationFields) {
    const { constraintId } = relation
    const constraint = next.constraints.get(constraintId ?? '')
    if (constraint === undefined || actsAlike(constraints.get(constraint.id), constraint)) continue
    const by = [relation.id, relation.oppositeRelationFieldId ?? relation.id]
    const { onDelete, onUpdate, mappings } = constraint
    if (writes.has(onUpdate) || (writes.has(onDelete) && onDelete !== 'cascade')) {
      for (const { constrainedFieldId } of mappings) {
        const field = fields.get(constrainedFieldId)
        if (field === undefined || found.has(field.id)) continue
        found.set(field.id, { name: nameOf(field), how: 'which an action of a relation would change', by })
      }
    }
    const collection = collections.get(relation.collectionId)
    if (onDelete === 'cascade' && collection !== undefined) {
      const name = `collection ${collection.apiName}`
      found.set(collection.id, { name, how: 'and an action of a relation would delete its items', by })
    }
  }
  if (found.size === 0) return found
  const columnsOf = (id: string | null | undefined): readonly string[] => {
    const relation = relations.get(id ?? '')
    if (relation === undefined) return []
    const { through, constraintId, oppositeRelationFieldId } = relation
    if (through !== undefined) return [through.nearId, through.farId].flatMap(columnsOf)
    const owned = constraintId ?? relations.get(oppositeRelationFieldId ?? '')?.constraintId
    const { mappings = [] } = constraints.get(owned ?? '') ?? {}
    return mappings.flatMap(({ constrainedFieldId, referencedFieldId }) => [constrainedFieldId, referencedFieldId])
  }
  for (const relation of before.relationFields) {
    const column = columnsOf(relation.id).find((id) => found.has(id))
    const effect = found.get(column ?? '')
    if (effect !== undefined) found.set(relation.id, { ...effect, name: nameOf(relation) })
  }
  return found
}

/** Actions that write where the items of others are written. */
const writes: ReadonlySet<ReferentialAction> = new Set(['cascade', 'setNull', 'setDefault'])

function actsAlike(one: ConstraintRecord | undefined, other: ConstraintRecord): boolean {
  if (one === undefined) return !writes.has(other.onDelete) && !writes.has(other.onUpdate)
  const actionsOf = ({ onDelete, onUpdate, mappings }: ConstraintRecord) =>
    JSON.stringify([onDelete, onUpdate, mappings])
  return actionsOf(one) === actionsOf(other)
}

/** Integers and decimals are compared as numbers, whatever their bounds. */
function comparesAlike(one: FieldType, other: FieldType): boolean {
  const isExact = ({ name }: FieldType) => isInteger(name) || name === 'decimal'
  return one.name === other.name || (isExact(one) && isExact(other))
}

/** The ids that operations delete, with the fields of their collections, whatever they make under them afterwards. */
function removedBy(operations: readonly AnyOperation[], before: ModelRecords): ReadonlySet<string> {
  const removed = new Set<string>()
  const walk = (all: readonly AnyOperation[]) => {
    for (const { kind, data } of all) {
      const { id, firstFieldId, secondFieldId, operations: inner } = data as Readonly<Record<string, unknown>>
      if (kind.startsWith('delete')) {
        for (const one of [id, firstFieldId, secondFieldId]) if (typeof one === 'string') removed.add(one)
      }
      if (Array.isArray(inner)) walk(inner as readonly AnyOperation[])
    }
  }
  walk(operations)
  for (const field of [...before.primitiveFields, ...before.relationFields]) {
    if (removed.has(field.collectionId)) removed.add(field.id)
  }
  return removed
}

/** Whether a relation that is made again leads by the same columns, with their values, to the same items. */
function isSame(
  field: RelationFieldRecord,
  { before, after }: Omit<Change, 'operations'>,
  removed: ReadonlySet<string>,
): boolean {
  const again = lookupOf(after).relations.get(field.id)
  if (again === undefined || removed.has(field.collectionId) || removed.has(field.oppositeCollectionId)) return false
  const way = (of: RelationFieldRecord, state: ModelRecords) => {
    const { mappings = [] } = lookupOf(state).constraints.get(of.constraintId ?? '') ?? {}
    return { ids: [of.collectionId, of.oppositeCollectionId, of.through?.nearId, of.through?.farId], mappings }
  }
  const { ids, mappings } = way(field, before)
  const columns = mappings.flatMap((pair) => [pair.constrainedFieldId, pair.referencedFieldId])
  if ([...ids, ...columns].some((id) => id !== undefined && removed.has(id))) return false
  return JSON.stringify(way(again, after)) === JSON.stringify({ ids, mappings })
}
