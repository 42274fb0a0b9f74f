/** Describes the filter inputs of collections (docs/contract.md#filters). */
import { canFilterThrough, operatorSupport } from '../connector/item-capabilities.ts'
import type { FieldType } from '../model/field-type.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import { operatorsOf } from '../model/operator.ts'
import { type ConnectorOperator, connectorOperator, type Operator, operatorsAtPath } from '../model/vocabulary.ts'
import { meanings } from '../query/operator-meaning.ts'
import { operandType, unlimited } from '../query/resolve.ts'
import type { InputField, TypeReference } from './format.ts'
import type { Interner } from './interner.ts'

export function filterInput(interner: Interner, collection: Collection): TypeReference {
  const self: TypeReference = `i${interner.input(`${collection.id} filter`, `${collection.apiName}FilterInput`, () => ({
    fields: [
      ['_and', { type: `[${self}]`, optional: true }],
      ['_or', { type: `[${self}]`, optional: true }],
      ['_not', { type: self, optional: true }],
      ...interner.primitives(collection, 'read').flatMap((field) => fieldFilter(interner, collection, field)),
      ...interner
        .relations(collection, 'read')
        .filter((relation) => canFilterThrough(relation, interner.view.declared))
        .map((relation) => relationFilter(interner, relation)),
    ],
  }))}`
  return self
}

type Entry = readonly [name: string, field: InputField]

/** Empty for a field without operators. A bare value means `_eq`, except on JSON, where it would be ambiguous. */
function fieldFilter(interner: Interner, collection: Collection, field: PrimitiveField): readonly Entry[] {
  const declared = interner.view.declared(collection)
  const isServed = (operator: ConnectorOperator) =>
    declared === undefined || operatorSupport(declared, field, operator) !== undefined
  const every = [...operatorsOf(field.type, field.isList)]
  const operators = every.filter((operator) => isServed(connectorOperator(operator)))
  const hasNull = field.isNullable && isServed('null')
  if (operators.length === 0 && !hasNull) return []
  const type = operandType(field.type)
  const label = `${typeLabel(type)}${field.isList ? 'List' : ''}Filter${hasNull ? 'Nullable' : ''}PrimitiveInput`
  const value = interner.primitive(type)
  const orNull = hasNull ? `${value}?` : value
  const operand = operandsOf(interner, value, orNull)
  const key = operators.length === every.length ? label : `${label} ${operators.join(' ')}`
  const index = interner.input(key, label, () => ({
    fields: [
      ...operators.map((operator): Entry => [operator, { type: operand(operator), optional: true }]),
      ...besidePath(operators).map((operator): Entry => [operator, { type: operand(operator), optional: true }]),
      ...(hasNull ? [nullTest(interner)] : []),
    ],
  }))
  const takesBareValue = operators.includes('_eq') && field.type.name !== 'json'
  const described: InputField = { type: `i${index}`, optional: true, kind: 'primitive' }
  return [[field.apiName, takesBareValue ? { ...described, secondaryTypes: [orNull] } : described]]
}

function nullTest(interner: Interner): Entry {
  return ['_null', { type: interner.primitive({ name: 'boolean' }), optional: true }]
}

/** Operators that a JSON field has at a path only. */
function besidePath(operators: readonly Operator[]): readonly Operator[] {
  return operators.includes('_path') ? operatorsAtPath.filter((operator) => !operators.includes(operator)) : []
}

function operandsOf(interner: Interner, value: TypeReference, orNull: TypeReference) {
  return (operator: Operator): TypeReference => {
    const meaning = meanings[operator]
    switch (meaning.kind) {
      case 'compare':
        return meaning.operator === '=' || meaning.operator === '<>' ? orNull : value
      case 'match':
      case 'null':
        return value
      case 'in':
        return `[${orNull}]`
      case 'elements':
        return meaning.quantity === 'one' ? value : `[${value}]`
      case 'empty':
        return interner.primitive({ name: 'boolean' })
      case 'json':
        return meaning.test.kind === 'key' ? interner.primitive(unlimited) : `[${value}]`
      case 'between':
        return `[${value}]`
    }
  }
}

/** `Int32`, `DateTime`, `Decimal10_2`. */
function typeLabel(type: FieldType): string {
  const name = type.name.charAt(0).toUpperCase() + type.name.slice(1)
  if (type.name !== 'decimal' || type.params.kind === 'unconstrained') return name
  return `${name}${type.params.precision}_${type.params.scale}`.replace('-', 'Minus')
}

/** A to-many filter without a quantifier means `_some`. */
function relationFilter(interner: Interner, { apiName, target, isList }: RelationField): Entry {
  const filter = filterInput(interner, target)
  if (!isList) return [apiName, { type: filter, optional: true, kind: 'relation' }]
  const quantified = interner.input(`${target.id} quantifier`, `${target.apiName}FilterQuantifierInput`, () => ({
    fields: ['_some', '_every', '_none'].map((name): Entry => [name, { type: filter, optional: true }]),
  }))
  return [apiName, { type: `i${quantified}`, optional: true, kind: 'relation', secondaryTypes: [filter] }]
}
