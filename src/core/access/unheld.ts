/**
 * Finds what a change of the model makes the database do beyond the caller's rights (decision 112): relations join by all
 * values of their fields, relations and keys reveal which values exist, and actions and defaults write and delete without
 * asking a policy. In databases with other users, views, triggers and routines depend on tables as well (decision 121).
 */
import { lookupOf, type RecordLookup } from '../model/lookup.ts'
import {
  type CollectionRecord,
  isSystemSource,
  type Model,
  type ModelRecords,
  type RelationFieldRecord,
} from '../model/model.ts'
import { type Action, actions, holdsEveryRow, type Viewer } from './access.ts'
import { actsAlike, writes } from './actions.ts'

/** The reason why a change exceeds the caller's rights. */
export type RefusedChange = {
  readonly reason: string
  /** Ids, one of which the causing operation contains. */
  readonly by: readonly string[]
}

/** A right that a change needs in every row. */
type Need = {
  readonly action: Action
  readonly collectionId: string
  /** New fields need no right; a deletion affects whole items. */
  readonly fieldIds: readonly string[]
  readonly by: readonly string[]
}

/**
 * Returns the first right that a change needs and `viewer` lacks in the model before it, or the first part that only an
 * Administrator may change; `made` are the ids that the change creates.
 */
export function unheld(
  before: Model,
  after: ModelRecords,
  viewer: Viewer,
  made: ReadonlySet<string>,
): RefusedChange | undefined {
  const changes = tableChanges(before.records, after, made)
  const inherited = changes.find(({ collection }) => collection.isInherited === true)
  if (inherited !== undefined) {
    const reason = `only an Administrator changes the table ${inherited.collection.dbName}, from which others inherit`
    return { reason, by: inherited.by }
  }
  const needs = [
    ...needsOf(before.records, after),
    ...changes.flatMap((change) => needsOfTable(before.records, change)),
  ]
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

/** Changes that could hide other tables when a name is looked up along a search path. */
function shadowing(before: ModelRecords, after: ModelRecords): RefusedChange | undefined {
  const attached = attachedOf(before)
  const [had, has] = [before, after].map(({ namespaces }) => new Set(namespaces.map(({ id }) => id)))
  const made = after.namespaces.find(({ id, sourceId }) => attached.has(sourceId) && !had?.has(id))
  if (made !== undefined) return { reason: `only an Administrator makes the schema ${made.dbName}`, by: [made.id] }
  const gone = before.namespaces.find(({ id, sourceId }) => attached.has(sourceId) && !has?.has(id))
  if (gone !== undefined) return { reason: `only an Administrator deletes the schema ${gone.dbName}`, by: [gone.id] }
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

/** The ids of the sources whose databases have other users. */
function attachedOf({ sources }: ModelRecords): ReadonlySet<string> {
  return new Set(sources.filter((source) => !isSystemSource(source)).map(({ id }) => id))
}

function needsOf(before: ModelRecords, after: ModelRecords): readonly Need[] {
  const [was, is] = [lookupOf(before), lookupOf(after)]
  const attached = attachedOf(before)
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
    // Programs outside of the service can no longer delete or renumber the referenced rows.
    const isForeign = (old === undefined || isActing) && attached.has(is.collections.get(target)?.sourceId ?? '')
    return [
      ...(isSame(old?.mappings, constraint.mappings)
        ? []
        : [need('read', collectionId, own), need('read', target, other)]),
      ...(isActing && isWriting ? [need('update', collectionId, own)] : []),
      ...(isActing && onDelete === 'cascade' ? [need('delete', collectionId, [])] : []),
      ...(isForeign && !writes.has(onDelete) ? [need('delete', target, [])] : []),
      ...(isForeign && !writes.has(onUpdate) ? [need('update', target, other)] : []),
    ]
  })
  const ofKeys = after.indexes.flatMap(({ id, kind, collectionId, fieldIds }): readonly Need[] => {
    const old = was.indexes.get(id)
    const isKept = old !== undefined && old.kind === kind && isSame(old.fieldIds, fieldIds)
    if (kind === 'normal' || isKept) return []
    return [{ action: 'read', collectionId, fieldIds, by: [id, ...fieldIds] }]
  })
  const ofDefaults = after.primitiveFields.flatMap(({ id, collectionId, defaultValue }): readonly Need[] => {
    const old = was.fields.get(id)
    if (old === undefined || defaultValue === null || isSame(old.defaultValue, defaultValue)) return []
    const writing = 'onUpdate' in defaultValue ? (['create', 'update'] as const) : (['create'] as const)
    return writing.map((action) => ({ action, collectionId, fieldIds: [id], by: [id] }))
  })
  return [...ofRelations, ...ofKeys, ...ofDefaults, ...needsOfApiNames(was, after)]
}

/** The rights that renames need: clients that still use an old name reach whatever gets that name next. */
function needsOfApiNames(was: RecordLookup, after: ModelRecords): readonly Need[] {
  const { collections, primitiveFields, relationFields } = after
  const using = ['read', 'create', 'update'] as const
  const ofCollections = collections.flatMap(({ id, apiName }): readonly Need[] => {
    const old = was.collections.get(id)
    if (old === undefined || old.apiName === apiName) return []
    const fieldIds = was.fieldsOf(id).map((field) => field.id)
    return actions.map((action) => ({ action, collectionId: id, fieldIds, by: [id] }))
  })
  const ofFields = primitiveFields.flatMap(({ id, collectionId, apiName }): readonly Need[] => {
    const old = was.fields.get(id)
    if (old === undefined || old.apiName === apiName) return []
    return using.map((action) => ({ action, collectionId, fieldIds: [id], by: [id] }))
  })
  // For a relation, the columns that it joins by; for a relation over a junction, those of both sides.
  const ofRelations = relationFields.flatMap(({ id, apiName }): readonly Need[] => {
    const old = was.relations.get(id)
    if (old === undefined || old.apiName === apiName) return []
    return joinedBy(was, old).flatMap(({ collectionId, fieldIds }) =>
      using.map((action) => ({ action, collectionId, fieldIds, by: [id] })),
    )
  })
  return [...ofCollections, ...ofFields, ...ofRelations]
}

/** The referring columns, with their collections. */
function joinedBy(
  was: RecordLookup,
  relation: RelationFieldRecord,
): readonly { readonly collectionId: string; readonly fieldIds: readonly string[] }[] {
  const { through, oppositeRelationFieldId, constraintId, collectionId } = relation
  if (through !== undefined) {
    return [through.nearId, through.farId].flatMap((id) => {
      const part = was.relations.get(id)
      return part === undefined ? [] : joinedBy(was, part)
    })
  }
  const constraint = was.constraints.get(constraintId ?? '')
  if (constraint !== undefined) {
    return [{ collectionId, fieldIds: constraint.mappings.map(({ constrainedFieldId }) => constrainedFieldId) }]
  }
  const opposite = was.relations.get(oppositeRelationFieldId ?? '')
  return opposite?.constraintId ? joinedBy(was, opposite) : []
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/**
 * Changing a shared table (its name, columns, keys or references) needs all rights on it, because programs that use the table
 * then find other rows, or none. An added column may have a name that a routine uses for something else. Non-unique indexes
 * need no right; `needsOf` covers new relations.
 */
function needsOfTable({ primitiveFields }: ModelRecords, { collection, by }: TableChange): readonly Need[] {
  const { id } = collection
  const fieldIds = primitiveFields.flatMap((field) => (field.collectionId === id ? [field.id] : []))
  return actions.map((action) => ({ action, collectionId: id, fieldIds, by }))
}

/** `by` are the ids of the changed parts. */
type TableChange = { readonly collection: CollectionRecord; readonly by: readonly string[] }

/** The changed tables in databases with other users. */
function tableChanges(before: ModelRecords, after: ModelRecords, made: ReadonlySet<string>): readonly TableChange[] {
  const attached = attachedOf(before)
  const [had, has] = [partsOf(before, before), partsOf(after, before)]
  return before.collections.flatMap((collection): readonly TableChange[] => {
    const { id, sourceId } = collection
    if (!attached.has(sourceId)) return []
    const [old, now] = [had.get(id) ?? new Map<string, string>(), has.get(id) ?? new Map<string, string>()]
    const by = [...new Set([...old.keys(), ...now.keys()])].filter(
      (part) => made.has(part) || old.get(part) !== now.get(part),
    )
    return by.length === 0 ? [] : [{ collection, by }]
  })
}

/** For each collection, the properties that the database knows, by the ids of its parts; only relations that existed before. */
function partsOf(records: ModelRecords, before: ModelRecords): ReadonlyMap<string, Map<string, string>> {
  const [{ constraints }, { relations }] = [lookupOf(records), lookupOf(before)]
  const parts = new Map(
    records.collections.map(({ id, dbName, hasHistory }) => [
      id,
      new Map([[id, JSON.stringify([dbName, hasHistory])]]),
    ]),
  )
  for (const { id, collectionId, apiName: _, isReadOnly: __, ...column } of records.primitiveFields) {
    parts.get(collectionId)?.set(id, JSON.stringify(column))
  }
  for (const { id, collectionId, kind, fieldIds } of records.indexes) {
    if (kind !== 'normal') parts.get(collectionId)?.set(id, JSON.stringify([kind, fieldIds]))
  }
  for (const { id, collectionId, constraintId } of records.relationFields) {
    const { onDelete, onUpdate, mappings } = constraints.get(constraintId ?? '') ?? {}
    if (relations.has(id)) parts.get(collectionId)?.set(id, JSON.stringify([onDelete, onUpdate, mappings]))
  }
  return parts
}
