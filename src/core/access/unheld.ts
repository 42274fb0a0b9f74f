/**
 * What a change of the model has the database do beyond the rights of who makes it (decision 112): relations join by every value of
 * their fields, relations and keys tell which values there are, and actions write and delete without asking any policy. In the
 * databases of others also what names are for: views, triggers and routines that nobody here knows go by them (decision 121).
 */
import { lookupOf } from '../model/lookup.ts'
import { isSystemSource, type Model, type ModelRecords } from '../model/model.ts'
import { type Action, holdsEveryRow, type Viewer } from './access.ts'
import { actsAlike, writes } from './actions.ts'

/** Why a change is beyond somebody's rights. */
export type Beyond = {
  readonly reason: string
  /** The ids of which the operation that does it has one. */
  readonly by: readonly string[]
}

/** A right that a change needs in every row. */
type Need = {
  readonly action: Action
  readonly collectionId: string
  /** Those of them that are new are asked of nobody; a deletion is of whole items. */
  readonly fieldIds: readonly string[]
  readonly by: readonly string[]
}

/** Returns the first of what a change needs and `viewer` does not hold in the model before it, or of what is an Administrator's; `made` are the ids that it makes. */
export function unheld(
  before: Model,
  after: ModelRecords,
  viewer: Viewer,
  made: ReadonlySet<string>,
): Beyond | undefined {
  const needs = [...needsOf(before.records, after), ...needsOfNames(before.records, after, made)]
  for (const { action, collectionId, fieldIds, by } of needs) {
    const collection = before.collections.get(collectionId)
    if (collection === undefined) continue
    const wholly = { name: collection.apiName, fields: [] }
    const fields = collection.primitives.filter(({ id }) => fieldIds.includes(id))
    const ofFields = fields.map((field) => ({ name: `${collection.apiName}.${field.apiName}`, fields: [field] }))
    const lacking = (action === 'delete' ? [wholly] : ofFields).find(
      (one) => !holdsEveryRow(viewer, action, collection, one.fields),
    )
    if (lacking !== undefined) return { reason: `needs the right to ${action} ${lacking.name} in every item`, by }
  }
  return shadowing(before.records, after)
}

/** What other tables may be hidden behind, where a name is looked up in one schema after the other. */
function shadowing(before: ModelRecords, after: ModelRecords): Beyond | undefined {
  const attached = attachedOf(before)
  const spaces = new Set(before.namespaces.map(({ id }) => id))
  const made = after.namespaces.find(({ id, sourceId }) => attached.has(sourceId) && !spaces.has(id))
  if (made !== undefined) return { reason: `only an Administrator makes the schema ${made.dbName}`, by: [made.id] }
  const was = lookupOf(before).collections
  for (const { id, sourceId, namespaceId, dbName } of after.collections) {
    if (!attached.has(sourceId) || was.get(id)?.dbName === dbName) continue
    const isHidden = before.collections.some(
      (other) =>
        other.id !== id &&
        other.sourceId === sourceId &&
        (other.namespaceId === null) !== (namespaceId === null) &&
        other.dbName.toLowerCase() === dbName.toLowerCase(),
    )
    if (!isHidden) continue
    return { reason: `only an Administrator gives the name ${dbName}, which a table of another schema has`, by: [id] }
  }
  return undefined
}

/** The ids of the sources whose databases have users of their own. */
function attachedOf({ sources }: ModelRecords): ReadonlySet<string> {
  return new Set(sources.filter((source) => !isSystemSource(source)).map(({ id }) => id))
}

function needsOf(before: ModelRecords, after: ModelRecords): readonly Need[] {
  const [was, is] = [lookupOf(before), lookupOf(after)]
  const ofRelations = after.relationFields.flatMap((relation): readonly Need[] => {
    const constraint = is.constraints.get(relation.constraintId ?? '')
    if (constraint === undefined) return []
    const { collectionId, oppositeCollectionId: target } = relation
    const by = [relation.id, relation.oppositeRelationFieldId ?? relation.id]
    const [own, other] = [
      constraint.mappings.map(({ constrainedFieldId }) => constrainedFieldId),
      constraint.mappings.map(({ referencedFieldId }) => referencedFieldId),
    ]
    const old = was.constraints.get(constraint.id)
    const need = (action: Action, id: string, fieldIds: readonly string[]) => ({
      action,
      collectionId: id,
      fieldIds,
      by,
    })
    const { onDelete, onUpdate } = constraint
    const isWriting = writes.has(onUpdate) || (writes.has(onDelete) && onDelete !== 'cascade')
    const isActing = !actsAlike(old, constraint)
    return [
      ...(JSON.stringify(old?.mappings) === JSON.stringify(constraint.mappings)
        ? []
        : [need('read', collectionId, own), need('read', target, other)]),
      ...(isActing && isWriting ? [need('update', collectionId, own)] : []),
      ...(isActing && onDelete === 'cascade' ? [need('delete', collectionId, [])] : []),
    ]
  })
  const ofKeys = after.indexes.flatMap(({ id, kind, collectionId, fieldIds }): readonly Need[] => {
    const old = was.indexes.get(id)
    const isKept = old !== undefined && old.kind === kind && JSON.stringify(old.fieldIds) === JSON.stringify(fieldIds)
    if (kind === 'normal' || isKept) return []
    return [{ action: 'read', collectionId, fieldIds, by: [id, ...fieldIds] }]
  })
  return [...ofRelations, ...ofKeys]
}

/**
 * Whoever gives a name in a table to something, or takes it from something, holds all of what the table has: for those who mean it
 * by its name, other rows are there then, or none. A column that is added may have the name of what a routine means by something else.
 */
function needsOfNames(before: ModelRecords, after: ModelRecords, made: ReadonlySet<string>): readonly Need[] {
  const is = lookupOf(after)
  const attached = attachedOf(before)
  const [had, has] = [before, after].map(({ primitiveFields }) =>
    Map.groupBy(primitiveFields, ({ collectionId }) => collectionId),
  )
  return before.collections.flatMap(({ id, sourceId, dbName }): readonly Need[] => {
    if (!attached.has(sourceId)) return []
    const [old, now] = [had?.get(id) ?? [], has?.get(id) ?? []]
    const kept = new Set(
      old.filter((field) => is.fields.get(field.id)?.dbName === field.dbName).map((field) => field.id),
    )
    const isKept = (field: { readonly id: string }) => kept.has(field.id) && !made.has(field.id)
    const isRenamed = made.has(id) || is.collections.get(id)?.dbName !== dbName
    const by = isRenamed ? [id] : [...old, ...now].filter((field) => !isKept(field)).map((field) => field.id)
    if (by.length === 0) return []
    const fieldIds = old.map((field) => field.id)
    return (['read', 'create', 'update', 'delete'] as const).map((action) => ({
      action,
      collectionId: id,
      fieldIds,
      by,
    }))
  })
}
