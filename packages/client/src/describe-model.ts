/** A model file (docs/contract.md#the-model-as-a-file) → its collections, with the columns that relations bring along. */
import type { Described, DescribedField, DescribedRelation } from './described.ts'
import { requireForm } from './model-form.ts'

/** What is read of a file. */
export type ModelText = { readonly collections?: Readonly<Record<string, CollectionText>> }

type CollectionText = {
  readonly fields: Readonly<Record<string, string | PrimitiveText | RelationText | ManyText>>
  readonly key?: readonly string[]
  readonly indexes?: readonly (string | { readonly on: string })[]
  readonly source?: string
  readonly readOnly?: boolean
}
type PrimitiveText = { readonly type: string; readonly default?: unknown; readonly readOnly?: boolean }
type RelationText = {
  readonly to: string
  readonly opposite?: string
  readonly unique?: boolean
  readonly by?: readonly string[]
  readonly references?: readonly string[]
  readonly constraint?: string | false
  readonly index?: boolean
}
type ManyText = {
  readonly many: string
  readonly through?: string
  readonly over?: string
  readonly opposite?: string
}

type Column = DescribedField & {
  /** Whether a new item has a value there by itself. */
  readonly isFilled: boolean
  readonly isReadOnly: boolean
}

type Relation = {
  readonly name: string
  readonly to: string
  readonly isNullable: boolean
  readonly text: RelationText
}

/** A collection as its file has it; what relations add comes later. */
type Drawn = {
  readonly name: string
  readonly text: CollectionText
  readonly columns: Map<string, Column>
  readonly relations: Map<string, Relation>
  /** Fields over junctions, and the collection that they lead to. */
  readonly many: [name: string, to: string][]
}

/** The collection of files: a model has relations to it, and does not describe it. Uploads make its items. */
const FILES = 'ServiceFile'
const known = (type: string): PrimitiveText => ({ type, readOnly: true })
const fileFields: CollectionText['fields'] = {
  id: known('uuid'),
  fileName: known('string'),
  fileSize: known('float64'),
  mediaType: known('string'),
  title: 'string?',
  description: 'string?',
  tags: 'json?',
  createdAt: known('dateTime'),
  updatedAt: known('dateTime'),
}

export function describeModel(model: ModelText): readonly Described[] {
  requireForm(model)
  const { collections = {} } = model
  const drawn = new Map<string, Drawn>()
  for (const [name, text] of [...junctionsOf(collections), ...Object.entries(collections)]) {
    drawn.set(name, draw(name, text))
  }
  const isRelated = [...drawn.values()].some(({ relations }) => [...relations.values()].some(({ to }) => to === FILES))
  if (isRelated) drawn.set(FILES, draw(FILES, { fields: fileFields }))
  for (const { name, text, many } of drawn.values()) {
    for (const [field, value] of Object.entries(text.fields)) {
      if (typeof value === 'string' || !('many' in value)) continue
      many.push([field, value.many])
      drawn.get(value.many)?.many.push([value.opposite ?? name, name])
    }
  }
  const whole = withColumns(drawn)
  return [...drawn.values()].map((collection) => describe(collection, whole))
}

/** The collections that stand behind fields to many, each a relation to either side. */
function junctionsOf(collections: Readonly<Record<string, CollectionText>>): ReadonlyMap<string, CollectionText> {
  const found = new Map<string, CollectionText>()
  for (const [name, { fields, source }] of Object.entries(collections)) {
    for (const [field, value] of Object.entries(fields)) {
      if (typeof value === 'string' || !('many' in value) || value.over !== undefined) continue
      const through = value.through ?? `${name}_${field}`
      const sides = {
        from: { to: name, opposite: through },
        to: { to: value.many, opposite: value.many === name ? `${through}To` : through },
      }
      found.set(through, { fields: sides, key: Object.keys(sides), ...(source !== undefined && { source }) })
    }
  }
  return found
}

function draw(name: string, text: CollectionText): Drawn {
  const columns = new Map<string, Column>()
  const relations = new Map<string, Relation>()
  for (const [field, value] of Object.entries(text.fields)) {
    const place = `collections.${name}.fields.${field}`
    if (typeof value === 'string') columns.set(field, columnOf(field, { type: value }, place))
    else if ('type' in value) columns.set(field, columnOf(field, value, place))
    else if ('to' in value) {
      const isNullable = value.to.endsWith('?')
      relations.set(field, { name: field, to: value.to.replace(/\?$/, ''), isNullable, text: value })
    } else if (!('many' in value)) throw new TypeError(`${place} is no field`)
  }
  return { name, text, columns, relations, many: [] }
}

const form = /^(\w+)(?:\([\d, ]+\))?(\[\])?(\?)?(?: (auto|always|update))?$/

function columnOf(name: string, { type: text, default: value, readOnly }: PrimitiveText, place: string): Column {
  const [, type, list, nullable, filled] = form.exec(text) ?? []
  if (type === undefined) throw new TypeError(`${place}: ${JSON.stringify(text)} is no type`)
  return {
    name,
    type,
    isList: list !== undefined,
    isNullable: nullable !== undefined,
    values: [],
    isFilled: filled !== undefined || (value !== undefined && value !== null),
    isReadOnly: readOnly === true,
  }
}

type Model = {
  readonly drawn: ReadonlyMap<string, Drawn>
  readonly columnsOf: (relation: Relation) => readonly string[]
  /** Names of a key or an index, with the columns of relations for these. */
  readonly expand: (collection: Drawn, names: readonly string[]) => readonly string[]
}

/** Adds to each collection the columns that its relations bring along, once the keys that they refer to are known. */
function withColumns(drawn: ReadonlyMap<string, Drawn>): Model {
  const named = new Map<Relation, readonly string[]>()
  const targetOf = (relation: Relation) => {
    const target = drawn.get(relation.to)
    if (target === undefined) throw new TypeError(`${relation.name} leads to ${relation.to}, which is not in the file`)
    return target
  }
  const keyOf = (collection: Drawn) => expand(collection, collection.text.key ?? ['id'])
  const referencedBy = (relation: Relation) => relation.text.references ?? keyOf(targetOf(relation))
  const pending = new Set<Relation>()
  const columnsOf = (relation: Relation): readonly string[] => {
    const known = named.get(relation)
    if (known !== undefined) return known
    if (pending.has(relation)) throw new TypeError(`${relation.name} leads to a key that it is itself a part of`)
    pending.add(relation)
    const found =
      relation.text.by ??
      referencedBy(relation).map((field) => `${relation.name}${field.charAt(0).toUpperCase()}${field.slice(1)}`)
    named.set(relation, found)
    return found
  }
  const expand = (collection: Drawn, names: readonly string[]) =>
    names.flatMap((name) => {
      const relation = collection.relations.get(name)
      return relation === undefined ? [name] : columnsOf(relation)
    })
  const columnAt = (collection: Drawn, name: string): Column => {
    const known = collection.columns.get(name)
    if (known !== undefined) return known
    const relation = [...collection.relations.values()].find((one) => columnsOf(one).includes(name))
    if (relation === undefined) throw new TypeError(`${collection.name} has no field ${name}`)
    const referenced = referencedBy(relation)[columnsOf(relation).indexOf(name)] ?? ''
    const { type } = columnAt(targetOf(relation), referenced)
    const { isNullable } = relation
    const column = { name, type, isList: false, isNullable, values: [], isFilled: false, isReadOnly: false }
    collection.columns.set(name, column)
    return column
  }
  for (const collection of drawn.values()) {
    for (const relation of collection.relations.values()) {
      for (const name of columnsOf(relation)) columnAt(collection, name)
    }
  }
  return { drawn, columnsOf, expand }
}

function describe(collection: Drawn, model: Model): Described {
  const { name, text, columns, relations } = collection
  const key = model.expand(collection, text.key ?? ['id'])
  const isWritten = text.readOnly !== true
  const writable = [...columns.values()].filter(({ isReadOnly }) => !isReadOnly)
  const incoming = leadingTo(collection, model)
  return {
    name,
    fields: [...columns.values()],
    key,
    isAddressed: key.length > 0,
    created:
      isWritten && name !== FILES
        ? new Map(writable.map((field) => [field.name, field.isNullable || field.isFilled]))
        : undefined,
    changed: isWritten ? new Set(writable.map((field) => field.name)) : undefined,
    one: [
      ...[...relations.values()].map((relation) => ({
        name: relation.name,
        to: relation.to,
        by: model.columnsOf(relation),
        mayMiss: relation.isNullable || !isKept(relation),
      })),
      ...incoming.filter(({ isUnique }) => isUnique).map(({ name: opposite, from }) => backward(opposite, from)),
    ],
    many: [
      ...incoming.filter(({ isUnique }) => !isUnique).map(({ name: opposite, from }) => [opposite, from] as const),
      ...collection.many,
    ],
    unique: uniqueOf(collection, key, model),
  }

  /** Whether a database keeps it: across sources and with views nothing does. */
  function isKept(relation: Relation): boolean {
    return relation.text.constraint !== false && isOfOneSource(relation)
  }
  function isOfOneSource({ to }: Relation): boolean {
    return (model.drawn.get(to)?.text.source ?? '_system') === (text.source ?? '_system')
  }
}

const backward = (name: string, to: string): DescribedRelation => ({ name, to, by: [], mayMiss: true })

/** The other sides of the relations that lead to a collection. */
function leadingTo({ name }: Drawn, { drawn }: Model) {
  return [...drawn.values()].flatMap((from) =>
    [...from.relations.values()]
      .filter(({ to }) => to === name)
      .map(({ text }) => ({ name: text.opposite ?? from.name, from: from.name, isUnique: text.unique === true })),
  )
}

function uniqueOf(
  collection: Drawn,
  key: readonly string[],
  { expand, columnsOf }: Model,
): readonly (readonly string[])[] {
  const listed = (collection.text.indexes ?? [])
    .map((index) => (typeof index === 'string' ? index : index.on))
    .filter((text) => text.startsWith('unique '))
    .map((text) => expand(collection, text.slice('unique '.length).split(/, ?/)))
  const covering = [key, ...listed].filter((columns) => columns.length > 0)
  const related = [...collection.relations.values()]
    .filter(({ text }) => text.unique === true && text.index !== false)
    .map(columnsOf)
    .filter((columns) => !covering.some((own) => own.every((name) => columns.includes(name))))
  return [...listed, ...related]
}
