/** Writes at random, nested ones among them, whose bodies are well formed: what is refused is refused for its rights. */
import fc, { type Arbitrary } from 'fast-check'
import { anyFilter, type Request, requestOf, type Tree } from '../../property/support/request.ts'
import type { Row } from '../../property/support/rows.ts'
import type { Shop } from '../../property/support/shop.ts'
import { anyValue, links, membersOf, type Name, names, shop, stockOf } from './library.ts'

export type Write = { readonly collection: Name; readonly request: Pick<Request, 'filter' | 'fields'> } & (
  | { readonly kind: 'create'; readonly items: readonly Row[] }
  | { readonly kind: 'updateOne'; readonly key: number; readonly body: Row }
  | { readonly kind: 'updateMany'; readonly body: Row }
  | { readonly kind: 'deleteOne'; readonly key: number }
  | { readonly kind: 'deleteMany' }
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
    const kinds: { action: 'create' | 'update' | 'delete'; weight: number; arbitrary: Arbitrary<Write> }[] = [
      {
        action: 'create',
        weight: 4,
        arbitrary: fc.tuple(unfiltered, items).map(([base, sent]) => ({ ...base, kind: 'create', items: sent })),
      },
      {
        action: 'update',
        weight: 6,
        arbitrary: fc
          .tuple(onOne, key, change)
          .map(([base, one, body]) => ({ ...base, kind: 'updateOne', key: one, body })),
      },
      {
        action: 'update',
        weight: 2,
        arbitrary: fc
          .tuple(of(filter), anyChange(scope, collection, 'many'))
          .map(([base, body]) => ({ ...base, kind: 'updateMany', body })),
      },
      {
        action: 'delete',
        weight: 2,
        arbitrary: fc.tuple(onOne, key).map(([base, one]) => ({ ...base, kind: 'deleteOne', key: one })),
      },
      { action: 'delete', weight: 1, arbitrary: of(filter).map((base) => ({ ...base, kind: 'deleteMany' })) },
    ]
    const allowed = kinds.filter(({ action }) => scope.may(collection, action))
    return fc.oneof(...(allowed.length === 0 ? kinds : allowed))
  })
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
  return filter.map((one): Tree => requestOf(one, 0, 'value'))
}

type Place = {
  readonly depth: number
  /** The link by which the item is nested: its column and field are the parent's business. */
  readonly link?: (typeof links)[number]
}

const required: ReadonlySet<string> = new Set(['posts.status', 'notes.kind', 'badges.label'])

function anyItem(scope: Scope, collection: Name, { depth, link }: Place): Arbitrary<Row> {
  const allowed = scope.members(collection, 'create')
  const own = links.find(({ child }) => child === collection)
  const columns = [...(shop.fields.get(collection)?.keys() ?? [])].filter(
    (name) => name !== 'id' && name !== own?.column && !required.has(`${collection}.${name}`) && allowed.has(name),
  )
  const needed = [...required]
    .filter((path) => path.startsWith(`${collection}.`))
    .map((path) => path.split('.')[1] ?? '')
  const values = fc.record({
    id: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...scope.newIds) },
      { weight: 1, arbitrary: anyKey(scope, collection) },
    ),
    ...Object.fromEntries(needed.map((name) => [name, anyValue(collection, name)])),
  })
  const more = fc.record(Object.fromEntries(columns.map((name) => [name, anyValue(collection, name)])), {
    requiredKeys: [],
  })
  const parts: Arbitrary<Row>[] = [values as Arbitrary<Row>, more as Arbitrary<Row>]
  if (own !== undefined && link?.child !== collection) parts.push(anyForward(scope, own, depth))
  for (const child of links.filter(({ parent }) => parent === collection)) {
    if (depth === 0 || link?.parent === collection || !allowed.has(child.opposite)) continue
    const operation = fc.oneof(
      anyItem(scope, child.child, { depth: 0, link: child }).map((data) => ({ _create: { data: [data] } })),
      anyKey(scope, child.child).map((id) => ({ _connect: { keys: [{ id }] } })),
    )
    parts.push(
      fc
        .option(fc.array(operation, { maxLength: 2 }), { nil: undefined })
        .map((some) => (some === undefined ? {} : { [child.opposite]: some })),
    )
  }
  return fc.tuple(...parts).map((all): Row => Object.assign({}, ...all))
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
  const own = links.find(({ child }) => child === collection)
  const columns = [...(shop.fields.get(collection)?.keys() ?? [])].filter((name) => allowed.has(name) && name !== 'id')
  const values = fc
    .subarray(columns, { maxLength: Math.min(2, columns.length) })
    .chain(
      (chosen) =>
        fc.record(Object.fromEntries(chosen.map((name) => [name, anyValue(collection, name)]))) as Arbitrary<Row>,
    )
  if (how === 'many' || depth === 0) return values
  const isLeaf = !links.some(({ parent }) => parent === collection)
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
  return fc.tuple(...parts).map((all): Row => {
    const body: Row = Object.assign({}, ...all)
    if (own === undefined || !(own.name in body)) return body
    // A reference is given by its column or through the relation, never by both.
    const { [own.column]: _, ...rest } = body
    return rest
  })
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
    ['update', keys.map((ids) => ({ _connect: { keys: ids.map((id) => ({ id })) } }))],
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
