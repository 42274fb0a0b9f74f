/**
 * Emits the changes that make databases record history (docs/contract.md#history). Triggers are created again if their columns
 * change; a new history, and a new field, begin without past values.
 */
import { lookupOf } from '../model/lookup.ts'
import type { ModelRecords, PrimitiveFieldRecord } from '../model/model.ts'
import type { Recorded, TableRef } from '../sql/ddl/change.ts'
import { type CollectionDraft, type Draft, refuse } from './draft.ts'
import { emit } from './edits.ts'
import { indexesOf, tableOf } from './lookups.ts'

/**
 * Emits the recording of a collection that was created or changed since `before`; `made` are the ids that the migration
 * creates. Refuses collections whose changes cannot be recorded.
 */
export function changeHistory(
  draft: Draft,
  id: string,
  { before, made }: { readonly before: ModelRecords; readonly made: ReadonlySet<string> },
): void {
  const now = draft.collections.get(id)
  if (now === undefined) return
  const { collections, fieldsOf, indexesOf } = lookupOf(before)
  const wasOff = draft.dropped.has(id) || collections.get(id)?.hasHistory !== true
  if (now.record.hasHistory !== true) {
    if (!wasOff) emitEnd(draft, now, { isDropped: false })
    return
  }
  const recorded = recordedOf(draft, now)
  const columns = wasOff ? [] : fieldsOf(id).map(columnOf)
  const keyIds = indexesOf(id).find(({ kind }) => kind === 'primary')?.fieldIds ?? []
  const key = keyIds.flatMap((fieldId) => columns.find((column) => column.id === fieldId) ?? [])
  // With another key, an item could get the former key of another item, so the history begins again.
  const isSameKey =
    isEqual(key.map(shapeOf), recorded.key.map(shapeOf)) && !recorded.key.some((one) => made.has(one.id))
  const isNew = wasOff || !isSameKey
  const isSame = isEqual(columns, recorded.columns)
  // The migration may use the ids of deleted fields again.
  const newFieldIds = isNew ? [] : recorded.columns.map(idOf).filter((fieldId) => made.has(fieldId))
  if (!isNew && isSame && newFieldIds.length === 0) return
  emit(draft, now.record.sourceId, { kind: 'recordHistory', table: tableOf(draft, now), recorded, isNew, newFieldIds })
}

/** Emits the end of a deleted collection's history. */
export function endHistory(draft: Draft, collection: CollectionDraft): void {
  if (collection.record.hasHistory === true) emitEnd(draft, collection, { isDropped: true })
}

function emitEnd(draft: Draft, collection: CollectionDraft, { isDropped }: { readonly isDropped: boolean }): void {
  const { id, sourceId } = collection.record
  const recorded = { collectionId: id, changes: changesOf(draft, sourceId) }
  emit(draft, sourceId, { kind: 'endHistory', table: tableOf(draft, collection), recorded, isDropped })
}

function recordedOf(draft: Draft, collection: CollectionDraft): Recorded {
  const { id, apiName, sourceId, isView, isInherited } = collection.record
  if (isView) refuse('unsupported', `${apiName} is a view: nothing records its changes`)
  if (isInherited) refuse('unsupported', `other tables inherit from ${apiName}: nothing records their changes`)
  const keyIds = indexesOf(draft, collection).find(({ kind }) => kind === 'primary')?.fieldIds ?? []
  const columns = [...collection.fieldIds].flatMap((fieldId) => draft.fields.get(fieldId) ?? []).map(columnOf)
  const key = keyIds.flatMap((fieldId) => columns.find((column) => column.id === fieldId) ?? [])
  if (key.length === 0 || key.some(({ type, isList }) => isList || type.name === 'geometry')) {
    refuse('unsupported', `${apiName} needs a primary key that an address can name to have a history`)
  }
  return { collectionId: id, changes: changesOf(draft, sourceId), key, columns }
}

function columnOf({ id, dbName, type, isList, native }: PrimitiveFieldRecord): Recorded['columns'][number] {
  return { id, dbName, type, isList, native }
}

function changesOf({ context, sources }: Draft, sourceId: string): TableRef {
  const name = sources.get(sourceId)?.apiName ?? sourceId
  return context.changesOf?.(sourceId) ?? refuse('unsupported', `items of the source ${name} have no history`)
}

function shapeOf({ id, type, isList, native }: Recorded['key'][number]) {
  return { id, type, isList, native }
}

const idOf = ({ id }: { readonly id: string }) => id

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
