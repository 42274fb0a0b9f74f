/**
 * A manifest (`GET /api/{workspace}/schema`) → the text of a module with its `Schema`, by which the client knows every
 * answer. The same model is the same text.
 */

/** What is read of a manifest; docs/manifest.md says what its numbers point into. */
export type ManifestText = {
  readonly strings: readonly string[]
  readonly primitiveTypes: readonly { readonly name: string }[]
  readonly serviceSchema: { readonly collections: readonly CollectionEntry[] }
  readonly querySchema: {
    readonly operations: readonly (readonly [kind: string, collection: number, parameters: number, output: string])[]
    readonly inputFields: readonly { readonly type: string; readonly optional?: true; readonly kind?: string }[]
    readonly outputFields: readonly { readonly type: string }[]
    readonly inputObjectTypes: readonly { readonly fields: readonly number[] }[]
    readonly outputObjectTypes: readonly { readonly fields: readonly number[] }[]
  }
}

type CollectionEntry = {
  readonly apiName: number
  readonly isSystem?: true
  readonly primitiveFields: readonly FieldEntry[]
  readonly relationFields: readonly RelationEntry[]
  readonly indexes?: readonly { readonly kind: string; readonly fields: readonly number[] }[]
}
type FieldEntry = {
  readonly apiName: number
  readonly type: number
  readonly isNullable?: true
  readonly isList?: true
  readonly values?: readonly number[]
}
type RelationEntry = {
  readonly apiName: number
  readonly oppositeCollection: number
  readonly linkingFields: readonly (readonly [own: number, opposite: number])[]
  readonly isList?: true
  readonly isForward?: true
}

/** Beyond so many to-one relations that stand for columns a new item may have both or neither: the compiler would try all combinations. */
const EXACT_RELATIONS = 6

export function writeSchema(manifest: ManifestText, options: { readonly system?: boolean } = {}): string {
  const { strings, serviceSchema } = manifest
  const collections = serviceSchema.collections
    .filter(({ isSystem }) => options.system === true || isSystem !== true)
    .map((collection): Line => [name(strings[collection.apiName]), collectionLines(manifest, collection, options)])
  const lines = block('export interface Schema', sorted(collections))
  return `/** Written by the types command out of the model; do not edit. */\n${lines.join('\n')}\n`
}

/** A member and its type, in one line or as the lines of an object. */
type Line = readonly [name: string, type: string | readonly string[]]

function collectionLines(
  manifest: ManifestText,
  collection: CollectionEntry,
  options: { readonly system?: boolean },
): readonly string[] {
  const { strings } = manifest
  const { primitiveFields, indexes = [] } = collection
  const of = (kind: string) => operation(manifest, collection, kind)
  const nameOf = (index: number) => strings[primitiveFields[index]?.apiName ?? -1] ?? ''
  const primary = indexes.find(({ kind }) => kind === 'primary')?.fields ?? []
  const isAddressed = of('readOne') !== undefined
  const unique = indexes.filter(({ kind }) => kind === 'unique').map(({ fields }) => fields.map(nameOf))
  const relations = collection.relationFields.filter(({ oppositeCollection }) => {
    const opposite = manifest.serviceSchema.collections[oppositeCollection]
    return opposite !== undefined && (options.system === true || opposite.isSystem !== true)
  })
  const isFirst = (field: FieldEntry) => primary.some((index) => primitiveFields[index] === field)
  const ordered = [
    ...primary.flatMap((index) => primitiveFields[index] ?? []),
    ...primitiveFields
      .filter((field) => !isFirst(field))
      .sort((a, b) => compare(strings[a.apiName], strings[b.apiName])),
  ]
  const one = relations.filter(({ isList }) => isList !== true)
  const many = relations.filter(({ isList }) => isList === true)
  const targetOf = ({ oppositeCollection }: RelationEntry) =>
    literal(strings[manifest.serviceSchema.collections[oppositeCollection]?.apiName ?? -1])
  const oneOf = (relation: RelationEntry) => {
    const by = relation.isForward ? relation.linkingFields.map(([own]) => nameOf(own)) : []
    const parts = [`to: ${targetOf(relation)}`]
    if (by.length > 0) parts.push(`by: ${by.map(literal).join(' | ')}`)
    if (mayMiss(manifest, collection, relation)) parts.push('null: true')
    return `{ ${parts.join('; ')} }`
  }
  const floats = ordered.filter(({ type }) => /^float/.test(manifest.primitiveTypes[type]?.name ?? ''))
  const keyed = primary.flatMap((index) => primitiveFields[index] ?? [])
  return [
    ...(isAddressed && keyed.length > 0 ? [`key: ${keyType(manifest, keyed)}`] : []),
    ...(keyed.length > 0 ? [`keyFields: ${keyed.map(({ apiName }) => literal(strings[apiName])).join(' | ')}`] : []),
    ...block(
      'read:',
      ordered.map((field) => [name(strings[field.apiName]), readType(manifest, field)]),
    ),
    ...writtenLines(manifest, { ordered, given: dataOf(manifest, of('create')), title: 'create:' }),
    ...writtenLines(manifest, {
      ordered,
      given: dataOf(manifest, of('updateOne') ?? of('updateMany')),
      title: 'update:',
    }),
    ...(one.length > 0
      ? block('one:', sorted(one.map((relation) => [name(strings[relation.apiName]), oneOf(relation)])))
      : []),
    ...(many.length > 0
      ? block('many:', sorted(many.map((relation) => [name(strings[relation.apiName]), targetOf(relation)])))
      : []),
    ...(unique.length > 0 ? [`unique: ${uniqueType(unique)}`] : []),
    ...(floats.length > 0 ? [`floats: ${floats.map(({ apiName }) => literal(strings[apiName])).join(' | ')}`] : []),
    ...(one.filter(({ isForward }) => isForward).length > EXACT_RELATIONS ? ['wide: true'] : []),
  ]
}

/** Of the operation that this collection serves, the input type; undefined where it does not. */
function operation({ querySchema }: ManifestText, { apiName }: CollectionEntry, kind: string) {
  const found = querySchema.operations.find(([served, collection]) => served === kind && collection === apiName)
  return found && { parameters: querySchema.inputObjectTypes[found[2]], output: found[3] }
}

type Operation = NonNullable<ReturnType<typeof operation>>

/** The fields of what is written: name → whether it may be left out. */
function dataOf(manifest: ManifestText, served: Operation | undefined): ReadonlyMap<string, boolean> | undefined {
  const { strings, querySchema } = manifest
  const data = members(served?.parameters?.fields ?? []).find(([text]) => strings[text] === 'data')
  if (data === undefined) return undefined
  const type = querySchema.inputObjectTypes[reference(querySchema.inputFields[data[1]]?.type)]
  const fields = members(type?.fields ?? []).flatMap(([text, index]) => {
    const field = querySchema.inputFields[index]
    return field?.kind === 'primitive' ? [[strings[text] ?? '', field.optional === true] as const] : []
  })
  return new Map(fields)
}

/** Whether the answer may have null there: a relation that is nullable, leads back, or into another source. */
function mayMiss(manifest: ManifestText, collection: CollectionEntry, relation: RelationEntry): boolean {
  const { querySchema } = manifest
  const served = operation(manifest, collection, 'readMany') ?? operation(manifest, collection, 'readOne')
  const item = querySchema.outputObjectTypes[reference(served?.output)]
  const field = members(item?.fields ?? []).find(([text]) => text === relation.apiName)
  return field === undefined || querySchema.outputFields[field[1]]?.type.endsWith('?') === true
}

/** `fields` of an object type in pairs. */
function members(fields: readonly number[]): readonly (readonly [text: number, field: number])[] {
  return fields.flatMap((text, at) => (at % 2 === 0 ? [[text, fields[at + 1] ?? -1] as const] : []))
}

/** The number of a type reference: `[i5?]` → 5. */
const reference = (type = '') => Number(/\d+/.exec(type)?.[0] ?? -1)

type Written = {
  readonly ordered: readonly FieldEntry[]
  readonly given: ReadonlyMap<string, boolean> | undefined
  readonly title: string
}

function writtenLines(manifest: ManifestText, { ordered, given, title }: Written): readonly string[] {
  if (given === undefined) return []
  const lines = ordered.flatMap((field): Line[] => {
    const text = manifest.strings[field.apiName] ?? ''
    const isOptional = given.get(text)
    return isOptional === undefined ? [] : [[`${name(text)}${isOptional ? '?' : ''}`, writtenType(manifest, field)]]
  })
  return block(title, lines)
}

/** What JSON has: long integers and decimals are texts, but may be written as numbers. */
const wire: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['int8', 'int16', 'int32', 'uint8', 'uint16', 'uint32', 'float32', 'float64'].map((type) => [type, 'number']),
  ),
  boolean: 'boolean',
  json: 'unknown',
  geometry: 'unknown',
}
const long = ['int64', 'uint64', 'decimal']

function readType(manifest: ManifestText, field: FieldEntry): string {
  return typed(field, valueType(manifest, field))
}

function writtenType(manifest: ManifestText, field: FieldEntry): string {
  const type = manifest.primitiveTypes[field.type]?.name ?? ''
  return typed(field, long.includes(type) ? 'string | number | bigint' : valueType(manifest, field))
}

function valueType({ primitiveTypes, strings }: ManifestText, { type, values }: FieldEntry): string {
  const own = primitiveTypes[type]?.name ?? ''
  const plain = wire[own] ?? 'string'
  if (own !== 'string' || values === undefined || values.length === 0) return plain
  return values.map((value) => literal(strings[value])).join(' | ')
}

function typed({ isList, isNullable }: FieldEntry, value: string): string {
  const whole = isList ? (value.includes('|') ? `(${value})[]` : `${value}[]`) : value
  return isNullable && whole !== 'unknown' ? `${whole} | null` : whole
}

/** Of several fields a tuple, in the order in which they stand in an address. */
function keyType(manifest: ManifestText, keyed: readonly FieldEntry[]): string {
  const [only, ...others] = keyed.map((field) => readType(manifest, field))
  if (others.length === 0) return only ?? 'never'
  const parts = keyed.map((field) => {
    const label = manifest.strings[field.apiName] ?? ''
    return `${/^[A-Za-z_$][\w$]*$/.test(label) ? label : `_${label.replace(/\W/g, '_')}`}: ${readType(manifest, field)}`
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
