/**
 * Plans aggregates: a read whose rows are groups of other rows. Names, rows and fields are resolved as in any read, so that an
 * aggregate covers exactly what its caller can read (docs/contract.md#aggregates).
 */
import { shortName } from '../message-text.ts'
import type { FieldType, TypeName } from '../model/field-type.ts'
import type { Collection, PrimitiveField } from '../model/model.ts'
import { operatorsOf } from '../model/operator.ts'
import type { AggregateFunction } from '../model/vocabulary.ts'
import { didYouMean } from '../nearest.ts'
import { type AggregateQuery, parseAggregates, type SentAggregate, type SentGroup } from '../query/aggregate-query.ts'
import { all, and, type FieldRef, none } from '../query/filter.ts'
import { queryFault } from '../query/parse.ts'
import { type FieldResolver, resolveFilter } from '../query/resolve.ts'
import { requireRowBudget } from './budget.ts'
import { readableField } from './names.ts'
import { pathField } from './path-field.ts'
import type { Aggregate, Group, Order, ReadPlan, TimeZone, Truncation } from './plan.ts'
import { type PlanInList, pageSize, type ReadContext, usualNulls } from './read.ts'
import { requestFilter } from './where.ts'

export { parseAggregateQuery } from '../query/aggregate-query.ts'

/** Plans the groups of a collection. `query` is the result of `parseAggregateQuery`. */
export function planAggregates(context: ReadContext, query: AggregateQuery): ReadPlan {
  const { viewer, access, maxRows, spent = { rows: 0 } } = context
  const own = context.collection
  const groups = query.groups.map((sent, index) => planGroup(context, sent, `g${index}`))
  const aggregates = planAggregateList(context, query.aggregates)
  const outputs = [...groups, ...aggregates].map(({ output }) => output)
  const collection = outputCollection(own, outputs)
  const filter = requestFilter(viewer, own, query.filter, 'filter')
  const limit = pageSize(context.limits, query.limit, { default: context.limits.default, path: '' })
  spent.rows += requireRowBudget([], { own: limit, isPage: true }, { most: maxRows, spent: spent.rows })
  return {
    kind: 'read',
    collection,
    selection: outputs.map((field) => ({ kind: 'field', name: field.apiName, field, visible: all })),
    where: resolveFilter(query.having, { collection, path: 'having', resolver: resolverOf(collection) }),
    page: { order: orderOf(collection, groups, query), limit, offset: query.offset },
    count: query.totalCount,
    grouping: { collection: own, where: and([access.rows, filter]), groups, aggregates },
  }
}

/** Plans `_aggregate` of a relation to many. `context` is that of the related collection. */
export const planInList: PlanInList = (context, node, path) => {
  const sent = parseAggregates(node, path)
  if (sent.length === 0) throw queryFault(path, 'must name at least one aggregate')
  return planAggregateList(context, sent)
}

function planAggregateList(context: ReadContext, sent: readonly SentAggregate[]): readonly Aggregate[] {
  return sent.map((one, index) => planAggregate(context, one, `a${index}`))
}

/** The fields of groups. Groups have no key, like rows of a view. */
function outputCollection(own: Collection, primitives: readonly PrimitiveField[]): Collection {
  return {
    ...own,
    primitives,
    relations: [],
    fields: new Map(primitives.map((field) => [field.apiName, field])),
    indexes: [],
    primaryKey: [],
    identity: [],
    key: [],
    isView: true,
  }
}

/** All values of a group are visible. */
function resolverOf({ fields }: Collection): FieldResolver {
  return {
    field: (_, name, path) => ({ field: fields.get(name) ?? unknownName(fields.keys(), name, path), visible: all }),
    rowsOf: () => none,
    linksOf: () => none,
    variable: () => undefined,
  }
}

function unknownName(known: Iterable<string>, name: string, path: string): never {
  throw queryFault(path, `is neither an aggregate nor a group${didYouMean(name, known)}`)
}

/** The requested order, followed by the values of the groups, which make it total. */
function orderOf({ fields }: Collection, groups: readonly Group[], { sort }: AggregateQuery): readonly Order[] {
  const order = new Map<PrimitiveField, Order>()
  sort.forEach(({ names, direction, nulls = usualNulls(direction) }, index) => {
    const name = names.join('.')
    const path = `sort[${index}].${shortName(name)}`
    const field = fields.get(name) ?? unknownName(fields.keys(), name, path)
    if (field.kind !== 'primitive' || field.type.name === 'bytes') throw queryFault(path, 'cannot be sorted by')
    if (!order.has(field)) order.set(field, { path: [], field, visible: all, direction, nulls, origin: 'requested' })
  })
  for (const { output } of groups) {
    const tie = { path: [], field: output, visible: all, direction: 'asc', nulls: 'last', origin: 'tie' } as const
    if (!order.has(output)) order.set(output, tie)
  }
  return [...order.values()]
}

function planAggregate(context: ReadContext, sent: SentAggregate, dbName: string): Aggregate {
  const { name, field: fieldName, path } = sent
  if (fieldName === '*') return { function: 'rows', output: outputOf(countType, { name, dbName }) }
  if (fieldName.includes('.')) throw queryFault(path, 'must name a field of the collection itself')
  const ref = primitive(context, fieldName, path)
  requireFunction(sent, ref.field)
  return { function: sent.function, ...ref, output: aggregateOutput(sent, ref.field, dbName) }
}

function primitive({ viewer, collection, access }: ReadContext, name: string, path: string): FieldRef {
  const { field, visible } = readableField(viewer, collection, access, name, path)
  if (field.kind === 'relation') throw queryFault(path, 'is a relation, not a field')
  return { field, visible }
}

function requireFunction({ function: called, path }: SentAggregate, field: PrimitiveField): void {
  const { type, isList } = field
  if (isApplicable(called, field)) return
  throw queryFault(path, `${called} is not for ${isList ? 'lists' : type.name}`)
}

/** True if a function is applicable to the values of a field. */
export function isApplicable(called: AggregateFunction, field: PrimitiveField): boolean {
  const { type, isList } = field
  switch (called) {
    case 'count':
      return true
    case 'countDistinct':
      return isGroupable(field)
    case 'sum':
    case 'avg':
      return !isList && sums[type.name] !== undefined
    case 'min':
    case 'max':
      return operatorsOf(type, isList).has('_lt')
  }
}

/** JSON is compared by content, by which no database groups rows; geometries have no equality. */
export function isGroupable({ type, isList }: PrimitiveField): boolean {
  return !isList && type.name !== 'json' && type.name !== 'geometry'
}

/** The kind of a type's sum; undefined for types that are not numbers. */
const sums: Readonly<Record<TypeName, 'exact' | 'float' | undefined>> = {
  int8: 'exact',
  int16: 'exact',
  int32: 'exact',
  int64: 'exact',
  uint8: 'exact',
  uint16: 'exact',
  uint32: 'exact',
  uint64: 'exact',
  float32: 'float',
  float64: 'float',
  decimal: 'exact',
  string: undefined,
  uuid: undefined,
  boolean: undefined,
  date: undefined,
  time: undefined,
  dateTime: undefined,
  dateTimeWithTimezone: undefined,
  json: undefined,
  bytes: undefined,
  geometry: undefined,
}

/** Counts and averages are JSON numbers; 64-bit integers would be strings. */
const countType: FieldType = { name: 'float64' }
const sumType: FieldType = { name: 'decimal', params: { kind: 'unconstrained' } }

function aggregateOutput({ name, function: called }: SentAggregate, field: PrimitiveField, dbName: string) {
  switch (called) {
    case 'count':
    case 'countDistinct':
    case 'avg':
      return outputOf(countType, { name, dbName })
    case 'sum':
      return outputOf(sums[field.type.name] === 'float' ? countType : sumType, { name, dbName })
    case 'min':
    case 'max':
      return valueOutput(field, field.type, { name, dbName })
  }
}

type Named = { readonly name: string; readonly dbName: string }

function outputOf(type: FieldType, { name, dbName }: Named): PrimitiveField {
  return {
    kind: 'primitive',
    id: dbName,
    collectionId: '',
    dbName,
    apiName: name,
    type,
    isNullable: true,
    isList: false,
    isReadOnly: true,
    defaultValue: null,
    isLoose: false,
    native: null,
  }
}

/** An output with a value of the field itself. Types without an order are compared, and so grouped, by their text. */
function valueOutput({ native, isLoose }: PrimitiveField, type: FieldType, named: Named): PrimitiveField {
  return { ...outputOf(type, named), isLoose, native: native?.isOrdered === true ? native : null }
}

function planGroup(context: ReadContext, sent: SentGroup, dbName: string): Group {
  const { field: fieldPath, name, path } = sent
  const { field, at, ...ref } = pathField(context, fieldPath.split('.'), { at: path, purpose: 'group' })
  if (!isGroupable(field)) throw queryFault(at, 'cannot be grouped by')
  const truncation = truncationOf(sent, field, at)
  const type = truncation === undefined ? field.type : truncatedType(truncation)
  const output =
    truncation === undefined ? valueOutput(field, type, { name, dbName }) : outputOf(type, { name, dbName })
  return { ...ref, field, output, truncation }
}

function truncationOf(
  { trunc: unit, zone }: SentGroup,
  { type, native }: PrimitiveField,
  path: string,
): Truncation | undefined {
  if (unit === undefined) return undefined
  const hasDay = type.name === 'date' || type.name === 'dateTime' || type.name === 'dateTimeWithTimezone'
  if (!hasDay || native) throw queryFault(`${path}.trunc`, 'is only for fields that hold a date')
  if (type.name === 'date' && isOfTime(unit)) throw queryFault(`${path}.trunc`, `a date has no ${unit}`)
  if (zone === undefined) return { unit, zone: utc }
  if (type.name !== 'dateTimeWithTimezone') throw queryFault(`${path}.zone`, 'is only for dateTimeWithTimezone')
  return { unit, zone: readZone(zone, `${path}.zone`) }
}

function truncatedType({ unit }: Truncation): FieldType {
  return { name: isOfTime(unit) ? 'dateTime' : 'date' }
}

function isOfTime(unit: Truncation['unit']): boolean {
  return unit === 'hour' || unit === 'minute'
}

const utc: TimeZone = { kind: 'offset', minutes: 0 }
const OFFSET = /^([+-])(0\d|1[0-4]):([0-5]\d)$/
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

function readZone(text: string, path: string): TimeZone {
  const [, sign, hours, minutes] = OFFSET.exec(text) ?? []
  if (sign !== undefined) {
    return { kind: 'offset', minutes: (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1) }
  }
  if (text === 'UTC') return utc
  if (ZONE_NAME.test(text) && isKnownZone(text)) return { kind: 'named', name: text, path }
  throw queryFault(path, 'must be a time zone, such as Europe/Berlin or +02:00')
}

function isKnownZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}
