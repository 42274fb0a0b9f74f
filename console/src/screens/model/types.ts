/** Types of fields: how each is written, what fills it by itself, and what it may become without losing a value. */
import { outcomeOf } from '../review/values.ts'
import { typeOf } from './changes.ts'
import type { Family } from './families.ts'
import type { Default, Field, FieldType } from './records.ts'

export const typeNames = [
  'string',
  'int32',
  'int64',
  'decimal',
  'float64',
  'boolean',
  'date',
  'time',
  'dateTime',
  'dateTimeWithTimezone',
  'uuid',
  'json',
  'bytes',
  'geometry',
  'int8',
  'int16',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'float32',
] as const
export type TypeName = (typeof typeNames)[number]

/** Those that a database of the family has columns for. */
export function typesIn({ lacks }: Family): readonly TypeName[] {
  return typeNames.filter((name) => !lacks.includes(name))
}

/** As in the model file: `string(80)[]?`. */
export function typeText({ type, isList, isNullable }: Pick<Field, 'type' | 'isList' | 'isNullable'>): string {
  const { value, precision, scale } = type.params ?? {}
  const bounds = value !== undefined ? `(${value})` : precision !== undefined ? `(${precision},${scale})` : ''
  return `${type.name}${bounds}${isList ? '[]' : ''}${isNullable ? '?' : ''}`
}

/** What the model file has of a field but for its name. */
export function membersOf(field: Omit<Field, 'id' | 'apiName' | 'isReadOnly'>): object {
  const fill = fillOf(field)
  const filled = fill === 'auto' || fill === 'always' || fill === 'update' ? ` ${fill}` : ''
  const { dbName } = field
  return { type: typeText(field) + filled, dbName, ...(fill === 'value' && { default: defaultText(field) }) }
}

/** What gives a field its value where nobody does: as in the model file; `kept` is one that only the database knows. */
export const fills = ['none', 'value', 'auto', 'always', 'update', 'kept'] as const
export type Fill = (typeof fills)[number]

export function fillOf({ defaultValue }: Pick<Field, 'defaultValue'>): Fill {
  if (defaultValue === null) return 'none'
  const { source, onCreate, onUpdate, isAutoincrement } = defaultValue
  if (source !== 'engineManaged') return isAutoincrement ? 'auto' : 'kept'
  if (onUpdate !== undefined) return onCreate?.kind === 'now' ? 'always' : onCreate === undefined ? 'update' : 'kept'
  return onCreate?.kind === 'static' ? 'value' : 'auto'
}

/** Those that a field of a type can have. */
export function fillsOf(type: string, isList: boolean): readonly Fill[] {
  if (isList) return ['none', 'value']
  if (holdsTime(type)) return ['none', 'value', 'auto', 'always', 'update']
  return isInteger(type) || type === 'uuid' || type === 'string' ? ['none', 'value', 'auto'] : ['none', 'value']
}

/** Undefined where the text is no value of its type. */
export function defaultOf(fill: Fill, type: string, isList: boolean, text: string): Default | null | undefined {
  const now = { kind: 'now' }
  switch (fill) {
    case 'none':
    case 'kept':
      return null
    case 'value': {
      const valueEncoded = typedValue(type, isList, text)
      return valueEncoded === undefined
        ? undefined
        : { source: 'engineManaged', onCreate: { kind: 'static', valueEncoded } }
    }
    case 'auto':
      if (isInteger(type)) return { source: 'connectorManaged', isAutoincrement: true }
      return { source: 'engineManaged', onCreate: holdsTime(type) ? now : { kind: 'uuid' } }
    case 'always':
      return { source: 'engineManaged', onCreate: now, onUpdate: now }
    case 'update':
      return { source: 'engineManaged', onUpdate: now }
  }
}

/** How the value of a default is typed. */
export function defaultText({ defaultValue, type, isList }: Pick<Field, 'defaultValue' | 'type' | 'isList'>): string {
  const value = defaultValue?.onCreate?.valueEncoded
  if (value === undefined) return ''
  return typeof value === 'string' && type.name !== 'json' && !isList ? value : JSON.stringify(value)
}

function typedValue(type: string, isList: boolean, text: string): unknown {
  if (!isList && type !== 'json' && type !== 'boolean' && type !== 'geometry') {
    const isNumber = (isInteger(type) || type.startsWith('float')) && String(Number(text)) === text
    return isNumber ? Number(text) : text
  }
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isInteger = (type: string) => /^u?int/.test(type)
const holdsTime = (type: string) => /^(date|time)/.test(type)

/** Names of types that a type may become without a value that is rounded or cut; of itself, too, since its bounds may change. */
export function changesOf(type: FieldType, isList: boolean): readonly TypeName[] {
  return typeNames.filter((to) => to === type.name || outcomeOf(type, typeOf(to), isList) !== undefined)
}
