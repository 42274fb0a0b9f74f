/**
 * The tables of the property tests: a column of every type that a database stores, and relations of every kind. The
 * oracle reads this description by itself, so that it knows nothing of how the core resolves a model.
 */
import type { TypeName } from '../../../src/core/model/field-type.ts'
import type { Collection, IndexRecord, Model } from '../../../src/core/model/model.ts'
import { buildModel } from '../../../src/core/model/model.ts'
import { build } from '../../support/data/build.ts'

/** `decimal(12,4)?`, `string[]`: see test/support/data/build.ts. */
type FieldText = string

export type Shop = Drawing & {
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, TypeText>>
  readonly relations: ReadonlyMap<string, ReadonlyMap<string, Relation>>
}

export type Drawing = {
  readonly collections: Readonly<Record<string, Readonly<Record<string, FieldText>>>>
  readonly links: readonly Link[]
}

/** `columns` of `child` hold the first fields of `parent`. */
type Link = {
  readonly child: string
  readonly name: string
  readonly columns: readonly string[]
  readonly parent: string
  readonly opposite: string
  readonly isOneToOne?: true
}

export type TypeText = {
  readonly name: TypeName
  readonly sizes: readonly number[]
  readonly isList: boolean
  readonly isNullable: boolean
}

export type Relation = {
  readonly target: string
  /** Pairs of own and target's field. */
  readonly pairs: readonly (readonly [string, string])[]
  readonly isList: boolean
  readonly isNullable: boolean
}

/** Every type once nullable and once not; where the database has lists, these too. */
export function makeShop(types: readonly FieldText[], lists: readonly FieldText[]): Shop {
  return shopOf(draw(types, lists))
}

export function shopOf(drawing: Drawing): Shop {
  const names = Object.keys(drawing.collections)
  const fields = new Map(names.map((name) => [name, readFields(drawing.collections[name] ?? {})]))
  return { ...drawing, fields, relations: new Map(names.map((name) => [name, readRelations(drawing, fields, name)])) }
}

function draw(types: readonly FieldText[], lists: readonly FieldText[]): Drawing {
  return {
    collections: {
      regions: { id: 'uuid', name: 'string' },
      owners: { id: 'int64', name: 'string(12)?', regionId: 'uuid?', since: 'date?' },
      categories: { id: 'int32', label: 'string' },
      samples: {
        id: 'int32',
        categoryId: 'int32',
        ownerId: 'int64?',
        parentId: 'int32?',
        ...columns('', types),
      },
      profiles: { id: 'int32', sampleId: 'int32', text: 'string?', score: 'float64' },
      prices: { sku: 'string(20)', currency: 'string(3)', amount: 'decimal(12,4)', until: 'dateTime?' },
      stocks: { id: 'int64', sampleId: 'int32', sku: 'string(20)?', currency: 'string(3)?', count: 'int32?' },
      words: { id: 'string(12)', rank: 'int32?' },
      members: { ownerId: 'int64', code: 'string(8)', note: 'string?' },
      visits: { ownerId: 'int64?', day: 'date?', score: 'int32?', note: 'string(5)' },
      ...(lists.length > 0 && { lists: { id: 'int32', sampleId: 'int32?', ...columns('list', lists) } }),
    },
    links: [
      { child: 'owners', name: 'region', columns: ['regionId'], parent: 'regions', opposite: 'owners' },
      { child: 'samples', name: 'category', columns: ['categoryId'], parent: 'categories', opposite: 'samples' },
      { child: 'samples', name: 'owner', columns: ['ownerId'], parent: 'owners', opposite: 'samples' },
      { child: 'samples', name: 'parent', columns: ['parentId'], parent: 'samples', opposite: 'children' },
      {
        child: 'profiles',
        name: 'sample',
        columns: ['sampleId'],
        parent: 'samples',
        opposite: 'profile',
        isOneToOne: true,
      },
      { child: 'stocks', name: 'sample', columns: ['sampleId'], parent: 'samples', opposite: 'stocks' },
      { child: 'stocks', name: 'price', columns: ['sku', 'currency'], parent: 'prices', opposite: 'stocks' },
      { child: 'members', name: 'owner', columns: ['ownerId'], parent: 'owners', opposite: 'members' },
      { child: 'visits', name: 'owner', columns: ['ownerId'], parent: 'owners', opposite: 'visits' },
      ...(lists.length > 0 ? [listsLink] : []),
    ],
  }
}

const listsLink: Link = { child: 'lists', name: 'sample', columns: ['sampleId'], parent: 'samples', opposite: 'lists' }

function columns(prefix: string, types: readonly FieldText[]): Record<string, FieldText> {
  const entries = types.flatMap((type) => {
    const name = `${prefix}${type.replace(/\W+/g, '_').replace(/_$/, '')}`
    return [
      [`${name}Some`, `${type}?`],
      [`${name}All`, type],
    ]
  })
  return Object.fromEntries(entries)
}

/** Collections whose key is not their first field alone; `visits` has no key at all. */
const keys: Readonly<Record<string, { readonly kind: 'primary' | 'unique'; readonly fields: readonly string[] }>> = {
  prices: { kind: 'primary', fields: ['sku', 'currency'] },
  members: { kind: 'unique', fields: ['ownerId', 'code'] },
  visits: { kind: 'primary', fields: [] },
}

/** What tells rows apart, for the order of a list: a key, or else every field that can be sorted by. */
export function keyOf(shop: Shop, collection: string): readonly string[] {
  const fields = fieldsOf(shop, collection)
  const key = keys[collection]?.fields ?? fields.slice(0, 1).map(([name]) => name)
  return key.length > 0 ? key : fields.map(([name]) => name)
}

export function fieldsOf(shop: Shop, collection: string): readonly (readonly [string, TypeText])[] {
  return [...(shop.fields.get(collection) ?? [])]
}

export function fieldOf(shop: Shop, collection: string, name: string): TypeText | undefined {
  return shop.fields.get(collection)?.get(name)
}

export function relationsOf(shop: Shop, collection: string): ReadonlyMap<string, Relation> {
  return shop.relations.get(collection) ?? new Map()
}

function readFields(texts: Readonly<Record<string, FieldText>>): ReadonlyMap<string, TypeText> {
  return new Map(Object.entries(texts).map(([name, text]) => [name, readType(text)]))
}

function readType(text: FieldText): TypeText {
  const [name, ...sizes] = text.replace(/[?[\]]/g, '').split(/[(),]/)
  return {
    name: name as TypeName,
    sizes: sizes.filter((size) => size !== '').map(Number),
    isList: text.includes('[]'),
    isNullable: text.endsWith('?'),
  }
}

function readRelations(drawing: Drawing, fields: Shop['fields'], collection: string): ReadonlyMap<string, Relation> {
  const relations = new Map<string, Relation>()
  for (const { child, name, columns, parent, opposite, isOneToOne } of drawing.links) {
    const referenced = Object.keys(drawing.collections[parent] ?? {})
    const pairs = columns.map((column, index) => [column, referenced[index] ?? ''] as const)
    if (child === collection) {
      const isNullable = columns.some((column) => fields.get(child)?.get(column)?.isNullable)
      relations.set(name, { target: parent, pairs, isList: false, isNullable })
    }
    if (parent === collection) {
      const back = pairs.map(([own, other]) => [other, own] as const)
      relations.set(opposite, { target: child, pairs: back, isList: isOneToOne === undefined, isNullable: true })
    }
  }
  return relations
}

/** The same for the core. */
export function modelOf(shop: Shop): Model {
  const { records } = build.model(
    shop.collections,
    shop.links.map(
      ({ child, name, columns, parent, opposite, isOneToOne }) =>
        `${child}.${name}(${columns}) -> ${parent}.${opposite}${isOneToOne ? '?' : ''}`,
    ),
  )
  const indexes = records.indexes.map((index): IndexRecord => {
    const key = keys[index.collectionId]
    if (key === undefined) return index
    return { ...index, kind: key.kind, fieldIds: key.fields.map((name) => `${index.collectionId}.${name}`) }
  })
  return buildModel(1, { ...records, indexes: indexes.filter(({ fieldIds }) => fieldIds.length > 0) })
}

export function collectionOf(model: Model, name: string): Collection {
  const collection = model.byName.get(name)
  if (collection === undefined) throw new Error(`there is no collection ${name}`)
  return collection
}
