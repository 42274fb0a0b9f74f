/**
 * Operators that change the current value: `{"_increment": -1}` for a number, `_append` and `_remove` for a list
 * (docs/contract.md#atomic-operators). Null stays null.
 */
import { parseJson } from '../exact-json.ts'
import { isObject } from '../json-object.ts'
import { shortName } from '../message-text.ts'
import { decodeJson } from '../model/codec.ts'
import type { Collection, Field, PrimitiveField } from '../model/model.ts'
import { isFloat, isInteger, rangeOf } from '../model/number-range.ts'
import { listKnown } from '../nearest.ts'
import { type Filter, none, or } from '../query/filter.ts'
import { queryFault } from '../query/parse.ts'
import { keptFields } from './cells.ts'
import { readableField, relatedAccess } from './names.ts'
import type { Alteration, Slot } from './plan.ts'
import { addChecks, addStep, type Program } from './program.ts'
import { type Body, memberPath } from './values.ts'

/** The operators of a field; none for fields that identify a row or join relations. */
export function operatorsOn(collection: Collection, field: PrimitiveField): readonly Operator[] {
  if (field.isReadOnly || keptFields(collection).includes(field)) return []
  return operatorsOf(field)
}

type Operator = Alteration['operator']

function operatorsOf({ type, isList, native }: PrimitiveField): readonly Operator[] {
  if (isList) return ['_append', '_remove']
  const isNumber = isInteger(type.name) || isFloat(type.name) || type.name === 'decimal'
  return native === null && isNumber ? ['_increment'] : []
}

/** True if the member's value is an operator: an object is no other value of a number or a list. */
export function isAltering(field: Field | undefined, value: unknown): boolean {
  return field?.kind === 'primitive' && isObject(value) && operatorsOf(field).length > 0
}

/** Separates the members with operators from those with values. */
export function splitAlterations(
  collection: Collection,
  columns: Body,
  path: string,
): { readonly values: Body; readonly alterations: readonly Alteration[] } {
  const values: Record<string, unknown> = Object.create(null)
  const alterations: Alteration[] = []
  for (const [name, value] of Object.entries(columns)) {
    const field = collection.primitives.find(({ apiName }) => apiName === name)
    if (field === undefined || !isAltering(field, value)) values[name] = value
    else alterations.push(alterationOf(collection, field, { sent: value as Body, path: memberPath(path, name) }))
  }
  return { values, alterations }
}

function alterationOf(
  collection: Collection,
  field: PrimitiveField,
  { sent, path }: { readonly sent: Body; readonly path: string },
): Alteration {
  const known = operatorsOf(field)
  const unknown = Object.keys(sent).find((name) => !known.some((operator) => operator === name))
  if (unknown !== undefined) {
    throw queryFault(memberPath(path, shortName(unknown)), `is not an operator of a change${listKnown(unknown, known)}`)
  }
  const [operator, ...others] = known.filter((name) => name in sent)
  if (operator === undefined || others.length > 0) throw queryFault(path, `must have one of ${known.join(', ')}`)
  if (field.isReadOnly) throw queryFault(path, 'is read-only')
  if (!operatorsOn(collection, field).includes(operator)) {
    throw queryFault(path, 'is part of a key or a reference, so it is set as a whole')
  }
  return { field, operator, text: operandOf(field, sent[operator], `${path}.${operator}`) }
}

function operandOf(field: PrimitiveField, value: unknown, path: string): string {
  const type = !field.isList && isInteger(field.type.name) ? { name: 'int64' as const } : field.type
  const decoded = decodeJson(type, field.isList, value)
  if ('fault' in decoded) throw queryFault(path, decoded.fault)
  if (!field.isList && Number.isNaN(Number(decoded.ok.replace('Infinity', 'NaN')))) {
    throw queryFault(path, 'must be a number')
  }
  if (field.isList && (parseJson(decoded.ok) as readonly unknown[]).some(Array.isArray)) {
    throw queryFault(path, 'must be a list of one dimension')
  }
  return decoded.ok
}

/** Requires that the caller can read the altered value in the row, and that the result is in range. */
export function addAlterationChecks(
  program: Program,
  slot: Slot,
  { alterations, path }: { readonly alterations: readonly Alteration[]; readonly path: string },
): void {
  const { viewer } = program
  const { collection } = slot
  for (const alteration of alterations) {
    const { field } = alteration
    const at = memberPath(path, field.apiName)
    const { visible } = readableField(viewer, collection, relatedAccess(viewer, collection), field.apiName, at)
    addChecks(program, slot, { action: 'read', forbidden: visible })
    const where = roomFor(alteration)
    if (where !== undefined) addStep(program, { kind: 'range', slot, where, field })
  }
}

/** The rows in which the result is in range; undefined if no check is needed. */
function roomFor({ field, operator, text }: Alteration): Filter | undefined {
  const range = operator === '_increment' ? rangeOf(field.type, text) : undefined
  if (range === undefined) return undefined
  const compare = (comparison: '<=' | '>=' | '=', operand: string): Filter => {
    return { kind: 'compare', field, visible: { kind: 'all' }, operator: comparison, operand }
  }
  return or([
    { kind: 'null', field, visible: { kind: 'all' }, negated: false },
    range.bound === undefined ? none : compare(range.isUp ? '<=' : '>=', range.bound),
    ...range.fixedValues.map((special) => compare('=', special)),
  ])
}
