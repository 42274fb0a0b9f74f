/** Writes at random, nested ones among them, whose bodies are well formed: what is refused is refused for its rights. */
import fc, { type Arbitrary } from 'fast-check'
import { anyFilter, type Request, requestOf, type Tree } from '../../property/support/request.ts'
import type { Row } from '../../property/support/rows.ts'
import type { Shop } from '../../property/support/shop.ts'
import {
  anyValue,
  identified,
  junction,
  keyOf,
  links,
  membersOf,
  type Name,
  names,
  shop,
  stockOf,
  type Way,
  ways,
} from './library.ts'

export type Write = { readonly collection: Name; readonly request: Pick<Request, 'filter' | 'fields'> } & (
  | { readonly kind: 'create'; readonly items: readonly Row[] }
  /** Told by their keys. */
  | { readonly kind: 'upsert'; readonly items: readonly Row[]; readonly do: 'update' | 'ignore' }
  | { readonly kind: 'updateOne'; readonly key: number; readonly body: Row }
  | { readonly kind: 'updateMany'; readonly body: Row; readonly max?: number }
  | { readonly kind: 'updateEach'; readonly changes: readonly { readonly key: number; readonly body: Row }[] }
  | { readonly kind: 'deleteOne'; readonly key: number }
  | { readonly kind: 'deleteMany'; readonly max?: number }
)

/** What a writer may use: members by action, and the shop that they read. */
export type Scope = {
  readonly readable: Shop
  readonly members: (collection: Name, action: 'create' | 'update') => ReadonlySet<string>
  /** Keys of new items. */
  readonly newIds: readonly number[]
  /** Keys of items to write, those among them that the writer reads. */
  readonly keys: (collection: Name) => readonly number[]
  readonly may: (collection: Name, action: 'create' | 'update' | 'delete') => boolean
}

export const everything: Scope = {
  readable: shop,
  members: (collection) => new Set(membersOf(collection)),
  newIds: [5, 6, 7, 8, 9, 10],
  keys: () => [1, 2, 3, 4, 5],
  may: () => true,
}

const actions = ['create', 'update', 'delete'] as const

export function anyWrite(scope: Scope): Arbitrary<Write> {
  const own = names.filter((name) => actions.some((action) => scope.may(name, action)))
  return fc.constantFrom(...(own.length === 0 ? names : own)).chain((collection): Arbitrary<Write> => {
    const key = anyKey(scope, collection)
    const fields = fc.option(anyAnswerFields(scope, collection), { nil: undefined })
    const filter = anyOwnFilter(scope, collection)
    const of = (one: Arbitrary<Tree | undefined>) =>
      fc.tuple(one, fields).map(([given, asked]) => ({
        collection,
        request: { ...(given !== undefined && { filter: given }), ...(asked !== undefined && { fields: asked }) },
      }))
    const unfiltered = of(fc.constant(undefined))
    const onOne = of(fc.option(filter, { nil: undefined, freq: 4 }))
    const items = fc.array(anyItem(scope, collection, { depth: 2 }), { minLength: 1, maxLength: 2 })
    const change = anyChange(scope, collection, 'one')
    const bound = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }).map((max) => (max ? { max } : {}))
    const kinds: {
      action: 'create' | 'update' | 'delete'
      isByKey?: true
      weight: number
      arbitrary: Arbitrary<Write>
    }[] = [
      {
        action: 'create',
        weight: 4,
        arbitrary: fc.tuple(unfiltered, items).map(([base, sent]) => ({ ...base, kind: 'create', items: sent })),
      },
      {
        action: 'create',
        weight: 3,
        arbitrary: fc
          .tuple(unfiltered, anyUpsertItems(scope, collection), fc.constantFrom('update', 'ignore'))
          .map(([base, sent, action]) => ({ ...base, kind: 'upsert', items: sent, do: action })),
      },
      {
        action: 'update',
        isByKey: true,
        weight: 6,
        arbitrary: fc
          .tuple(onOne, key, change)
          .map(([base, one, body]) => ({ ...base, kind: 'updateOne', key: one, body })),
      },
      {
        action: 'update',
        isByKey: true,
        weight: 3,
        arbitrary: fc
          .tuple(unfiltered, fc.uniqueArray(key, { minLength: 1, maxLength: 2 }), fc.array(change, { minLength: 2 }))
          .map(([base, keys, bodies]) => {
            const changes = keys.map((one, index) => ({ key: one, body: withoutKey(bodies[index] ?? {}) }))
            return { ...base, kind: 'updateEach', changes }
          }),
      },
      {
        action: 'update',
        weight: 2,
        arbitrary: fc
          .tuple(of(filter), anyChange(scope, collection, 'many'), bound)
          .map(([base, body, max]) => ({ ...base, kind: 'updateMany', body, ...max })),
      },
      {
        action: 'delete',
        isByKey: true,
        weight: 2,
        arbitrary: fc.tuple(onOne, key).map(([base, one]) => ({ ...base, kind: 'deleteOne', key: one })),
      },
      {
        action: 'delete',
        weight: 1,
        arbitrary: fc.tuple(of(filter), bound).map(([base, max]) => ({ ...base, kind: 'deleteMany', ...max })),
      },
    ]
    // Links have no key of one number.
    const possible = kinds.filter(({ isByKey }) => !isByKey || collection !== junction.name)
    const allowed = possible.filter(({ action }) => scope.may(collection, action))
    return fc.oneof(...(allowed.length === 0 ? possible : allowed))
  })
}

/** Items without relations, of which some are there already. */
function anyUpsertItems(scope: Scope, collection: Name): Arbitrary<readonly Row[]> {
  const references = links.filter(({ child }) => child === collection)
  const own = [...(shop.fields.get(collection)?.keys() ?? [])]
  const item = fc
    .tuple(
      anyItem(scope, collection, { depth: 0 }),
      anyKey(scope, collection),
      fc.boolean(),
      anyReferences(scope, references),
    )
    .map(([row, key, isThere, referred]): Row => {
      const named = collection === junction.name ? referred : isThere ? { id: key } : {}
      const columns = Object.entries({ ...row, ...named }).filter(([name]) => own.includes(name))
      const missing = Object.entries(referred).filter(([name]) => isRequiredReference(collection, name))
      return { ...Object.fromEntries(missing), ...Object.fromEntries(columns) }
    })
  const selector = (row: Row) => identified(collection, row).id
  return fc.uniqueArray(item, { minLength: 1, maxLength: 2, selector })
}

function anyReferences(scope: Scope, references: typeof links): Arbitrary<Row> {
  return fc.record(Object.fromEntries(references.map(({ column, parent }) => [column, anyKey(scope, parent)])))
}

function isRequiredReference(collection: Name, column: string): boolean {
  return shop.fields.get(collection)?.get(column)?.isNullable === false
}

/** An item of a list names itself by its key, which it cannot change. */
function withoutKey({ id: _, ...rest }: Row): Row {
  return rest
}

function anyKey({ keys }: Scope, collection: Name): Arbitrary<number> {
  return fc.constantFrom(...keys(collection))
}

function anyAnswerFields({ readable }: Scope, collection: Name): Arbitrary<readonly string[]> {
  const own = [...(readable.fields.get(collection)?.keys() ?? [])]
  const related = [...(readable.relations.get(collection) ?? [])].flatMap(([name, { target }]) =>
    [...(readable.fields.get(target)?.keys() ?? [])].map((field) => `${name}.${field}`),
  )
  return fc
    .array(fc.constantFrom('*', ...own, ...related), { minLength: 1, maxLength: 4 })
    .map((paths) => [...new Set(paths)])
}

/** A filter over what the writer reads; of one condition at least, as a write of many needs one. */
function anyOwnFilter({ readable }: Scope, collection: Name): Arbitrary<Tree> {
  const known = readable.fields.has(collection) ? readable : shop
  const filter = anyFilter({ ...stockOf(known), form: 'text', max: 100 }, collection, 1)
  return filter.map((one): Tree => requestOf(one, 0, 'value')).filter((one) => !EMPTY.test(JSON.stringify(one)))
}

/** In a filter of what may be every item, which no write of many takes. */
const EMPTY = /"_(?!n?eq)\w+":(?:""|\[\]|\{\})/

type Place = {
  readonly depth: number
  /** The link by which the item is nested: its column and field are the parent's business. */
  readonly link?: (typeof links)[number]
}

const required: ReadonlySet<string> = new Set(['posts.status', 'notes.kind', 'badges.label'])

function anyItem(scope: Scope, collection: Name, { depth, link }: Place): Arbitrary<Row> {
  const allowed = scope.members(collection, 'create')
  const own = links.filter(({ child }) => child === collection)
  const columns = [...(shop.fields.get(collection)?.keys() ?? [])].filter(
    (name) =>
      name !== 'id' &&
      !own.some(({ column }) => name === column) &&
      !required.has(`${collection}.${name}`) &&
      allowed.has(name),
  )
  const needed = [...required]
    .filter((path) => path.startsWith(`${collection}.`))
    .map((path) => path.split('.')[1] ?? '')
  const id = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...scope.newIds) },
    { weight: 1, arbitrary: anyKey(scope, collection) },
  )
  const values = fc.record({
    ...(collection !== junction.name && { id }),
    ...Object.fromEntries(needed.map((name) => [name, anyValue(collection, name)])),
  })
  const more = fc.record(Object.fromEntries(columns.map((name) => [name, anyValue(collection, name)])), {
    requiredKeys: [],
  })
  const parts: Arbitrary<Row>[] = [values as Arbitrary<Row>, more as Arbitrary<Row>]
  for (const one of own) if (one !== link) parts.push(anyForward(scope, one, depth))
  for (const child of links.filter(({ parent }) => parent === collection)) {
    if (depth === 0 || link?.parent === collection || !allowed.has(child.opposite)) continue
    const operation = fc.oneof(
      anyItem(scope, child.child, { depth: 0, link: child }).map((data) => ({ _create: { data: [data] } })),
      anyKey(scope, child.child).map((id) => ({ _connect: { keys: [keyOf(child.child, id)] } })),
    )
    parts.push(
      fc
        .option(fc.array(operation, { maxLength: 2 }), { nil: undefined })
        .map((some) => (some === undefined ? {} : { [child.opposite]: some })),
    )
  }
  for (const way of ways.filter(({ of }) => of === collection)) {
    if (depth === 0 || !allowed.has(way.name)) continue
    parts.push(maybe(way.name, fc.array(anyLinking(scope, way), { maxLength: 2 })))
  }
  return fc.tuple(...parts).map((all): Row => Object.assign({}, ...all))
}

/** What links rows through a many-to-many field. */
function anyLinking(scope: Scope, { far }: Way): Arbitrary<Row> {
  const keys = fc.array(anyKey(scope, far.parent), { minLength: 1, maxLength: 2 })
  return fc.oneof(
    keys.map((ids) => ({ _connect: { keys: ids.map((id) => ({ id })) } })),
    anyItem(scope, far.parent, { depth: 0, link: far }).map((data) => ({ _create: { data: [data] } })),
  )
}

function anyOperationThrough(scope: Scope, way: Way): Arbitrary<Row> {
  const filter = fc.option(anyOwnFilter(scope, way.far.parent), { nil: undefined, freq: 2 })
  return permitted(scope, way.far.child, [
    ['create', anyLinking(scope, way)],
    ['delete', filter.map((one) => ({ _disconnect: filtered(one) }))],
  ])
}

/** The reference of a new item: by its column, by the relation, or none where it may be null. */
function anyForward(scope: Scope, link: (typeof links)[number], depth: number): Arbitrary<Row> {
  const allowed = scope.members(link.child, 'create')
  const isRequired = shop.fields.get(link.child)?.get(link.column)?.isNullable === false
  const created = anyItem(scope, link.parent, { depth: 0, link })
  const options: Arbitrary<Row>[] = []
  if (allowed.has(link.name)) {
    options.push(anyKey(scope, link.parent).map((id) => ({ [link.name]: { _connect: { key: { id } } } })))
    if (depth > 0) options.push(created.map((data) => ({ [link.name]: { _create: { data } } })))
  }
  if (allowed.has(link.column) || (isRequired && options.length === 0))
    options.push(anyKey(scope, link.parent).map((id) => ({ [link.column]: id })))
  if (!isRequired) options.push(fc.constant({}))
  return fc.oneof(...options)
}

function anyChange(scope: Scope, collection: Name, how: 'one' | 'many', depth = 1): Arbitrary<Row> {
  const allowed = scope.members(collection, 'update')
  const own = collection === junction.name ? undefined : links.find(({ child }) => child === collection)
  const isKey = (name: string) => name === 'id' || (collection === junction.name && name !== 'mark')
  const columns = [...(shop.fields.get(collection)?.keys() ?? [])].filter((name) => allowed.has(name) && !isKey(name))
  const values = fc
    .subarray(columns, { maxLength: Math.min(2, columns.length) })
    .chain(
      (chosen) =>
        fc.record(Object.fromEntries(chosen.map((name) => [name, anyNewValue(collection, name)]))) as Arbitrary<Row>,
    )
  if (how === 'many' || depth === 0) return values
  const isLeaf = collection !== junction.name && !links.some(({ parent }) => parent === collection)
  const moved =
    isLeaf && allowed.has('id')
      ? fc.option(fc.constantFrom(...scope.newIds), { nil: undefined, freq: 8 })
      : fc.constant(undefined)
  const parts: Arbitrary<Row>[] = [values, moved.map((id) => (id === undefined ? {} : { id }))]
  if (own !== undefined && allowed.has(own.name)) {
    const operations = fc.array(anyForwardOperation(scope, own, depth), { minLength: 1, maxLength: 2 })
    parts.push(maybe(own.name, operations))
  }
  for (const child of links.filter(({ parent }) => parent === collection)) {
    if (allowed.has(child.opposite))
      parts.push(maybe(child.opposite, fc.array(anyBackwardOperation(scope, child), { minLength: 1, maxLength: 2 })))
  }
  for (const way of ways.filter(({ of }) => of === collection)) {
    if (allowed.has(way.name))
      parts.push(maybe(way.name, fc.array(anyOperationThrough(scope, way), { minLength: 1, maxLength: 2 })))
  }
  return fc.tuple(...parts).map((all): Row => {
    const body: Row = Object.assign({}, ...all)
    if (own === undefined || !(own.name in body)) return body
    // A reference is given by its column or through the relation, never by both.
    const { [own.column]: _, ...rest } = body
    return rest
  })
}

/** A value, or what becomes of the one that is there. */
function anyNewValue(collection: Name, name: string): Arbitrary<unknown> {
  const value = anyValue(collection, name)
  if (name !== 'score') return value
  return fc.oneof(
    value,
    fc.constantFrom(1, -1, 2147483646, '-2147483648').map((amount) => ({ _increment: amount })),
  )
}

function maybe(name: string, value: Arbitrary<unknown>): Arbitrary<Row> {
  return fc.option(value, { nil: undefined, freq: 2 }).map((one) => (one === undefined ? {} : { [name]: one }))
}

function anyForwardOperation(scope: Scope, link: (typeof links)[number], depth: number): Arbitrary<Row> {
  const isNullable = shop.fields.get(link.child)?.get(link.column)?.isNullable === true
  const filter = fc.option(anyOwnFilter(scope, link.parent), { nil: undefined, freq: 2 })
  return permitted(scope, link.parent, [
    [undefined, anyKey(scope, link.parent).map((id) => ({ _connect: { key: { id } } }))],
    ['create', anyItem(scope, link.parent, { depth: 0, link }).map((data) => ({ _create: { data } }))],
    [
      'update',
      fc
        .tuple(anyChange(scope, link.parent, 'one', depth - 1), filter)
        .map(([data, one]) => ({ _update: { data, ...filtered(one) } })),
    ],
    ...(isNullable ? [[undefined, fc.constant({ _disconnect: {} })] as const] : []),
    ...(isNullable ? [['delete', filter.map((one) => ({ _delete: filtered(one) }))] as const] : []),
  ])
}

function anyBackwardOperation(scope: Scope, link: (typeof links)[number]): Arbitrary<Row> {
  const isNullable = shop.fields.get(link.child)?.get(link.column)?.isNullable === true
  const filter = fc.option(anyOwnFilter(scope, link.child), { nil: undefined, freq: 2 })
  const keys = fc.array(anyKey(scope, link.child), { minLength: 1, maxLength: 2 })
  return permitted(scope, link.child, [
    ['update', keys.map((ids) => ({ _connect: { keys: ids.map((id) => keyOf(link.child, id)) } }))],
    ['create', anyItem(scope, link.child, { depth: 0, link }).map((data) => ({ _create: { data: [data] } }))],
    [
      'update',
      fc
        .tuple(anyChange(scope, link.child, 'many'), filter)
        .map(([data, one]) => ({ _update: { data, ...filtered(one) } })),
    ],
    ...(isNullable ? [['update', filter.map((one) => ({ _disconnect: filtered(one) }))] as const] : []),
    ['delete', filter.map((one) => ({ _delete: filtered(one) }))],
  ])
}

type Operations = readonly (readonly ['create' | 'update' | 'delete' | undefined, Arbitrary<Row>])[]

/** Those that need what the writer may do with the far rows, or all where that is none of them. */
function permitted({ may }: Scope, target: Name, operations: Operations): Arbitrary<Row> {
  const allowed = operations.filter(([action]) => action === undefined || may(target, action))
  return fc.oneof(...(allowed.length === 0 ? operations : allowed).map(([, arbitrary]) => arbitrary))
}

function filtered(filter: Tree | undefined): Row {
  return filter === undefined ? {} : { filter }
}
