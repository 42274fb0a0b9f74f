/**
 * What a list must answer, worked out over rows in memory as naively as can be: the rules (docs/contract.md#items) on
 * filters, nulls, order, pages and nested items, without a line of the core.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Operator } from '../../../src/core/model/vocabulary.ts'
import { hasKey, jsonContains, listHolds, pathHolds } from './inside.ts'
import type { Arguments, Request, Sort, Tree } from './request.ts'
import type { Row, Rows } from './rows.ts'
import { fieldOf, fieldsOf, keyOf, type Relation, relationsOf, type Shop, type TypeText } from './shop.ts'

export type Answer = {
  readonly data: readonly Row[]
  readonly total?: number
  readonly cursors?: { readonly next: string | null; readonly previous: string | null }
}

export type World = {
  readonly shop: Shop
  readonly rows: Rows
  readonly related: (relation: Relation, row: Row) => readonly Row[]
  /** What is known of a filter's truth; drafts of requests do not change. */
  readonly truths: WeakMap<Tree, Map<Row, Truth>>
}
type Limits = { readonly default: number; readonly max: number }

export function makeWorld(shop: Shop, rows: Rows): World {
  const found = new Map<Relation, Map<string, Row[]>>()
  const groups = (relation: Relation) => {
    const known = found.get(relation) ?? grouped(relation, rows[relation.target] ?? [])
    found.set(relation, known)
    return known
  }
  return {
    shop,
    rows,
    truths: new WeakMap(),
    related(relation, row) {
      const values = relation.pairs.map(([own]) => row[own])
      // A null refers to nothing, to another null neither.
      return values.includes(null) ? [] : (groups(relation).get(JSON.stringify(values)) ?? [])
    },
  }
}

function grouped({ pairs }: Relation, rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = JSON.stringify(pairs.map(([, other]) => row[other]))
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return groups
}

export function expectedAnswer(world: World, collection: string, request: Request, limits: Limits): Answer {
  const matching = (world.rows[collection] ?? []).filter(
    (row) => holds(world, collection, request.filter ?? {}, row) === true,
  )
  const { sort, limit, offset } = request
  const page = paged(world, collection, matching, {
    sort: sort ?? [],
    limit: limit ?? limits.default,
    offset: offset ?? 0,
    max: limits.max,
  })
  const asked = { paths: request.fields ?? ['*'], deep: request.deep ?? {}, max: limits.max }
  return {
    data: page.map(shaper(world, collection, asked)),
    ...(request.meta === 'totalCount' && { total: matching.length }),
  }
}

/** Which of the decimals stands for a single-precision number is the database's own choice: all become its double. */
export function singled(shop: Shop, collection: string, item: Row): Row {
  const relations = relationsOf(shop, collection)
  const entries = Object.entries(item).map(([name, value]) => {
    const relation = relations.get(name)
    if (value === null) return [name, value]
    if (relation === undefined)
      return [name, fieldOf(shop, collection, name)?.name === 'float32' ? single(value) : value]
    const one = (below: unknown) => singled(shop, relation.target, below as Row)
    return [name, relation.isList ? { data: (value as { data: unknown[] }).data.map(one) } : one(value)]
  })
  return Object.fromEntries(entries)
}

function single(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(single)
  return typeof value === 'number' ? Math.fround(value) : value
}

type Page = { readonly sort: Sort; readonly limit: number; readonly offset: number; readonly max: number }

function paged(world: World, collection: string, rows: readonly Row[], page: Page): readonly Row[] {
  const { shop } = world
  const asked = page.sort.flatMap((entry) => Object.entries(entry))
  const last = asked.findLast(([name], place) => asked.findIndex(([other]) => other === name) === place)
  const direction = last?.[1].direction ?? 'asc'
  const keys = keyOf(shop, collection).map((name): [string, Sort[number][string]] => [name, { direction }])
  const order = [...asked, ...keys].map(
    ([name, { direction = 'asc', nulls = direction === 'asc' ? 'last' : 'first' }]) => {
      const { type, value } = sorting(world, collection, name.split('.'))
      return (one: Row, other: Row) => ordered(type, value(one), value(other), { direction, nulls })
    },
  )
  const sorted = rows.toSorted((one, other) => {
    for (const compared of order) {
      const result = compared(one, other)
      if (result !== 0) return result
    }
    return 0
  })
  const limit = page.limit === 0 || page.limit === -1 ? page.max : page.limit
  return sorted.slice(page.offset, page.offset + limit)
}

/** What a path of to-one relations leads to; null where there is no related row. */
function sorting(
  world: World,
  collection: string,
  [name = '', ...path]: readonly string[],
): { readonly type: TypeText | undefined; readonly value: (row: Row) => unknown } {
  const relation = path.length === 0 ? undefined : relationsOf(world.shop, collection).get(name)
  if (relation === undefined) return { type: fieldOf(world.shop, collection, name), value: (row) => row[name] }
  const below = sorting(world, relation.target, path)
  const value = (row: Row) => {
    const [related] = world.related(relation, row)
    return related === undefined ? null : below.value(related)
  }
  return { type: below.type, value }
}

export function ordered(
  type: TypeText | undefined,
  one: unknown,
  other: unknown,
  { direction, nulls }: { direction: 'asc' | 'desc'; nulls: 'first' | 'last' },
): number {
  if (one === null && other === null) return 0
  if (one === null) return nulls === 'first' ? -1 : 1
  if (other === null) return nulls === 'first' ? 1 : -1
  const order = compare(type, one, other)
  return direction === 'asc' ? order : -order
}

type Asked = { readonly paths: readonly string[]; readonly deep: Tree; readonly max: number }

/** What makes an item of a row. A row that many others lead to is met again and again, and made once. */
function shaper(world: World, collection: string, { paths, deep, max }: Asked): (row: Row) => Row {
  const relations = relationsOf(world.shop, collection)
  const names = paths.flatMap((path) => {
    const [first = '', ...rest] = path.split('.')
    if (first === '*') return fieldsOf(world.shop, collection).map(([name]) => [name, undefined] as const)
    return [[first, rest.length === 0 ? undefined : rest.join('.')] as const]
  })
  const members = [...new Set(names.map(([name]) => name))].map((name) => {
    const relation = relations.get(name)
    if (relation === undefined) return [name, (row: Row) => row[name]] as const
    const below = names.filter(([other]) => other === name).map(([, path]) => path ?? '*')
    const items = nestedItems(world, relation, { paths: below, deep: (deep[name] ?? {}) as Tree, max })
    return [name, (row: Row) => items(world.related(relation, row))] as const
  })
  return once((row) => Object.fromEntries(members.map(([name, read]) => [name, read(row)])))
}

function nestedItems(world: World, { target, isList }: Relation, asked: Asked): (related: readonly Row[]) => unknown {
  const { _filter = {}, _sort = [], _limit, _offset = 0 } = asked.deep as Arguments
  const shaped = shaper(world, target, asked)
  return once((related) => {
    const matching = related.filter((row) => holds(world, target, _filter, row) === true)
    if (!isList) {
      const [only] = matching
      return only === undefined ? null : shaped(only)
    }
    const limit = _limit ?? Math.min(100, asked.max)
    const page = paged(world, target, matching, { sort: _sort, limit, offset: _offset, max: asked.max })
    return { data: page.map(shaped) }
  })
}

/** The same by object, each worked out once. */
function once<K extends object, V>(work: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    if (!known.has(key)) known.set(key, work(key))
    return known.get(key) as V
  }
}

/** Null is what SQL calls unknown. */
export type Truth = boolean | null

/** Of each row once, since many others may lead to it. */
function holds(world: World, collection: string, filter: Tree, row: Row): Truth {
  const known = world.truths.get(filter) ?? new Map<Row, Truth>()
  world.truths.set(filter, known)
  const truth = known.get(row)
  if (truth !== undefined) return truth
  const found = all(Object.entries(filter).map(([name, part]) => memberHolds(world, collection, name, part, row)))
  known.set(row, found)
  return found
}

function memberHolds(world: World, collection: string, name: string, part: unknown, row: Row): Truth {
  if (name === '_and') return all((part as Tree[]).map((one) => holds(world, collection, one, row)))
  if (name === '_or') return any((part as Tree[]).map((one) => holds(world, collection, one, row)))
  if (name === '_not') return negated(holds(world, collection, part as Tree, row))
  const relation = relationsOf(world.shop, collection).get(name)
  if (relation !== undefined) return relationHolds(world, relation, part as Tree, row)
  const type = fieldOf(world.shop, collection, name)
  if (!isOperators(part)) return operatorHolds(type, '_eq', part, row[name])
  if ('_path' in part) return pathHolds(row[name], part)
  return all(Object.entries(part).map(([operator, operand]) => operatorHolds(type, operator, operand, row[name])))
}

/** An object below a field: operands themselves are objects only where they are JSON, which an operator precedes. */
function isOperators(part: unknown): part is Tree {
  return typeof part === 'object' && part !== null && !Array.isArray(part)
}

function relationHolds(world: World, relation: Relation, part: Tree, row: Row): Truth {
  const truths = world.related(relation, row).map((candidate) => [candidate] as const)
  const satisfying = (filter: Tree) =>
    truths.filter(([candidate]) => holds(world, relation.target, filter, candidate) === true).length
  if (!relation.isList) return satisfying(part) > 0
  const { _some, _every, _none, ...others } = part
  const isBare = Object.keys(others).length > 0 || Object.keys(part).length === 0
  const bare = Object.keys(others).length === Object.keys(part).length ? part : others
  return all([
    isBare ? satisfying(bare) > 0 : true,
    _some === undefined ? true : satisfying(_some as Tree) > 0,
    _every === undefined ? true : satisfying(_every as Tree) === truths.length,
    _none === undefined ? true : satisfying(_none as Tree) === 0,
  ])
}

export function operatorHolds(type: TypeText | undefined, name: string, operand: unknown, value: unknown): Truth {
  const operator = name as Operator
  if (operator === '_null') return (value === null) === operand
  if (operand === null && operator !== '_contains') return (value === null) === (operator === '_eq')
  if (operator === '_in') return isOneOf(type, operand as unknown[], value)
  if (operator === '_nin') return isNoneOf(type, operand as unknown[], value)
  if (value === null) return null
  const [text, part] = [String(value), String(operand)]
  switch (operator) {
    case '_eq':
      return equal(type, value, operand)
    case '_neq':
      return !equal(type, value, operand)
    case '_lt':
      return compare(type, value, operand) < 0
    case '_lte':
      return compare(type, value, operand) <= 0
    case '_gt':
      return compare(type, value, operand) > 0
    case '_gte':
      return compare(type, value, operand) >= 0
    case '_between':
    case '_nbetween': {
      const [low, high] = operand as unknown[]
      const isBetween = compare(type, value, low) >= 0 && compare(type, value, high) <= 0
      return isBetween === (operator === '_between')
    }
    case '_contains':
      return type?.name === 'json' ? jsonContains(value, operand) : text.includes(part)
    case '_ncontains':
      return !text.includes(part)
    case '_icontains':
      return folded(text).includes(folded(part))
    case '_nicontains':
      return !folded(text).includes(folded(part))
    case '_starts_with':
      return text.startsWith(part)
    case '_nstarts_with':
      return !text.startsWith(part)
    case '_ends_with':
      return text.endsWith(part)
    case '_nends_with':
      return !text.endsWith(part)
    case '_has':
    case '_has_any':
    case '_has_all':
      return listHolds(operator, elementsOf(type, value), operand, (one, other) => equal(type, one, other))
    case '_empty':
      return ((value as unknown[]).length === 0) === operand
    case '_has_key':
      return hasKey(value, part)
    case '_path':
      throw new Error('a path stands beside its operators')
    default:
      return unknownOperator(operator)
  }
}

/** Of several dimensions all that is in them; an array of JSON is a value. */
function elementsOf(type: TypeText | undefined, list: unknown): readonly unknown[] {
  return (list as unknown[]).flat(type?.name === 'json' ? 0 : 6)
}

/** The compiler refuses this where the oracle lacks an operator of the vocabulary. */
function unknownOperator(operator: never): never {
  throw new Error(`the oracle does not know ${operator}`)
}

function folded(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** A null in the list matches null rows, which otherwise are unknown; the empty list is false for every row. */
function isOneOf(type: TypeText | undefined, list: readonly unknown[], value: unknown): Truth {
  if (list.length === 0) return false
  if (value !== null) return list.some((one) => one !== null && equal(type, value, one))
  if (list.includes(null)) return true
  return null
}

/** The empty list is true for every row; a null in the list excludes null rows. */
function isNoneOf(type: TypeText | undefined, list: readonly unknown[], value: unknown): Truth {
  if (list.length === 0) return true
  if (value !== null) return !list.some((one) => one !== null && equal(type, value, one))
  return list.includes(null) ? false : null
}

function all(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false
  return truths.includes(null) ? null : true
}

function any(truths: readonly Truth[]): Truth {
  if (truths.includes(true)) return true
  return truths.includes(null) ? null : false
}

function negated(truth: Truth): Truth {
  return truth === null ? null : !truth
}

function equal(type: TypeText | undefined, one: unknown, other: unknown): boolean {
  return type?.name === 'json' ? isDeepStrictEqual(one, other) : compare(type, one, other) === 0
}

/** Numbers by value, texts by their bytes, times by their texts, which are of one length up to the fraction. */
function compare(type: TypeText | undefined, one: unknown, other: unknown): number {
  switch (type?.name) {
    case 'float32':
      return Math.fround(Number(one)) - Math.fround(Number(other))
    case 'float64':
    case 'boolean':
      return Number(one) < Number(other) ? -1 : Number(Number(one) > Number(other))
    case 'string':
    case 'uuid':
    case 'bytes':
    case 'date':
      return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)))
    case 'time':
    case 'dateTime':
    case 'dateTimeWithTimezone':
      return Buffer.compare(Buffer.from(String(one).replace('Z', '')), Buffer.from(String(other).replace('Z', '')))
    case 'decimal':
      return compareIntegers(...scaled(String(one), String(other)))
    default:
      return compareIntegers(BigInt(String(one)), BigInt(String(other)))
  }
}

function compareIntegers(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other)
}

/** Two decimals as integers of the same scale. */
function scaled(one: string, other: string): readonly [bigint, bigint] {
  const scale = Math.max(...[one, other].map((text) => (text.split('.')[1] ?? '').length))
  const digits = (text: string) => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(scale, '0'))
  }
  return [digits(one), digits(other)]
}
