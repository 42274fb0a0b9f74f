/** What becomes of the columns and indexes of a collection that stays, as operations of a migration. */
import { isSameType } from '../../migration/conversion.ts'
import type { CollectionChange, FieldChange, Operation } from '../../migration/operation.ts'
import { byId, lookupOf } from '../../model/lookup.ts'
import type { CollectionRecord, IndexRecord, ModelRecords, PrimitiveFieldRecord } from '../../model/model.ts'
import { fateOf } from '../field-fate.ts'
import { renameOrder } from '../rename-order.ts'

export function updateCollection(id: string, before: ModelRecords, after: ModelRecords): readonly Operation[] {
  const fields = comparedFields(lookupOf(before).fieldsOf(id), lookupOf(after).fieldsOf(id))
  const indexes = comparedIndexes(lookupOf(before).indexesOf(id), lookupOf(after).indexesOf(id), fields)
  // MariaDB counts indexed columns alone.
  const starting = fields.kept.filter(({ old, field }) => counts(field) && !counts(old))
  const stopping = fields.kept.filter(({ old, field }) => counts(old) && !counts(field))
  const defaultsOf = (kept: readonly Kept[]) =>
    kept.flatMap((one) => updateField(one.field.id, one.changes.filter(isOfDefault)))
  const { changing, replacing } = changesOf(fields, indexes)
  // Operations of their own, since those inside of one are brought into an order.
  const recording = changedHistory(lookupOf(before).collections.get(id), lookupOf(after).collections.get(id))
  return [
    [...leaving(fields), ...defaultsOf(stopping)],
    ...[swapped(fields), changing, replacing, defaultsOf(starting), recording],
  ]
    .filter((list) => list.length > 0)
    .map((list): Operation => ({ kind: 'updateCollection', data: { id, operations: [...list] } }))
}

function changedHistory(
  old: CollectionRecord | undefined,
  now: CollectionRecord | undefined,
): readonly CollectionChange[] {
  const hasHistory = now?.hasHistory === true
  return hasHistory === (old?.hasHistory === true) ? [] : [{ kind: 'changeHasHistory', data: { hasHistory } }]
}

type Kept = {
  readonly old: PrimitiveFieldRecord
  readonly field: PrimitiveFieldRecord
  readonly changes: readonly FieldChange[]
}

type Fields = {
  readonly was: readonly PrimitiveFieldRecord[]
  readonly then: ReadonlyMap<string, PrimitiveFieldRecord>
  /** Ids of those that are made anew, since their type cannot become the other. */
  readonly replaced: ReadonlySet<string>
  readonly kept: readonly Kept[]
  readonly made: readonly PrimitiveFieldRecord[]
  readonly goes: (field: PrimitiveFieldRecord) => boolean
}

function comparedFields(was: readonly PrimitiveFieldRecord[], is: readonly PrimitiveFieldRecord[]): Fields {
  const [known, then] = [byId(was), byId(is)]
  const replaced = new Set(
    was.flatMap((field) => {
      const next = then.get(field.id)
      return next !== undefined && fateOf(field, next) === 'lost' ? [field.id] : []
    }),
  )
  const kept = is.flatMap((field): readonly Kept[] => {
    const old = replaced.has(field.id) ? undefined : known.get(field.id)
    return old === undefined ? [] : [{ old, field, changes: fieldChanges(old, field) }]
  })
  const made = is.filter((field) => !known.has(field.id) || replaced.has(field.id))
  return { was, then, replaced, kept, made, goes: ({ id }) => !then.has(id) || replaced.has(id) }
}

type Indexes = { readonly gone: readonly IndexRecord[]; readonly made: readonly IndexRecord[] }

/** An index goes with a column that is made anew. */
function comparedIndexes(was: readonly IndexRecord[], is: readonly IndexRecord[], { replaced }: Fields): Indexes {
  const kept = byId(is.filter((index) => !index.fieldIds.some((fieldId) => replaced.has(fieldId))))
  const known = byId(was)
  return {
    gone: was.filter(({ id }) => !kept.has(id)),
    made: is.filter(({ id }) => !known.has(id) || !kept.has(id)),
  }
}

/** `replacing` comes behind `changing`. */
function changesOf({ was, kept, made, goes }: Fields, indexes: Indexes) {
  // MariaDB refuses to drop the last column of a table: where none stays, one goes only when others have come.
  const last = was.every(goes) ? was.find((field) => made.some((one) => !takesPlaceOf(field, one))) : undefined
  const late = new Set(last && made.filter((one) => takesPlaceOf(last, one)).map(({ id }) => id))
  const isLate = (index: IndexRecord) => index.fieldIds.some((fieldId) => late.has(fieldId))
  const changing: readonly CollectionChange[] = [
    ...indexes.gone.map(({ id }): CollectionChange => ({ kind: 'deleteIndex', data: { id } })),
    ...was.filter((field) => goes(field) && field !== last).map(deleteField),
    ...kept.flatMap(({ old, field, changes }) =>
      updateField(field.id, counts(old) === counts(field) ? changes : changes.filter((change) => !isOfDefault(change))),
    ),
    ...made.filter((field) => !late.has(field.id)).map(createField),
    ...indexes.made.filter((index) => !isLate(index)).map(createIndex),
  ]
  const replacing: readonly CollectionChange[] =
    last === undefined
      ? []
      : [
          deleteField(last),
          ...made.filter((field) => late.has(field.id)).map(createField),
          ...indexes.made.filter(isLate).map(createIndex),
        ]
  return { changing, replacing }
}

/** A column that the database counts stops counting before it goes. */
function leaving({ was, goes }: Fields): readonly CollectionChange[] {
  return was
    .filter((field) => counts(field) && goes(field))
    .flatMap(({ id }) => updateField(id, [{ kind: 'changeDefaultValue', data: { defaultValue: null } }]))
}

function updateField(id: string, changes: readonly FieldChange[]): readonly CollectionChange[] {
  return changes.length === 0 ? [] : [{ kind: 'updatePrimitiveField', data: { id, operations: [...changes] } }]
}

function deleteField({ id }: PrimitiveFieldRecord): CollectionChange {
  return { kind: 'deletePrimitiveField', data: { id } }
}

const isOfDefault = ({ kind }: FieldChange) => kind === 'changeDefaultValue'

/** Whether the database counts it. */
function counts({ defaultValue }: PrimitiveFieldRecord): boolean {
  return defaultValue?.source === 'connectorManaged' && defaultValue.isAutoincrement === true
}

/** Columns and fields whose names go round in a circle: one of each is out of the way first. */
function swapped({ was, then, goes }: Fields): readonly CollectionChange[] {
  const fields = was.filter((field) => !goes(field))
  const aside = (member: 'apiName' | 'dbName') => {
    const names = new Set([...fields, ...then.values()].map((field) => field[member]))
    const renames = fields.map((field) => ({
      key: field.id,
      from: field[member],
      to: then.get(field.id)?.[member] ?? field[member],
    }))
    return renameOrder(renames, names).flatMap(({ key, to, isAside }) => (isAside ? [{ key, to }] : []))
  }
  return [
    ...aside('apiName').flatMap(({ key, to }) => updateField(key, [{ kind: 'changeApiName', data: { apiName: to } }])),
    ...aside('dbName').flatMap(({ key, to }) => updateField(key, [{ kind: 'changeDbName', data: { dbName: to } }])),
  ]
}

function fieldChanges(before: PrimitiveFieldRecord, after: PrimitiveFieldRecord): FieldChange[] {
  const isRetyped = !isSameType(before.type, after.type)
  return [
    ...(before.apiName === after.apiName
      ? []
      : [{ kind: 'changeApiName', data: { apiName: after.apiName } } satisfies FieldChange]),
    ...(before.dbName === after.dbName
      ? []
      : [{ kind: 'changeDbName', data: { dbName: after.dbName } } satisfies FieldChange]),
    ...(isRetyped ? [{ kind: 'changeType', data: { type: after.type } } satisfies FieldChange] : []),
    ...(before.isNullable === after.isNullable
      ? []
      : [{ kind: 'changeIsNullable', data: { isNullable: after.isNullable } } satisfies FieldChange]),
    ...(before.defaultValue === after.defaultValue
      ? []
      : [{ kind: 'changeDefaultValue', data: { defaultValue: sendable(after) } } satisfies FieldChange]),
  ]
}

/** Whether a new field can only come when the other has gone. */
function takesPlaceOf(gone: PrimitiveFieldRecord, made: PrimitiveFieldRecord): boolean {
  return made.id === gone.id || made.apiName === gone.apiName || made.dbName === gone.dbName
}

export function createIndex({
  id,
  kind,
  dbName,
  fieldIds,
}: IndexRecord): Extract<CollectionChange, { kind: 'createIndex' }> {
  // The name of a key is the database's own.
  const named = kind === 'primary' ? {} : { dbName }
  return { kind: 'createIndex', data: { id, kind, fieldIds: [...fieldIds], ...named } }
}

type Sent = Extract<FieldChange, { kind: 'changeDefaultValue' }>['data']['defaultValue']

/** What only a database can have said of a default is there, or it is none. */
function sendable({ defaultValue }: PrimitiveFieldRecord): Sent {
  if (defaultValue?.source !== 'connectorManaged') return defaultValue as Sent
  return { source: 'connectorManaged', isAutoincrement: true }
}

export function createField(field: PrimitiveFieldRecord): Extract<CollectionChange, { kind: 'createPrimitiveField' }> {
  const { id, dbName, apiName, type, isNullable, isList } = field
  const data = { id, dbName, apiName, type, isNullable, isList, defaultValue: sendable(field) }
  return { kind: 'createPrimitiveField', data }
}
