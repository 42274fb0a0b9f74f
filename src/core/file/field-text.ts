/** The text of a field: `type[(…)][[]][?][ auto| always| update]`. */
import type { FieldType } from '../model/field-type.ts'
import { plainTypeNames } from '../model/vocabulary.ts'
import { listKnown } from '../nearest.ts'
import type { FilePrimitive, Filled } from './file.ts'

export type FieldText = Pick<FilePrimitive, 'type' | 'isList' | 'isNullable' | 'filled'>

const form = /^([A-Za-z][A-Za-z0-9]*)(?:\((\d{1,8})(?:, ?(\d{1,4}))?\))?(\[\])?(\?)?(?: (auto|always|update))?$/

const plain: ReadonlySet<string> = new Set(plainTypeNames)
const typeNames = [...plainTypeNames, 'string', 'decimal', '{"to": "a collection"}']

/** Returns the reason where the text is none of a field. */
export function readFieldText(text: string): FieldText | string {
  const [matched, name = '', first, second, list, nullable, filled] = form.exec(text) ?? []
  if (matched === undefined) {
    return 'must be a type such as string(200), with [] for a list, ? where null may stand, and at its end auto, always or update'
  }
  const type = typeOf(name, first, second)
  if (typeof type === 'string') return type
  return {
    type,
    isList: list !== undefined,
    isNullable: nullable !== undefined,
    filled: filled as Filled | undefined,
  }
}

export function printFieldText({ type, isList, isNullable, filled }: FieldText): string {
  return `${printType(type)}${isList ? '[]' : ''}${isNullable ? '?' : ''}${filled === undefined ? '' : ` ${filled}`}`
}

function printType(type: FieldType): string {
  if (type.name === 'string' && type.params.length === 'fixed') return `string(${type.params.value})`
  if (type.name === 'decimal' && type.params.kind === 'constrained') {
    return `decimal(${type.params.precision},${type.params.scale})`
  }
  return type.name
}

function typeOf(name: string, first: string | undefined, second: string | undefined): FieldType | string {
  if (name === 'string') {
    if (second !== undefined) return 'string has one length, such as string(200)'
    if (first === undefined) return { name, params: { length: 'unlimited' } }
    const value = Number(first)
    return value >= 1 && value <= 10_485_760
      ? { name, params: { length: 'fixed', value } }
      : 'the length of a string is 1 to 10485760'
  }
  if (name === 'decimal') {
    if (first === undefined) return { name, params: { kind: 'unconstrained' } }
    const [precision, scale] = [Number(first), Number(second ?? 0)]
    if (precision < 1 || precision > 1_000) return 'the precision of a decimal is 1 to 1000'
    return scale <= precision
      ? { name, params: { kind: 'constrained', precision, scale } }
      : 'the scale of a decimal is at most its precision'
  }
  if (!plain.has(name)) return `${name} is not a type${listKnown(name, typeNames)}`
  return first === undefined ? ({ name } as FieldType) : `${name} takes no length`
}
