/**
 * Requests at random, as plain objects of the shape that a query string spells: `{filter: {price: {_gt: '5'}}}`. Where
 * a value stands, a drafted request holds two, so that one draft makes two requests of equal shape.
 */
import fc, { type Arbitrary } from 'fast-check'
import type { TypeName } from '../../../src/core/model/field-type.ts'
import { type Operator, operators } from '../../../src/core/model/vocabulary.ts'
import type { Inside } from './inside.ts'
import type { Operand, Operands } from './rows.ts'
import { fieldsOf, type Relation, relationsOf, type Shop, type TypeText } from './shop.ts'

export type Tree = { readonly [name: string]: unknown }

/** By the name of a field, or a path of to-one relations that leads to one: `author.name`. */
export type Sort = readonly Readonly<Record<string, { direction?: 'asc' | 'desc'; nulls?: 'first' | 'last' }>>[]

/** The parameters of a list, with values as the oracle compares them. */
export type Request = {
  readonly fields?: readonly string[]
  readonly filter?: Tree
  readonly sort?: Sort
  readonly limit?: number
  readonly offset?: number
  readonly meta?: 'totalCount' | 'cursor'
  readonly after?: string
  readonly before?: string
  /** By relation `_filter`, `_sort`, `_limit` and `_offset`, beside the names of deeper relations. */
  readonly deep?: Tree
}

/** A request whose filters hold a `Choice` wherever a value stands. */
export type Draft = {
  readonly collection: string
  /** Whether filters travel in the query string, or as JSON, which has nulls and empty lists. */
  readonly form: 'text' | 'json'
  readonly request: Request
  /** Whether `deep` and lists are printed in their second spelling. */
  readonly isDotted: boolean
  readonly limits: { readonly default: number; readonly max: number }
}

const choice = Symbol('choice')
type Choice = { readonly [choice]: readonly [Operand, Operand] }

/** A draft with its first or second value in every place. */
export function requestOf<T>(tree: T, side: 0 | 1, spelling: keyof Operand): T {
  return choose(tree, side, spelling) as T
}

function choose(node: unknown, side: 0 | 1, spelling: keyof Operand): unknown {
  if (Array.isArray(node)) return node.map((one) => choose(one, side, spelling))
  if (typeof node !== 'object' || node === null) return node
  if (choice in node) return (node as Choice)[choice][side][spelling]
  return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, choose(one, side, spelling)]))
}

/** The texts of every value that stands in a draft's filters. */
export function operandTexts(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(operandTexts)
  if (typeof node !== 'object' || node === null) return []
  if (!(choice in node)) return Object.values(node).flatMap(operandTexts)
  const { value, sent, text } = (node as Choice)[choice][0]
  return [value, sent, text].map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
}

/** What draws values and names: the shop and, by collection and field, what filters are given. */
export type Stock = {
  readonly shop: Shop
  readonly operands: (collection: string, field: string) => Operands
  /** Types that are neither sorted by nor put in order, since their order is the database's own. */
  readonly unsorted: readonly TypeName[]
}

export function anyDraft(stock: Stock, collections: readonly string[]): Arbitrary<Draft> {
  return fc.constantFrom(...collections).chain((collection) =>
    fc.constantFrom('text' as const, 'json' as const).chain((form) =>
      fc.constantFrom(5, 30, 120).chain((max) => {
        const level = anyLevel({ ...stock, form, max }, collection, 3)
        const own = anyArguments({ ...stock, form, max }, collection)
        const parts = fc.tuple(fc.option(level, { nil: undefined, freq: 8 }), own, fc.boolean(), fc.boolean())
        return parts.map(([selection, { _filter, _sort, _limit, _offset }, isCounted, isDotted]): Draft => {
          const paths = selection === undefined ? undefined : pathsOf(selection)
          const deep = selection === undefined ? {} : deepOf(selection)
          const request = {
            ...(paths !== undefined && { fields: paths }),
            ...(_filter !== undefined && { filter: _filter }),
            ...(_sort !== undefined && { sort: _sort }),
            ...(_limit !== undefined && { limit: _limit }),
            ...(_offset !== undefined && { offset: _offset }),
            ...(isCounted && { meta: 'totalCount' as const }),
            ...(Object.keys(deep).length > 0 && { deep }),
          }
          return { collection, form, request, isDotted, limits: { default: Math.min(10, max), max } }
        })
      }),
    ),
  )
}

/** A list with nothing but a filter on what lists and JSON values hold, once as it is and once negated. */
export function anyInsideDraft(stock: Stock): Arbitrary<Draft> {
  const places = Object.keys(stock.shop.collections).flatMap((collection) =>
    fieldsOf(stock.shop, collection).flatMap(([name]) => {
      const { inside } = stock.operands(collection, name)
      return inside === undefined ? [] : [{ collection, name, inside }]
    }),
  )
  const drawn = fc.tuple(fc.constantFrom(...places), fc.constantFrom<Draft['form']>('text', 'json'), fc.boolean())
  return drawn.chain(([{ collection, name, inside }, form, isNegated]) =>
    fc.oneof(...anyInside(form, inside)).map((condition): Draft => {
      const filter = isNegated ? { _not: { [name]: condition } } : { [name]: condition }
      const request = { fields: ['id', name], filter, limit: -1 }
      return { collection, form, request, isDotted: false, limits: { default: 10, max: 10_000 } }
    }),
  )
}

export type Drawing = Stock & { readonly form: Draft['form']; readonly max: number }

/**
 * By what draws the operands: what is drawn from is made once, since to make it takes longer than to draw from it, and
 * relations lead to the same collections again and again.
 */
const made = new WeakMap<Stock['operands'], Map<string, Arbitrary<unknown>>>()

function once<T>(what: string, { operands, unsorted, form, max }: Drawing, make: () => Arbitrary<T>): Arbitrary<T> {
  const known = made.get(operands) ?? new Map<string, Arbitrary<unknown>>()
  made.set(operands, known)
  const name = [what, form, max, ...unsorted].join(' ')
  const arbitrary = (known.get(name) as Arbitrary<T> | undefined) ?? make()
  known.set(name, arbitrary)
  return arbitrary
}

export type Arguments = { _filter?: Tree; _sort?: Sort; _limit?: number; _offset?: number }

export function anyArguments(drawing: Drawing, collection: string): Arbitrary<Arguments> {
  return once(`arguments ${collection}`, drawing, () => makeAnyArguments(drawing, collection))
}

function makeAnyArguments(drawing: Drawing, collection: string): Arbitrary<Arguments> {
  return fc.record(
    {
      _filter: anyFilter(drawing, collection, 3),
      _sort: anySort(drawing, collection),
      _limit: fc.oneof(fc.constantFrom(0, -1), fc.integer({ min: 1, max: Math.min(drawing.max, 6) })),
      _offset: fc.integer({ min: 0, max: 4 }),
    },
    { requiredKeys: [] },
  )
}

export function anySort(stock: Stock, collection: string): Arbitrary<Sort> {
  const own = sortableNames(stock, collection)
  const related = relatedNames(stock, collection, 2)
  if (own.length === 0 && related.length === 0) return fc.constant([])
  const names = [own, related].filter((some) => some.length > 0).map((some) => fc.constantFrom(...some))
  const options = fc.record(
    {
      direction: fc.constantFrom('asc' as const, 'desc' as const),
      nulls: fc.constantFrom('first' as const, 'last' as const),
    },
    { requiredKeys: [] },
  )
  const how = options.map((given) => (Object.keys(given).length === 0 ? { direction: 'asc' as const } : given))
  const entry = fc.tuple(fc.oneof(...names), how)
  return fc.array(
    entry.map(([name, given]) => ({ [name]: given })),
    { minLength: 1, maxLength: 3 },
  )
}

function sortableNames({ shop, unsorted }: Stock, collection: string): readonly string[] {
  return fieldsOf(shop, collection)
    .filter(([, type]) => !type.isList && kindsByType[type.name].length > 0 && !unsorted.includes(type.name))
    .map(([name]) => name)
}

/** Paths over at most `depth` to-one relations. */
function relatedNames(stock: Stock, collection: string, depth: number): readonly string[] {
  if (depth === 0) return []
  const relations = [...relationsOf(stock.shop, collection)].filter(([, { isList }]) => !isList)
  return relations.flatMap(([name, { target }]) =>
    [...sortableNames(stock, target), ...relatedNames(stock, target, depth - 1)].map((below) => `${name}.${below}`),
  )
}

/** A condition over the fields of a collection and, `depth` levels deep, over logic and relations. */
export function anyFilter(drawing: Drawing, collection: string, depth: number): Arbitrary<Tree> {
  return once(`filter ${collection} ${depth}`, drawing, () => makeAnyFilter(drawing, collection, depth))
}

function makeAnyFilter(drawing: Drawing, collection: string, depth: number): Arbitrary<Tree> {
  const { shop, form } = drawing
  const conditions = fieldsOf(shop, collection).flatMap(([name, type]) =>
    anyCondition(drawing, { collection, name, type }),
  )
  const relations = depth === 0 ? [] : [...relationsOf(shop, collection)]
  const inner = (target: string) => fc.constant(undefined).chain(() => anyFilter(drawing, target, depth - 1))
  const fewest = form === 'text' ? 1 : 0
  const lists = fc.array(inner(collection), { minLength: fewest, maxLength: 2 })
  const member = fc.oneof(
    { weight: 5, arbitrary: fc.oneof(...conditions) },
    ...(depth === 0
      ? []
      : [
          { weight: 1, arbitrary: lists.map((_and): Tree => ({ _and })) },
          { weight: 1, arbitrary: lists.map((_or): Tree => ({ _or })) },
          { weight: 1, arbitrary: inner(collection).map((_not): Tree => ({ _not })) },
        ]),
    ...relations.map(([name, relation]) => ({
      weight: 1,
      arbitrary: anyRelated(relation, inner(relation.target)).map((part): Tree => ({ [name]: part })),
    })),
  )
  return fc.array(member, { minLength: fewest, maxLength: 2 }).map((members) => Object.assign({}, ...members) as Tree)
}

function anyRelated({ isList }: Relation, filter: Arbitrary<Tree>): Arbitrary<Tree> {
  if (!isList) return filter
  const quantified = fc
    .tuple(fc.constantFrom('_some', '_every', '_none'), filter)
    .map(([name, one]) => ({ [name]: one }))
  const both = fc.tuple(quantified, fc.oneof(quantified, filter)).map(([one, other]): Tree => ({ ...one, ...other }))
  return fc.oneof(
    { weight: 3, arbitrary: quantified },
    { weight: 2, arbitrary: filter },
    { weight: 1, arbitrary: both },
  )
}

/** What an operator is given. */
type OperandKind =
  | 'value'
  | 'ordered'
  | 'list'
  | 'range'
  | 'part'
  | 'foldedPart'
  | 'truth'
  | 'element'
  | 'elements'
  | 'emptiness'
  | 'member'
  | 'place'

const operandKinds: Readonly<Record<Operator, OperandKind>> = {
  _eq: 'value',
  _neq: 'value',
  _lt: 'ordered',
  _lte: 'ordered',
  _gt: 'ordered',
  _gte: 'ordered',
  _in: 'list',
  _nin: 'list',
  _between: 'range',
  _nbetween: 'range',
  _contains: 'part',
  _icontains: 'foldedPart',
  _ncontains: 'part',
  _nicontains: 'foldedPart',
  _starts_with: 'part',
  _nstarts_with: 'part',
  _ends_with: 'part',
  _nends_with: 'part',
  _has: 'element',
  _has_any: 'elements',
  _has_all: 'elements',
  _empty: 'emptiness',
  _has_key: 'member',
  _path: 'place',
  _null: 'truth',
}

const counted: readonly OperandKind[] = ['value', 'list', 'ordered', 'range']

/** What the operators of a type are given, but for `_null`. */
const kindsByType: Readonly<Record<TypeName, readonly OperandKind[]>> = {
  int8: counted,
  int16: counted,
  int32: counted,
  int64: counted,
  uint8: counted,
  uint16: counted,
  uint32: counted,
  uint64: counted,
  float32: counted,
  float64: counted,
  decimal: counted,
  date: counted,
  time: counted,
  dateTime: counted,
  dateTimeWithTimezone: counted,
  string: ['value', 'list', 'ordered', 'part', 'foldedPart'],
  uuid: ['value', 'list'],
  boolean: ['value'],
  json: ['value'],
  bytes: [],
  geometry: [],
}

/** Nothing where the field can only be tested for null and is never null. */
function anyCondition(
  drawing: Drawing,
  { collection, name, type }: { collection: string; name: string; type: TypeText },
): Arbitrary<Tree>[] {
  const inside = anyInside(drawing.form, drawing.operands(collection, name).inside)
  if (type.isList) {
    const conditions = type.isNullable ? [...inside, fc.boolean().map((_null): Tree => ({ _null }))] : inside
    return conditions.length === 0 ? [] : [fc.oneof(...conditions).map((one) => ({ [name]: one }))]
  }
  const kinds = kindsByType[type.name]
  const nullTest = fc.boolean().map((_null): Tree => ({ _null }))
  if (kinds.length === 0) return type.isNullable ? [nullTest.map((one) => ({ [name]: one }))] : []
  const { whole, parts: some, ascii } = drawing.operands(collection, name)
  const value = pair(whole)
  const orNull = type.isNullable && drawing.form === 'json' ? fc.option(value, { nil: null, freq: 5 }) : value
  const list = fc.array(orNull, { minLength: drawing.form === 'text' ? 1 : 0, maxLength: 4 })
  const operands: Readonly<Record<OperandKind, Arbitrary<unknown>>> = {
    value: orNull,
    ordered: value,
    list,
    range: fc.tuple(value, value),
    part: pair(some),
    foldedPart: pair(ascii),
    truth: fc.boolean(),
    ...nothingInside,
  }
  const isDrawn = (kind: OperandKind) =>
    kind === 'truth' ? type.isNullable : kinds.includes(kind) && !(kind === 'ordered' && isUnsorted(drawing, type))
  const drawn = [...new Set(Object.values(operandKinds))].filter(isDrawn)
  const operator = fc.oneof(...drawn.map((kind) => anyOperator(kind, operands[kind])))
  const several = fc.tuple(operator, operator).map(([one, other]): Tree => ({ ...one, ...other }))
  const bare = type.name === 'json' ? [] : [{ weight: 1, arbitrary: orNull }]
  const condition: Arbitrary<unknown> = fc.oneof(
    { weight: 5, arbitrary: operator },
    { weight: 1, arbitrary: several },
    ...bare,
    ...inside.map((arbitrary) => ({ weight: 2, arbitrary })),
  )
  return [condition.map((one) => ({ [name]: one }))]
}

/** Drawn by `anyInside`. */
const nothingInside = {
  element: fc.constant(null),
  elements: fc.constant([]),
  emptiness: fc.boolean(),
  member: fc.constant(''),
  place: fc.constant([]),
}

/** Conditions on what lists and JSON values hold. */
function anyInside(form: Draft['form'], inside: Inside | undefined): Arbitrary<Tree>[] {
  const minLength = form === 'text' ? 1 : 0
  if (inside?.kind === 'list') {
    const element = pair(inside.elements)
    const elements = fc.array(element, { minLength, maxLength: 3 })
    return [anyOperator('element', element), anyOperator('elements', elements), anyOperator('emptiness', fc.boolean())]
  }
  if (inside?.kind !== 'json') return []
  // In a query string every step is a name.
  const paths = inside.paths.filter((path) => form === 'json' || path.every((step) => typeof step === 'string'))
  const path = fc.constantFrom(...paths)
  const tests = fc.constantFrom(...inside.scalars).chain((scalars) => {
    const scalar = pair(scalars)
    const isOrdered = typeof scalars[0]?.value !== 'boolean'
    const kinds: Arbitrary<Tree>[] = [
      anyOperator('value', scalar),
      anyOperator('list', fc.array(scalar, { minLength, maxLength: 3 })),
      ...(isOrdered ? [anyOperator('ordered', scalar), anyOperator('range', fc.tuple(scalar, scalar))] : []),
    ]
    return fc.oneof(...kinds)
  })
  return [
    pair(inside.contained).map((_contains): Tree => ({ _contains })),
    anyOperator('member', pair(inside.names)),
    fc.tuple(path, tests).map(([_path, test]): Tree => ({ _path, ...test })),
    fc.tuple(path, tests, tests).map(([_path, one, other]): Tree => ({ _path, ...one, ...other })),
  ]
}

function isUnsorted({ unsorted }: Stock, { name }: TypeText): boolean {
  return unsorted.includes(name)
}

function anyOperator(kind: OperandKind, operand: Arbitrary<unknown>): Arbitrary<Tree> {
  const names = operators.filter((operator) => operandKinds[operator] === kind)
  return fc.tuple(fc.constantFrom(...names), operand).map(([name, one]) => ({ [name]: one }))
}

function pair(operands: readonly Operand[]): Arbitrary<Choice> {
  const one = fc.constantFrom(...operands)
  return fc.tuple(one, one).map((both) => ({ [choice]: both }))
}

/** What is selected of one collection; `arguments` belong to the relation that leads here. */
type Level = {
  readonly isStarred: boolean
  readonly names: readonly string[]
  readonly relations: readonly (readonly [string, Level])[]
  readonly arguments: Arguments
}

function anyLevel(drawing: Drawing, collection: string, depth: number): Arbitrary<Level> {
  return once(`level ${collection} ${depth}`, drawing, () => makeAnyLevel(drawing, collection, depth))
}

function makeAnyLevel(drawing: Drawing, collection: string, depth: number): Arbitrary<Level> {
  const names = fieldsOf(drawing.shop, collection).map(([name]) => name)
  const relations = depth === 0 ? [] : [...relationsOf(drawing.shop, collection)]
  const below = fc
    .subarray(relations, { maxLength: Math.min(2, relations.length) })
    .chain((chosen) =>
      fc.tuple(
        ...chosen.map(([name, relation]) =>
          anyRelationLevel(drawing, relation, depth).map((level) => [name, level] as const),
        ),
      ),
    )
  // All columns of `samples` at several places would be more than 200 fields.
  const star = names.length < 12 || depth === 3 ? fc.boolean() : fc.constant(false)
  return fc
    .record({
      isStarred: star,
      names: fc.subarray(names, { maxLength: Math.min(4, names.length) }),
      relations: relations.length === 0 ? fc.constant([]) : below,
      arguments: fc.constant({}),
    })
    .map((level) => {
      const isEmpty = !level.isStarred && level.names.length === 0 && level.relations.length === 0
      return isEmpty ? { ...level, names: names.slice(0, 1) } : level
    })
}

function anyRelationLevel(drawing: Drawing, relation: Relation, depth: number): Arbitrary<Level> {
  const level = fc.constant(undefined).chain(() => anyLevel(drawing, relation.target, depth - 1))
  const own: Arbitrary<Arguments> = anyArguments(drawing, relation.target)
  const allowed = own.map(({ _filter, ...page }): Arguments => {
    if (!relation.isList && !relation.isNullable) return {}
    return { ...(_filter !== undefined && { _filter }), ...(relation.isList && page) }
  })
  return fc.tuple(level, fc.option(allowed, { nil: {} })).map(([one, given]) => ({ ...one, arguments: given }))
}

/** A relation is named by paths through it; its name alone stands for all of its fields. */
function pathsOf({ isStarred, names, relations }: Level): readonly string[] {
  return [
    ...(isStarred ? ['*'] : []),
    ...names,
    ...relations.flatMap(([name, level]) => {
      const paths = pathsOf(level)
      return paths.map((path) => (path === '*' && paths.length === 1 ? name : `${name}.${path}`))
    }),
  ]
}

function deepOf({ relations }: Level): Tree {
  const entries = relations.flatMap(([name, level]) => {
    const tree = { ...level.arguments, ...deepOf(level) }
    return Object.keys(tree).length === 0 ? [] : [[name, tree] as const]
  })
  return Object.fromEntries(entries)
}
