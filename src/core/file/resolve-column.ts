/** The record of a column, as the file has it and as it is now. */
import { isSameType } from '../migration/conversion.ts'
import { defaultFault } from '../migration/fields.ts'
import type { FieldType } from '../model/field-type.ts'
import type { DefaultValue, EngineDefault, PrimitiveFieldRecord } from '../model/model.ts'
import { holdsTime } from '../model/moment.ts'
import type { FilePrimitive } from './file.ts'
import { checkDbName } from './names.ts'
import { fileFault } from './reading.ts'
import type { Column } from './resolution.ts'
import type { ColumnSpec } from './shapes.ts'
import { sortedJson } from './sorted-json.ts'

type ColumnContext = {
  readonly collectionId: string
  readonly before: PrimitiveFieldRecord | undefined
  readonly id: string
  /** The name of the column where the file gives none. */
  readonly dbName: string
}

/** The same object where nothing changes. */
export function resolveColumn(
  { name, place, file }: Column,
  { type, isList, isNullable }: ColumnSpec,
  { collectionId, before, id, dbName: derived }: ColumnContext,
): PrimitiveFieldRecord {
  const dbName = file?.dbName ?? derived
  if (before?.dbName !== dbName) checkDbName(dbName, file === undefined ? place : `${place}.dbName`)
  const isReadOnly = file?.isReadOnly ?? false
  if (isReadOnly !== (before?.isReadOnly ?? false)) {
    const reason = isReadOnly ? 'a read-only field must be there, it is never made' : 'is read-only'
    throw fileFault(file === undefined ? place : `${place}.readOnly`, reason)
  }
  const isAlike = before !== undefined && isSameType(before.type, type) && before.isList === isList
  const defaultValue = file === undefined ? null : defaultOf(file, before, place)
  const after: PrimitiveFieldRecord = {
    ...(before ?? { isLoose: false, native: null }),
    id,
    collectionId,
    apiName: name,
    dbName,
    isReadOnly,
    isList,
    isNullable,
    type: isAlike ? before.type : type,
    defaultValue: isSameDefault(before?.defaultValue, defaultValue) ? (before?.defaultValue ?? null) : defaultValue,
  }
  const fault = defaultFault(after, after.defaultValue)
  if (fault !== undefined && after.defaultValue !== before?.defaultValue) {
    throw fileFault(file?.value === undefined ? place : `${place}.default`, fault)
  }
  const isSame =
    before !== undefined &&
    isAlike &&
    before.apiName === name &&
    before.dbName === dbName &&
    before.isNullable === isNullable &&
    before.defaultValue === after.defaultValue
  return isSame ? before : after
}

function defaultOf(file: FilePrimitive, before: PrimitiveFieldRecord | undefined, place: string): DefaultValue | null {
  const { type, isList, filled, value } = file
  if (filled === undefined && value === undefined) return null
  const isFilledByDatabase = before?.defaultValue?.source === 'connectorManaged'
  if (filled === 'auto') {
    if (isFilledByDatabase) return before.defaultValue
    if (isInteger(type)) return { source: 'connectorManaged', isAutoincrement: true }
    const onCreate = generated(type, isList)
    if (onCreate === undefined) throw fileFault(place, `a new ${type.name} is not filled by itself: give it a default`)
    return { source: 'engineManaged', onCreate }
  }
  if (filled !== undefined && (isList || !holdsTime(type.name))) {
    throw fileFault(place, `${filled} sets the current time, which ${type.name}${isList ? '[]' : ''} does not hold`)
  }
  const onCreate: EngineDefault | undefined =
    filled === 'always' ? { kind: 'now' } : value && { kind: 'static', valueEncoded: value.of }
  return {
    source: 'engineManaged',
    ...(onCreate !== undefined && { onCreate }),
    ...(filled !== undefined && { onUpdate: { kind: 'now' } }),
  }
}

/** The member of an order that does not matter, and a default null, which is none. */
function isSameDefault(one: DefaultValue | null | undefined, other: DefaultValue | null): boolean {
  return sortedJson(meaning(one)) === sortedJson(meaning(other))
}

function meaning(value: DefaultValue | null | undefined): DefaultValue | null {
  if (value?.source !== 'engineManaged' || value.onCreate?.kind !== 'static') return value ?? null
  if (value.onCreate.valueEncoded !== null) return value
  return value.onUpdate === undefined ? null : { source: 'engineManaged', onUpdate: value.onUpdate }
}

/** What fills a field of this type by itself. */
function generated(type: FieldType, isList: boolean): EngineDefault | undefined {
  if (isList) return undefined
  if (holdsTime(type.name)) return { kind: 'now' }
  return type.name === 'uuid' || type.name === 'string' ? { kind: 'uuid' } : undefined
}

export function isInteger({ name }: FieldType): boolean {
  return /^u?int/.test(name)
}
