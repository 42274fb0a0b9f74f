/** Aggregates at random: groups by fields and by what is behind relations, functions, filters, order and pages. */
import fc, { type Arbitrary } from 'fast-check'
import type { AggregateFunction } from '../../../src/core/model/vocabulary.ts'
import type { TruncationUnit } from '../../../src/core/query/aggregate-query.ts'
import { anyFilter, type Draft, requestOf, type Stock, type Tree } from './request.ts'
import type { Operand } from './rows.ts'
import { fieldOf, fieldsOf, relationsOf, type TypeText } from './shop.ts'

export type AggregateDraft = {
  readonly collection: string
  readonly groups: readonly GroupDraft[]
  readonly aggregates: readonly FunctionDraft[]
  readonly filter: Tree | undefined
  /** Each condition of one output, of which one or all have to hold. */
  readonly having: { readonly all: boolean; readonly conditions: readonly Condition[] } | undefined
  readonly sort: readonly { readonly name: string; readonly how: SortHow }[]
  readonly limit: number | undefined
  readonly offset: number | undefined
}

export type GroupDraft = {
  readonly name: string
  readonly path: string
  readonly type: TypeText
  readonly trunc?: TruncationUnit
  /** Minutes east of UTC. */
  readonly zone?: number
}

/** `field` is `*` where rows are counted. */
export type FunctionDraft = {
  readonly name: string
  readonly function: AggregateFunction
  readonly field: string
  readonly type: TypeText
}

export type Condition = {
  readonly name: string
  readonly operator: string
  readonly operand: Operand
}

type SortHow = { readonly direction?: 'asc' | 'desc'; readonly nulls?: 'first' | 'last' }

const integers = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64']
const floats = ['float32', 'float64']
const days = ['year', 'quarter', 'month', 'week', 'day'] as const
const units = [...days, 'hour', 'minute'] as const

/** Whether a value is worked out in an order that is not said, so that its last digits may differ. */
export function isInexact({ function: called, type }: FunctionDraft): boolean {
  return (called === 'sum' || called === 'avg') && floats.includes(type.name)
}

/** The type of what is answered. */
export function outputType(one: GroupDraft | FunctionDraft): TypeText {
  const plain = { sizes: [], isList: false, isNullable: true }
  if ('path' in one) {
    if (one.trunc === undefined) return { ...one.type, isNullable: true }
    return { ...plain, name: one.trunc === 'hour' || one.trunc === 'minute' ? 'dateTime' : 'date' }
  }
  switch (one.function) {
    case 'count':
    case 'countDistinct':
    case 'avg':
      return { ...plain, name: 'float64' }
    case 'sum':
      return { ...plain, name: floats.includes(one.type.name) ? 'float64' : 'decimal' }
    case 'min':
    case 'max':
      return { ...one.type, isNullable: true }
  }
}

/** What the route is sent, as JSON or, with values as texts, for brackets; `side` is that of the filter's values. */
export function argumentsOf(
  { groups, aggregates, filter, having, sort, limit, offset }: AggregateDraft,
  side: 0 | 1 = 0,
  spelling: 'sent' | 'text' = 'sent',
) {
  const conditions = having?.conditions.map(({ name, operator, operand }) => ({
    [name]: { [operator]: operand[spelling] },
  }))
  return {
    ...(aggregates.length > 0 && {
      aggregate: Object.fromEntries(aggregates.map((one) => [one.name, { [one.function]: one.field }])),
    }),
    ...(groups.length > 0 && { group: groups.map(groupSent) }),
    ...(filter !== undefined && { filter: requestOf(filter, side, spelling) }),
    ...(having !== undefined && { having: having.all ? { _and: conditions } : { _or: conditions } }),
    ...(sort.length > 0 && { sort: sort.map(({ name, how }) => ({ [name]: how })) }),
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
    meta: 'totalCount' as const,
  }
}

function groupSent({ name, path, trunc, zone }: GroupDraft): unknown {
  const options = {
    ...(trunc !== undefined && { trunc }),
    ...(zone !== undefined && { zone: offsetText(zone) }),
    ...(name !== path && { as: name }),
  }
  return Object.keys(options).length === 0 ? path : { [path]: options }
}

function offsetText(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}

export type AggregateStock = Stock & {
  /** Types of which only a sum that is the same in any order is drawn. */
  readonly isExact: boolean
  /** That of filters: JSON where it is not said. */
  readonly form?: Draft['form']
}

export function anyAggregates(stock: AggregateStock, collections: readonly string[]): Arbitrary<AggregateDraft> {
  return fc.constantFrom(...collections).chain((collection) => {
    const groups = fc.uniqueArray(anyGroup(stock, collection), { maxLength: 3, selector: ({ name }) => name })
    const functions = fc.array(anyFunction(stock, collection), { maxLength: 4 })
    const filter = anyFilter({ ...stock, form: stock.form ?? 'json', max: 100 }, collection, 2)
    const drawn = fc.tuple(groups, functions, fc.option(filter, { nil: undefined }))
    return drawn.chain(([grouped, called, chosen]) => {
      const isEmpty = grouped.length + called.length === 0
      const aggregates = (isEmpty ? [everyRow] : called).map((one, index) => ({ ...one, name: `a${index}` }))
      const outputs = [...grouped, ...aggregates]
      const exact = outputs.filter((one) => 'path' in one || !isInexact(one))
      const isOrdered = (one: GroupDraft | FunctionDraft) => isSorted(stock, outputType(one))
      const isPaged = grouped.every(isOrdered)
      return fc.record({
        collection: fc.constant(collection),
        groups: fc.constant(grouped),
        aggregates: fc.constant(aggregates),
        filter: fc.constant(chosen),
        having: anyHaving(stock, collection, exact),
        sort: anySort(exact.filter(isOrdered).map(({ name }) => name)),
        limit: isPaged ? fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }) : fc.constant(-1),
        offset: isPaged ? fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }) : fc.constant(undefined),
      })
    })
  })
}

function anySort(names: readonly string[]): Arbitrary<AggregateDraft['sort']> {
  if (names.length === 0) return fc.constant([])
  const how = fc.record(
    {
      direction: fc.constantFrom('asc' as const, 'desc' as const),
      nulls: fc.constantFrom('first' as const, 'last' as const),
    },
    { requiredKeys: [] },
  )
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), how), { maxLength: 3, selector: ([name]) => name })
    .map((entries) =>
      entries.map(([name, given]): AggregateDraft['sort'][number] => ({
        name,
        how: Object.keys(given).length === 0 ? { direction: 'asc' } : given,
      })),
    )
}

function anyHaving(
  stock: AggregateStock,
  collection: string,
  outputs: readonly (GroupDraft | FunctionDraft)[],
): Arbitrary<AggregateDraft['having']> {
  if (outputs.length === 0) return fc.constant(undefined)
  const conditions = fc.array(anyCondition(stock, collection, outputs), { minLength: 1, maxLength: 2 })
  return fc.option(fc.record({ all: fc.boolean(), conditions }), { nil: undefined })
}

export const everyRow: FunctionDraft = {
  name: 'a0',
  function: 'count',
  field: '*',
  type: { name: 'int32', sizes: [], isList: false, isNullable: false },
}

/** Whether groups of this type come in an order that the oracle knows. */
export function isSorted({ unsorted }: Stock, { name }: TypeText): boolean {
  return name !== 'bytes' && !unsorted.includes(name)
}

function anyGroup(stock: AggregateStock, collection: string): Arbitrary<GroupDraft> {
  const paths = pathsOf(stock, collection, 2).filter(([, type]) => isGroupable(type))
  return fc.constantFrom(...paths).chain(([path, type]) => {
    const plain = fc.constant<GroupDraft>({ name: path, path, type })
    const possible = type.name === 'date' ? days : units
    if (!['date', 'dateTime', 'dateTimeWithTimezone'].includes(type.name)) return plain
    const zones =
      type.name === 'dateTimeWithTimezone' ? fc.constantFrom(undefined, 0, 60, -330, 840, -840) : fc.constant(undefined)
    const truncated = fc.tuple(fc.constantFrom(...possible), zones, fc.boolean()).map(
      ([trunc, zone, isNamed]): GroupDraft => ({
        name: isNamed ? 'start' : path,
        path,
        type,
        trunc,
        ...(zone !== undefined && { zone }),
      }),
    )
    return fc.oneof({ weight: 1, arbitrary: plain }, { weight: 3, arbitrary: truncated })
  })
}

function pathsOf({ shop }: Stock, collection: string, depth: number): readonly (readonly [string, TypeText])[] {
  const own = fieldsOf(shop, collection)
  if (depth === 0) return own
  const behind = [...relationsOf(shop, collection)].flatMap(([name, { target, isList }]) =>
    isList
      ? []
      : pathsOf({ shop } as Stock, target, depth - 1).map(([path, type]) => [`${name}.${path}`, type] as const),
  )
  return [...own, ...behind]
}

function isGroupable({ name, isList }: TypeText): boolean {
  return !isList && name !== 'json' && name !== 'geometry'
}

function anyFunction(stock: AggregateStock, collection: string): Arbitrary<FunctionDraft> {
  const possible = fieldsOf(stock.shop, collection).flatMap(([field, type]) =>
    functionsOf(stock, type).map((called): FunctionDraft => ({ name: '', function: called, field, type })),
  )
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(everyRow) },
    { weight: 6, arbitrary: fc.constantFrom(...possible) },
  )
}

function functionsOf({ unsorted, isExact }: AggregateStock, type: TypeText): readonly AggregateFunction[] {
  const isNumber = integers.includes(type.name) || type.name === 'decimal' || (!isExact && floats.includes(type.name))
  const isOrdered = !['uuid', 'boolean', 'bytes', ...unsorted].includes(type.name)
  if (!isGroupable(type)) return ['count']
  return [
    'count',
    'countDistinct',
    ...(isNumber ? (['sum', 'avg'] as const) : []),
    ...(isOrdered ? (['min', 'max'] as const) : []),
  ]
}

function anyCondition(
  stock: AggregateStock,
  collection: string,
  outputs: readonly (GroupDraft | FunctionDraft)[],
): Arbitrary<Condition> {
  return fc.constantFrom(...outputs).chain((output) => {
    const type = outputType(output)
    const comparing = [
      '_eq',
      '_neq',
      ...(isSorted(stock, type) && !['uuid', 'boolean'].includes(type.name) ? ['_lt', '_gte'] : []),
    ]
    const { name } = output
    const isNull = fc.boolean().map((sent): Condition => ({ name, operator: '_null', operand: plain(sent) }))
    const operands = operandsOf(stock, collection, output)
    if (operands.length === 0) return isNull
    const compared = fc
      .tuple(fc.constantFrom(...comparing), fc.constantFrom(...operands))
      .map(([operator, operand]): Condition => ({ name, operator, operand }))
    return fc.oneof({ weight: 1, arbitrary: isNull }, { weight: 4, arbitrary: compared })
  })
}

function operandsOf(stock: AggregateStock, collection: string, output: GroupDraft | FunctionDraft): readonly Operand[] {
  if ('path' in output) {
    if (output.trunc !== undefined)
      return (outputType(output).name === 'date' ? ['1999-01-01', '2024-01-01'] : ['2024-01-01T09:00:00']).map(plain)
    const field = output.path.split('.').at(-1) ?? ''
    return output.path.includes('.') || output.type.name === 'bytes' ? [] : stock.operands(collection, field).whole
  }
  if (output.function === 'min' || output.function === 'max') return stock.operands(collection, output.field).whole
  if (output.function === 'sum') return ['0', '1', '-1.5', '1000'].map(plain)
  return [0, 1, 2, 1.5].map(plain)
}

/** A value that is spelled alike wherever it stands. */
function plain(value: string | number | boolean): Operand {
  return { value, sent: value, text: String(value) }
}

/** The fields that are read, with those behind relations as paths. */
export function fieldsUsed({ groups, aggregates }: AggregateDraft): readonly string[] {
  return [
    ...new Set([
      ...groups.map(({ path }) => path),
      ...aggregates.flatMap(({ field }) => (field === '*' ? [] : [field])),
    ]),
  ]
}

/** The type of a field of the collection itself. */
export function typeOf({ shop }: Stock, collection: string, field: string): TypeText | undefined {
  return fieldOf(shop, collection, field)
}
