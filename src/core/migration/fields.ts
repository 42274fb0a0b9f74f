/** Creates, changes and deletes primitive fields, with every rule on types, defaults and nulls. */
import { parseJson } from '../exact-json.ts'
import { changedNumber } from '../model/codec/number.ts'
import { decodeJson, decodeValue, describeType } from '../model/codec.ts'
import type { DefaultValue, EngineDefault, PrimitiveFieldRecord } from '../model/model.ts'
import { holdsTime } from '../model/moment.ts'
import { conversionOf, isLimitedAlike, isSameType } from './conversion.ts'
import { deriveApiName } from './derive.ts'
import { type CollectionDraft, type Draft, refuse } from './draft.ts'
import { addField, claimId, emit } from './edits.ts'
import { giveUpName, refuseGivenUp } from './given-up.ts'
import {
  checkColumns,
  checkIndexable,
  columnOf,
  fieldOf,
  indexesBy,
  initialOf,
  type Pair,
  pairsBy,
  storageOf,
  tableOf,
} from './lookups.ts'
import type { DataOf, FieldChange } from './operation.ts'

/** Adds the field to the model only: a new table is created with its columns. */
export function createField(
  draft: Draft,
  collection: CollectionDraft,
  data: DataOf<'createPrimitiveField'>,
): PrimitiveFieldRecord {
  const { id, dbName, type, isNullable, isList, defaultValue } = data
  claimId(draft, id)
  refuseGivenUp(draft, { place: collection.record.id, dbName }, { id, isNew: true })
  claimColumnName(collection, dbName)
  const apiName = data.apiName ?? deriveApiName(dbName, (name) => collection.fieldNames.has(name))
  claimFieldName(collection, apiName)
  const record = withExactDefault({
    id,
    collectionId: collection.record.id,
    dbName,
    apiName,
    type,
    isNullable,
    isList,
    isReadOnly: false,
    defaultValue,
    isLoose: false,
    native: null,
  })
  checkType(draft, collection, record)
  checkDefault(record)
  addField(draft, collection, record)
  return record
}

export function addColumn(draft: Draft, collection: CollectionDraft, field: PrimitiveFieldRecord): void {
  checkColumns(draft, collection)
  const table = tableOf(draft, collection)
  const column = columnOf(field)
  emit(draft, collection.record.sourceId, {
    kind: 'addColumn',
    table,
    column,
    // Existing rows get the value that new ones would get; a nullable column stays null.
    backfill: field.isNullable ? undefined : (column.initial ?? initialOf(field)),
  })
}

export function updateField(draft: Draft, collection: CollectionDraft, data: DataOf<'updatePrimitiveField'>): void {
  const before = fieldOf(draft, collection, data.id)
  const after = withExactDefault(withRulesOf(before, data.operations.reduce(withChange, before)))
  if (after.dbName !== before.dbName) {
    const place = collection.record.id
    refuseGivenUp(draft, { place, dbName: after.dbName }, { id: after.id, isNew: false })
    giveUpName(draft, { place, dbName: before.dbName }, { id: after.id, what: whatOf(before), how: 'renamed' })
    collection.columnNames.delete(before.dbName)
    claimColumnName(collection, after.dbName)
  }
  if (after.apiName !== before.apiName) {
    collection.fieldNames.delete(before.apiName)
    claimFieldName(collection, after.apiName)
  }
  checkDefault(after)
  draft.fields.set(after.id, after)
  if (after.isNullable !== before.isNullable) changeNullability(draft, collection, after)
  else if (after.defaultValue?.source !== before.defaultValue?.source) checkOwnActions(draft, collection, after)
  emitFieldChanges(draft, collection, before, after)
}

export function deleteField(draft: Draft, collection: CollectionDraft, { id }: DataOf<'deletePrimitiveField'>): void {
  const field = fieldOf(draft, collection, id)
  const [index] = indexesBy(draft, collection, [id])
  if (index !== undefined) refuse('inUse', `the field ${field.apiName} is used by the index ${index.dbName}`)
  const [pair] = pairsBy(draft, collection, [id])
  if (pair !== undefined) refuse('inUse', `the field ${field.apiName} is used by the relation ${pair.owner.apiName}`)
  const name = { place: collection.record.id, dbName: field.dbName }
  giveUpName(draft, name, { id, what: whatOf(field), how: 'deleted' })
  draft.ids.delete(id)
  draft.fields.delete(id)
  collection.fieldIds.delete(id)
  collection.fieldNames.delete(field.apiName)
  collection.columnNames.delete(field.dbName)
  checkColumns(draft, collection)
  const { sourceId } = collection.record
  emit(draft, sourceId, { kind: 'dropColumn', table: tableOf(draft, collection), column: field.dbName })
}

function whatOf({ apiName }: PrimitiveFieldRecord): string {
  return `the field ${apiName}`
}

/** API names are unique across primitive and relation fields of a collection. */
export function claimFieldName(collection: CollectionDraft, apiName: string): void {
  if (collection.fieldNames.has(apiName)) {
    refuse('nameInUse', `the collection ${collection.record.apiName} already has a field ${apiName}`)
  }
  collection.fieldNames.add(apiName)
}

/** A foreign key with a null in one of its columns refers to nothing. */
export function isNullableKey(draft: Draft, { mappings }: Pair['constraint']): boolean {
  return mappings.some(({ constrainedFieldId }) => draft.fields.get(constrainedFieldId)?.isNullable === true)
}

/** Checks that the foreign key fields can hold what referential actions write: null or the default. */
export function checkActions(draft: Draft, { onDelete, onUpdate, mappings }: Pair['constraint']): void {
  for (const { constrainedFieldId } of mappings) {
    const field = draft.fields.get(constrainedFieldId)
    if (field === undefined || field.isNullable) continue
    if (onDelete === 'setNull' || onUpdate === 'setNull')
      refuse('relation', `setNull: the field ${field.apiName} must not be null`)
    const isDefaulted = field.defaultValue?.source === 'connectorManaged'
    if (!isDefaulted && (onDelete === 'setDefault' || onUpdate === 'setDefault')) {
      refuse(
        'relation',
        `setDefault: the database has no default for the field ${field.apiName}, which must not be null`,
      )
    }
  }
}

function claimColumnName(collection: CollectionDraft, dbName: string): void {
  if (collection.columnNames.has(dbName)) {
    refuse('nameInUse', `the collection ${collection.record.apiName} already has a column ${dbName}`)
  }
  collection.columnNames.add(dbName)
}

function checkType(draft: Draft, collection: CollectionDraft, { type, isList }: PrimitiveFieldRecord): void {
  const { title, columnType } = storageOf(draft, collection.record.sourceId)
  if (columnType(type, isList) !== undefined) return
  const what = `${title} cannot store ${isList ? `lists of ${describeType(type)}` : describeType(type)}`
  refuse('unsupported', type.name.startsWith('uint') ? `${what}: unsigned integers are not supported` : what)
}

function checkDefault(field: PrimitiveFieldRecord): void {
  const reason = defaultFault(field, field.defaultValue)
  if (reason !== undefined) refuse('default', `invalid default value of the field ${field.apiName}: ${reason}`)
}

export function defaultFault(field: PrimitiveFieldRecord, value: DefaultValue | null): string | undefined {
  if (value === null) return undefined
  if (value.source === 'engineManaged') {
    return engineDefaultFault(field, value.onCreate) ?? engineDefaultFault(field, value.onUpdate)
  }
  if (value.isAutoincrement !== true) return undefined
  if (field.isList || !/^u?int(8|16|32|64)$/.test(field.type.name)) return 'only integers can auto-increment'
  return field.isNullable ? 'an auto-increment field must not be nullable' : undefined
}

function engineDefaultFault(field: PrimitiveFieldRecord, value: EngineDefault | undefined): string | undefined {
  const { type, isList, isNullable } = field
  switch (value?.kind) {
    case undefined:
      return undefined
    case 'now':
      return isList || !holdsTime(type.name) ? `the current time is not of type ${describeType(type)}` : undefined
    case 'uuid': {
      const isLongText = type.name === 'string' && (type.params.length === 'unlimited' || type.params.value >= 36)
      return isList || !(isLongText || type.name === 'uuid') ? `a UUID is not of type ${describeType(type)}` : undefined
    }
    case 'static': {
      if (value.valueEncoded === null) return isNullable ? undefined : 'must not be null'
      // Defaults are stored with JavaScript's precision of numbers.
      const changed = type.name === 'json' ? changedNumber(value.valueEncoded) : undefined
      if (changed !== undefined) return `holds a number that would be rounded: ${changed.number}; write it as a text`
      const decoded = decodeValue(field, value.valueEncoded)
      return 'fault' in decoded ? decoded.fault : undefined
    }
  }
}

/** Returns the default in its stored form: a decimal as text, if a JavaScript number would lose digits. */
function withExactDefault(field: PrimitiveFieldRecord): PrimitiveFieldRecord {
  const { type, isList, defaultValue } = field
  if (type.name === 'json' && defaultFault(field, defaultValue) !== undefined) return field
  if (defaultValue?.source !== 'engineManaged' || defaultValue.onCreate?.kind !== 'static') return field
  const sent = JSON.stringify(defaultValue.onCreate.valueEncoded)
  const plain: unknown = parseJson(sent)
  if (JSON.stringify(plain) === sent) return field
  const decoded = decodeJson(type, isList, defaultValue.onCreate.valueEncoded)
  const text = type.name === 'decimal' && 'ok' in decoded ? decoded.ok : undefined
  const exact = text === undefined ? plain : isList ? parseJson(text) : text
  return { ...field, defaultValue: { ...defaultValue, onCreate: { kind: 'static', valueEncoded: exact } } }
}

function withChange(field: PrimitiveFieldRecord, { data }: FieldChange): PrimitiveFieldRecord {
  return { ...field, ...data }
}

/** A column with a new type loses its native type, and the checks that do not apply to the new type. */
function withRulesOf(before: PrimitiveFieldRecord, { checks, ...after }: PrimitiveFieldRecord): PrimitiveFieldRecord {
  if (isSameType(before.type, after.type)) return { ...after, ...(checks && { checks }), type: before.type }
  return { ...after, ...(checks && isLimitedAlike(before.type, after.type) && { checks }), native: null }
}

function changeNullability(draft: Draft, collection: CollectionDraft, field: PrimitiveFieldRecord): void {
  if (field.isNullable && indexesBy(draft, collection, [field.id]).some(({ kind }) => kind === 'primary'))
    refuse('inUse', `the field ${field.apiName} belongs to the primary key`)
  for (const { owner, constraint } of pairsBy(draft, collection, [field.id])) {
    if (owner.collectionId !== collection.record.id) continue
    checkActions(draft, constraint)
    draft.relations.set(owner.id, { ...owner, isNullable: isNullableKey(draft, constraint) })
  }
}

/** A referential action may write the default that is being removed. */
function checkOwnActions(draft: Draft, collection: CollectionDraft, field: PrimitiveFieldRecord): void {
  for (const { owner, constraint } of pairsBy(draft, collection, [field.id])) {
    if (owner.collectionId === collection.record.id) checkActions(draft, constraint)
  }
}

function emitFieldChanges(
  draft: Draft,
  collection: CollectionDraft,
  before: PrimitiveFieldRecord,
  after: PrimitiveFieldRecord,
): void {
  const table = tableOf(draft, collection)
  const { sourceId } = collection.record
  const column = columnOf(after)
  if (after.dbName !== before.dbName) {
    emit(draft, sourceId, { kind: 'renameColumn', table, column: before.dbName, to: after.dbName })
  }
  // An auto-increment column can neither be null nor change its type: its default is dropped before, or set after, the change.
  // A default does not change its type either; a view has no default.
  const isManaged = (field: PrimitiveFieldRecord) => field.defaultValue?.source === 'connectorManaged'
  const bare = { ...column, initial: undefined }
  const setDefault = () =>
    ({ kind: 'setDefault', table, column: bare, indexNames: [...collection.indexNames] }) as const
  const isRetyped = JSON.stringify(after.type) !== JSON.stringify(before.type)
  const { initial, isNullable } = columnOf(before)
  const isReshaped = isRetyped || after.isNullable !== isNullable
  const isOther = isReshaped || JSON.stringify(initial) !== JSON.stringify(column.initial)
  const isHeld = isOther && !collection.record.isView
  if (isManaged(before) && !isManaged(after)) emit(draft, sourceId, setDefault())
  if (isHeld && initial && (isReshaped || !column.initial)) {
    emit(draft, sourceId, { kind: 'changeInitial', table, column: { ...bare, type: before.type, isNullable } })
  }
  if (isRetyped) changeType(draft, collection, { before, after })
  if (after.isNullable !== isNullable) emit(draft, sourceId, { kind: 'setNullable', table, column: bare })
  const isCounting = column.isAutoincrement && !columnOf(before).isAutoincrement
  if (isCounting) emit(draft, sourceId, setDefault())
  if (isHeld && column.initial) emit(draft, sourceId, { kind: 'changeInitial', table, column })
}

function changeType(
  draft: Draft,
  collection: CollectionDraft,
  { before, after }: { readonly before: PrimitiveFieldRecord; readonly after: PrimitiveFieldRecord },
): void {
  checkType(draft, collection, after)
  if (indexesBy(draft, collection, [after.id]).length > 0) checkIndexable(draft, collection, after)
  const [pair] = pairsBy(draft, collection, [after.id])
  if (pair !== undefined) refuse('inUse', `the field ${before.apiName} is used by the relation ${pair.owner.apiName}`)
  const conversion = conversionOf(before.type, after.type, after.isList)
  if (conversion === undefined) {
    refuse(
      'conversion',
      `values of type ${describeType(before.type)} cannot become ${describeType(after.type)} without loss`,
    )
  }
  const table = tableOf(draft, collection)
  const column = { ...columnOf(after), initial: undefined }
  const from = before.type
  emit(draft, collection.record.sourceId, { kind: 'changeColumnType', table, column, from, conversion })
}
