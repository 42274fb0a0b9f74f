/**
 * What of the item API the collection of a connector serves, by what it declares
 * (docs/contract.md#what-a-connector-declares). `push-down.ts` holds requests to the same declaration; documents tell
 * of it.
 */
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import { operatorsOf } from '../model/operator.ts'
import { type ConnectorOperation, type ConnectorOperator, connectorOperator, operators } from '../model/vocabulary.ts'
import { type Meaning, meanings, negation, operatorOf } from '../query/operator-meaning.ts'
import type { Capabilities } from './schema.ts'

/** What is declared for a collection; undefined where its data source serves everything. */
export type Declarations = (collection: Collection) => Capabilities | undefined

/** A collection that its connector does not declare any more. */
export const noCapabilities: Capabilities = {
  key: [],
  operations: [],
  filter: {},
  sort: [],
  count: false,
  offset: false,
}

/** Any one of them is enough. */
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

/** How a field can be asked by an operator, which has no underscore here: as itself, or as the opposite of another. */
export function operatorSupport(
  { filter }: Capabilities,
  field: PrimitiveField,
  operator: ConnectorOperator,
): { readonly kind: 'plain' } | { readonly kind: 'negated'; readonly operator: ConnectorOperator } | undefined {
  const known = filter[field.dbName] ?? []
  if (known.includes(operator)) return { kind: 'plain' }
  const opposite = opposites.get(operator)
  return opposite !== undefined && known.includes(opposite) ? { kind: 'negated', operator: opposite } : undefined
}

/** Each leaves null rows out, as its opposite does. */
const opposites: ReadonlyMap<ConnectorOperator, ConnectorOperator> = new Map(
  operators.map((operator) => [
    connectorOperator(operator),
    connectorOperator(operatorOf(negation<Meaning>(meanings[operator]))),
  ]),
)

/** How far rows are found whose field has one of many values; undefined where they cannot be. */
export function lookupOperator({ key, filter }: Capabilities, { dbName }: PrimitiveField): 'in' | 'eq' | undefined {
  const known = filter[dbName] ?? []
  if (key.includes(dbName) || known.includes('in')) return 'in'
  return known.includes('eq') ? 'eq' : undefined
}

/** Whether the rows behind a relation can be read: those of a connector are looked up by one field (decision 023). */
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

/** Whether a filter can ask for what is behind a relation: elsewhere that becomes a list of keys. */
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

/** Whether the far rows are not joined by a database but looked up. */
export function isCrossSource({ collection, target }: RelationField, declared: Declarations): boolean {
  return collection.sourceId !== target.sourceId || declared(collection) !== undefined
}

/** The same in the words of the item API, for somebody who reads it. */
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
  }
}
