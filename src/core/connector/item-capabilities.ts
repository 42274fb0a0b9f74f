/**
 * Derives from a connector's declaration what of the item API a collection serves
 * (docs/contract.md#what-a-connector-declares). `push-down.ts` enforces the same declaration; the documents describe
 * it.
 */
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import { operatorsOf } from '../model/operator.ts'
import { type ConnectorOperation, type ConnectorOperator, connectorOperator, operators } from '../model/vocabulary.ts'
import { type Meaning, meanings, negation, operatorOf } from '../query/operator-meaning.ts'
import type { Capabilities } from './schema.ts'

/** Returns the declaration for a collection; undefined where its data source serves everything. */
export type Declarations = (collection: Collection) => Capabilities | undefined

/** For a collection that its connector no longer declares. */
export const noCapabilities: Capabilities = {
  key: [],
  operations: [],
  filter: {},
  sort: [],
  count: false,
  offset: false,
  after: false,
  conditional: false,
  idempotent: false,
}

/** Any one of these operations is enough. */
const serving = {
  readMany: ['readMany'],
  readOne: ['readOne', 'readMany'],
  create: ['createMany'],
  updateMany: ['updateMany'],
  updateOne: ['updateOne'],
  deleteMany: ['deleteMany'],
  deleteOne: ['deleteOne'],
} as const satisfies Readonly<Record<string, readonly ConnectorOperation[]>>

export type ItemOperation = keyof typeof serving

export function servesOperation({ operations }: Capabilities, operation: ItemOperation): boolean {
  return serving[operation].some((one) => operations.includes(one))
}

/**
 * How a connector can evaluate an operator (named without underscore): directly, or as the negation of its opposite.
 */
export function operatorSupport(
  { filter }: Capabilities,
  field: PrimitiveField,
  operator: ConnectorOperator,
): { readonly kind: 'plain' } | { readonly kind: 'negated'; readonly operator: ConnectorOperator } | undefined {
  const known = declared(filter, field)
  if (known.includes(operator)) return { kind: 'plain' }
  const opposite = opposites.get(operator)
  return opposite !== undefined && known.includes(opposite) ? { kind: 'negated', operator: opposite } : undefined
}

/** Each operator and its opposite both exclude null. */
const opposites: ReadonlyMap<ConnectorOperator, ConnectorOperator> = new Map(
  operators.map((operator) => [
    connectorOperator(operator),
    connectorOperator(operatorOf(negation<Meaning>(meanings[operator]))),
  ]),
)

/** Returns the operator that finds rows with one of many values in the field; undefined where there is none. */
export function lookupOperator({ key, filter }: Capabilities, field: PrimitiveField): 'in' | 'eq' | undefined {
  const known = declared(filter, field)
  if (key.includes(field.dbName) || known.includes('in')) return 'in'
  return known.includes('eq') ? 'eq' : undefined
}

/** A field may be called `constructor`, too. */
function declared(filter: Capabilities['filter'], { dbName }: PrimitiveField): readonly string[] {
  return Object.hasOwn(filter, dbName) ? (filter[dbName] ?? []) : []
}

/**
 * Returns true if the rows behind a relation can be read; a connector's rows are looked up by one field (decision 023).
 */
export function canFollow(relation: RelationField, declared: Declarations): boolean {
  const { target, joins } = relation
  if (!isCrossSource(relation, declared)) return true
  const [join, ...others] = joins
  if (join === undefined || others.length > 0) return false
  const capabilities = declared(target)
  return (
    capabilities === undefined ||
    (servesOperation(capabilities, 'readMany') && lookupOperator(capabilities, join.other) !== undefined)
  )
}

/** Returns true if a filter can use the relation; across sources it becomes a filter by a list of keys. */
export function canFilterThrough(relation: RelationField, declared: Declarations): boolean {
  const { collection, target, joins } = relation
  if (!isCrossSource(relation, declared)) return true
  const [join, ...others] = joins
  if (join === undefined || others.length > 0) return false
  const own = declared(collection)
  const far = declared(target)
  return (
    (own === undefined || operatorSupport(own, join.own, 'in') !== undefined) &&
    (far === undefined || servesOperation(far, 'readMany'))
  )
}

/** Returns true if related rows are found by look-ups instead of a join in the database. */
export function isCrossSource({ collection, target }: RelationField, declared: Declarations): boolean {
  return collection.sourceId !== target.sourceId || declared(collection) !== undefined
}

/** Describes capabilities in the terms of the item API. */
export function describeCapabilities(collection: Collection, capabilities: Capabilities) {
  const operators = (field: PrimitiveField) =>
    [...operatorsOf(field.type, field.isList), ...(field.isNullable ? (['_null'] as const) : [])].filter(
      (operator) => operatorSupport(capabilities, field, connectorOperator(operator)) !== undefined,
    )
  const operations = (Object.keys(serving) as ItemOperation[]).filter((one) => servesOperation(capabilities, one))
  return {
    operations,
    filter: Object.fromEntries(
      collection.primitives.flatMap((field) => {
        const known = operators(field)
        return known.length === 0 ? [] : [[field.apiName, known] as const]
      }),
    ),
    sort: collection.primitives
      .filter(({ dbName }) => capabilities.sort.includes(dbName))
      .map(({ apiName }) => apiName),
    totalCount: capabilities.count,
    offset: capabilities.offset,
    cursors: capabilities.after,
    ifMatch: capabilities.conditional,
    repeatsByKey: capabilities.idempotent,
  }
}
