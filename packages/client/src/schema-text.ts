/** Collections → the text of a module with the `Schema` of a client. Equal models are equal texts. */
import type { Described, DescribedField, DescribedRelation } from './described.ts'

/** Beyond so many to-one relations that stand for columns a new item may have both or neither: the compiler would try all combinations. */
const EXACT_RELATIONS = 6

/** How each text begins, so that it can be told from what somebody has written. */
export const MARK = '/** Written by the types command out of the model; do not edit. */'

export function schemaText(collections: readonly Described[]): string {
  const members = collections.map((collection): Line => [name(collection.name), collectionLines(collection)])
  const lines = block('export interface Schema', sorted(members))
  return `${MARK}\n${lines.join('\n')}\n`
}

/** A member and its type, in one line or as the lines of an object. */
type Line = readonly [name: string, type: string | readonly string[]]

function collectionLines(collection: Described): readonly string[] {
  const { key, fields, created, changed, one, many, unique } = collection
  const keyed = key.flatMap((of) => fields.find((field) => field.name === of) ?? [])
  const ordered = [
    ...keyed,
    ...fields.filter((field) => !keyed.includes(field)).sort((a, b) => compare(a.name, b.name)),
  ]
  const floats = ordered.filter(({ type }) => /^float/.test(type))
  return [
    ...(collection.isAddressed && keyed.length > 0 ? [`key: ${keyType(keyed)}`] : []),
    ...(keyed.length > 0 ? [`keyFields: ${keyed.map((field) => literal(field.name)).join(' | ')}`] : []),
    ...block(
      'read:',
      ordered.map((field) => [name(field.name), readType(field)]),
    ),
    ...(created === undefined
      ? []
      : block(
          'create:',
          written(ordered, (of) => created.get(of)),
        )),
    ...(changed === undefined
      ? []
      : block(
          'update:',
          written(ordered, (of) => changed.has(of) || undefined),
        )),
    ...(one.length > 0 ? block('one:', sorted(one.map((relation) => [name(relation.name), oneType(relation)]))) : []),
    ...(many.length > 0 ? block('many:', sorted(many.map(([of, to]) => [name(of), literal(to)]))) : []),
    ...(unique.length > 0 ? [`unique: ${uniqueType(unique)}`] : []),
    ...(floats.length > 0 ? [`floats: ${floats.map((field) => literal(field.name)).join(' | ')}`] : []),
    ...(one.filter(({ by }) => by.length > 0).length > EXACT_RELATIONS ? ['wide: true'] : []),
  ]
}

function oneType({ to, by, mayMiss }: DescribedRelation): string {
  const parts = [`to: ${literal(to)}`]
  if (by.length > 0) parts.push(`by: ${[...by].sort(compare).map(literal).join(' | ')}`)
  if (mayMiss) parts.push('null: true')
  return `{ ${parts.join('; ')} }`
}

/** `isOptional` answers undefined for what is not written. */
function written(
  ordered: readonly DescribedField[],
  isOptional: (name: string) => boolean | undefined,
): readonly Line[] {
  return ordered.flatMap((field): Line[] => {
    const optional = isOptional(field.name)
    return optional === undefined ? [] : [[`${name(field.name)}${optional ? '?' : ''}`, writtenType(field)]]
  })
}

/** What JSON has: long integers and decimals are texts, but may be written as numbers. */
const wire: ReadonlyMap<string, string> = new Map([
  ...['int8', 'int16', 'int32', 'uint8', 'uint16', 'uint32', 'float32', 'float64'].map(
    (type) => [type, 'number'] as const,
  ),
  ['boolean', 'boolean'],
  ['json', 'unknown'],
  ['geometry', 'unknown'],
])
const long = ['int64', 'uint64', 'decimal']

const readType = (field: DescribedField) => typed(field, valueType(field))

const writtenType = (field: DescribedField) =>
  typed(field, long.includes(field.type) ? 'string | number | bigint' : valueType(field))

function valueType({ type, values }: DescribedField): string {
  const plain = wire.get(type) ?? 'string'
  return type !== 'string' || values.length === 0 ? plain : values.map(literal).join(' | ')
}

function typed({ isList, isNullable }: DescribedField, value: string): string {
  const whole = isList ? (value.includes('|') ? `(${value})[]` : `${value}[]`) : value
  return isNullable && whole !== 'unknown' ? `${whole} | null` : whole
}

/** Of several fields a tuple, in the order in which they stand in an address. */
function keyType(keyed: readonly DescribedField[]): string {
  const [only, ...others] = keyed.map(readType)
  if (others.length === 0) return only ?? 'never'
  const parts = keyed.map((field) => {
    const label = field.name
    return `${/^[A-Za-z_$][\w$]*$/.test(label) ? label : `_${label.replace(/\W/g, '_')}`}: ${readType(field)}`
  })
  return `[${parts.join(', ')}]`
}

function uniqueType(unique: readonly (readonly string[])[]): string {
  const texts = unique.map((fields) =>
    fields.length === 1 ? literal(fields[0]) : `readonly [${fields.map(literal).join(', ')}]`,
  )
  return [...new Set(texts)].sort(compare).join(' | ')
}

function block(title: string, members: readonly Line[]): readonly string[] {
  if (members.length === 0) return [`${title} {}`]
  return [
    `${title} {`,
    ...members.flatMap(([member, type]) =>
      typeof type === 'string'
        ? [`  ${member}: ${type}`]
        : [`  ${member}: {`, ...type.map((line) => `    ${line}`), '  }'],
    ),
    '}',
  ]
}

const sorted = (lines: readonly Line[]) => [...lines].sort(([a], [b]) => compare(a, b))
const compare = (a = '', b = '') => (a < b ? -1 : a > b ? 1 : 0)
const literal = (text = '') => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
const name = (text = '') => (/^[A-Za-z_$][\w$]*$/.test(text) ? text : literal(text))
