/**
 * What a change of the model takes away of what policies may name, and what it lets them compare in another way. What is
 * deleted and made again under its id is taken away: a policy that names it would mean something else from then on.
 */
import type { FieldType } from '../model/field-type.ts'
import { lookupOf } from '../model/lookup.ts'
import type { ModelRecords, RelationFieldRecord } from '../model/model.ts'
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
 * The fields, by id, that a filter compares in another way, with those whose type it is. A relation is one where its
 * columns are, a many-to-many field where those of its relations are (decision 112).
 */
export type Retyped = ReadonlyMap<string, { readonly name: string; readonly fieldId: string }>

export function retyped({ before, after }: Pick<Change, 'before' | 'after'>): Retyped {
  const { collections, relations, constraints } = lookupOf(before)
  const { fields: next } = lookupOf(after)
  const nameOf = (one: { readonly apiName: string; readonly collectionId: string }) =>
    `field ${collections.get(one.collectionId)?.apiName}.${one.apiName}`
  const found = new Map<string, { readonly name: string; readonly fieldId: string }>()
  for (const field of before.primitiveFields) {
    const then = next.get(field.id)
    if (then === undefined || then === field) continue
    if (then.isList === field.isList && comparesAlike(field.type, then.type)) continue
    found.set(field.id, { name: nameOf(field), fieldId: field.id })
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
    const fieldId = columnsOf(relation.id).find((id) => found.has(id))
    if (fieldId !== undefined) found.set(relation.id, { name: nameOf(relation), fieldId })
  }
  return found
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
