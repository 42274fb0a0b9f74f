/**
 * Finds what a change of the model deletes of what policies may name, and which comparisons of policies it alters. Something
 * deleted and created again under the same id counts as deleted, because a policy that names it would change its meaning.
 */
import type { FieldType } from '../model/field-type.ts'
import { lookupOf } from '../model/lookup.ts'
import type { ModelRecords, RelationFieldRecord } from '../model/model.ts'
import { isInteger } from '../model/number-range.ts'
import { actsAlike, writes } from './actions.ts'

/** The parts of a migration's operations that matter here. */
type AnyOperation = { readonly kind: string; readonly data: object }

export type Change = {
  readonly before: ModelRecords
  readonly after: ModelRecords
  /** The operations that lead from `before` to `after`, if any. */
  readonly operations?: readonly AnyOperation[] | undefined
}

/** The names, by id, of the deleted collections and fields. */
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
 * Fields, by id, that policies compare differently after the change, or whose values the database writes without asking a
 * policy: by an action of a relation or a new default. If an action deletes items, their collection. A relation is affected if
 * its columns are, a many-to-many field if its relations are (decision 112).
 */
export type Affected = ReadonlyMap<string, Effect>

export type Effect = {
  readonly name: string
  /** How policies use it. */
  readonly use: 'compared' | 'used'
  /** The cause, as the end of a sentence. */
  readonly how: string
  /** Ids, one of which the causing operation contains. */
  readonly by: readonly string[]
}

export function affected({ before, after }: Pick<Change, 'before' | 'after'>): Affected {
  const { collections, fields, relations } = lookupOf(before)
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
    found.set(field.id, { name: nameOf(field), use: 'compared', how, by: [field.id] })
  }
  const { written, emptied } = actedOn({ before, after })
  for (const [id, by] of written) {
    const field = fields.get(id)
    if (field === undefined || found.has(id)) continue
    found.set(id, { name: nameOf(field), use: 'compared', how: 'which an action of a relation would change', by })
  }
  const how = 'and an action of a relation would delete its items'
  for (const [id, by] of emptied) {
    const collection = collections.get(id)
    if (collection !== undefined) found.set(id, { name: `collection ${collection.apiName}`, use: 'used', how, by })
  }
  const leadsTo = (relation: RelationFieldRecord | undefined): readonly string[] => {
    if (relation === undefined) return []
    const { through, collectionId, oppositeCollectionId } = relation
    const over = through === undefined ? [] : [through.nearId, through.farId].map((id) => relations.get(id))
    return [collectionId, oppositeCollectionId, ...over.flatMap(leadsTo)]
  }
  for (const relation of emptied.size === 0 ? [] : before.relationFields) {
    const by = leadsTo(relation).flatMap((id) => emptied.get(id) ?? [])
    if (by.length > 0) found.set(relation.id, { name: nameOf(relation), use: 'compared', how, by })
  }
  if (found.size === 0) return found
  for (const relation of before.relationFields) {
    const column = columnsOf(before, relation.id).find((id) => found.has(id))
    const effect = found.get(column ?? '')
    if (effect !== undefined) found.set(relation.id, { ...effect, name: nameOf(relation) })
  }
  return found
}

/** The ids of the fields on both sides of a relation's join; for a many-to-many field, those of both its relations. */
function columnsOf(records: ModelRecords, id: string | null | undefined): readonly string[] {
  const { relations, constraints } = lookupOf(records)
  const relation = relations.get(id ?? '')
  if (relation === undefined) return []
  const { through, constraintId, oppositeRelationFieldId } = relation
  if (through !== undefined) return [through.nearId, through.farId].flatMap((one) => columnsOf(records, one))
  const owned = constraintId ?? relations.get(oppositeRelationFieldId ?? '')?.constraintId
  const { mappings = [] } = constraints.get(owned ?? '') ?? {}
  return mappings.flatMap(({ constrainedFieldId, referencedFieldId }) => [constrainedFieldId, referencedFieldId])
}

type ActedOn = {
  /** Ids of the relations that start the effect, by the id of the written field or emptied collection. */
  readonly written: ReadonlyMap<string, readonly string[]>
  readonly emptied: ReadonlyMap<string, readonly string[]>
}

/**
 * The fields that the database writes, and the collections in which it deletes items, by new referential actions and by the
 * existing actions that these trigger.
 */
function actedOn({ before, after }: Pick<Change, 'before' | 'after'>): ActedOn {
  const [was, is] = [lookupOf(before).constraints, lookupOf(after).constraints]
  const written = new Map<string, readonly string[]>()
  const emptied = new Map<string, readonly string[]>()
  const all = after.relationFields.flatMap((relation) => {
    const constraint = is.get(relation.constraintId ?? '')
    return constraint === undefined ? [] : [{ relation, constraint }]
  })
  type Acting = (typeof all)[number]
  const write = ({ constraint }: Acting, by: readonly string[]): void => {
    for (const { constrainedFieldId } of constraint.mappings) {
      if (written.has(constrainedFieldId)) continue
      written.set(constrainedFieldId, by)
      for (const one of all) {
        const isReferred = one.constraint.mappings.some((pair) => pair.referencedFieldId === constrainedFieldId)
        if (isReferred && writes.has(one.constraint.onUpdate)) write(one, by)
      }
    }
  }
  const remove = (acting: Acting, by: readonly string[]): void => {
    const { onDelete } = acting.constraint
    if (!writes.has(onDelete)) return
    const { collectionId } = acting.relation
    if (onDelete !== 'cascade') write(acting, by)
    else if (!emptied.has(collectionId)) {
      emptied.set(collectionId, by)
      for (const one of all) if (one.relation.oppositeCollectionId === collectionId) remove(one, by)
    }
  }
  for (const acting of all) {
    const { relation, constraint } = acting
    if (actsAlike(was.get(constraint.id), constraint)) continue
    const by = [relation.id, relation.oppositeRelationFieldId ?? relation.id]
    if (writes.has(constraint.onUpdate)) write(acting, by)
    remove(acting, by)
  }
  return { written, emptied }
}

/** Integers and decimals compare as numbers, whatever their bounds. */
function comparesAlike(one: FieldType, other: FieldType): boolean {
  const isExact = ({ name }: FieldType) => isInteger(name) || name === 'decimal'
  return one.name === other.name || (isExact(one) && isExact(other))
}

/** The ids that operations delete, including the fields of deleted collections, even if later operations create them again. */
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

/** True if a relation that is created again uses the same columns and leads to the same items. */
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
