/**
 * The names of types, of filter operators and of what connectors do, each list in one place. Whatever has to know all of
 * them is a total record or switch, so that the compiler points at it when a name is added; CONTRIBUTING.md tells where
 * it does not.
 */

/** Types without params. */
export const plainTypeNames = [
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'float32',
  'float64',
  'uuid',
  'boolean',
  'date',
  'time',
  'dateTime',
  'dateTimeWithTimezone',
  'json',
  'bytes',
  'geometry',
] as const

export type PlainTypeName = (typeof plainTypeNames)[number]

/** Types of which one value has several texts, or texts in another order than their values: a comparison has to know them. */
export type ComparedType = Exclude<PlainTypeName, 'boolean' | 'bytes' | 'geometry'> | 'decimal'

/** Those that may stand beside a path into JSON, too. */
export const operatorsAtPath = [
  '_eq',
  '_neq',
  '_lt',
  '_lte',
  '_gt',
  '_gte',
  '_in',
  '_nin',
  '_between',
  '_nbetween',
] as const

export const operators = [
  ...operatorsAtPath,
  '_contains',
  '_icontains',
  '_ncontains',
  '_nicontains',
  '_starts_with',
  '_nstarts_with',
  '_ends_with',
  '_nends_with',
  '_has',
  '_has_any',
  '_has_all',
  '_empty',
  '_has_key',
  '_path',
  '_null',
] as const

export type Operator = (typeof operators)[number]

/** An operator as data connectors know it, without its underscore. */
export type ConnectorOperator = Operator extends `_${infer Name}` ? Name : never

export function connectorOperator(operator: Operator): ConnectorOperator {
  return operator.slice(1) as ConnectorOperator
}

/** What data connectors can be asked to do. */
export const connectorOperations = [
  'readMany',
  'readOne',
  'createMany',
  'updateOne',
  'updateMany',
  'deleteOne',
  'deleteMany',
] as const

export type ConnectorOperation = (typeof connectorOperations)[number]

/** What can be worked out over the items of a collection. */
export const aggregateFunctions = ['count', 'countDistinct', 'sum', 'avg', 'min', 'max'] as const

export type AggregateFunction = (typeof aggregateFunctions)[number]
