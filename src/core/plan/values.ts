/**
 * Converts an item as sent into assignments: decodes every member, fills in defaults that the service generates, and
 * checks required fields. Errors name their path, such as `[2].title`.
 */

import { knowsField } from '../access/access.ts'
import { isObject } from '../json-object.ts'
import { shortName } from '../message-text.ts'
import { describeLimits } from '../model/checks.ts'
import { decodeValue } from '../model/codec.ts'
import type { Member, PrimitiveField, RelationField } from '../model/model.ts'
import { partOfMoment } from '../model/moment.ts'
import { listKnown } from '../nearest.ts'
import { queryFault } from '../query/parse.ts'
import { followable, type Using, usableField } from './names.ts'
import type { Assignment } from './plan.ts'

/** Sources of generated values. */
export type Generators = { readonly uuid: () => string; readonly now: () => string }

export type WriteContext = Using & { readonly action: 'create' | 'update' | 'delete'; readonly generators: Generators }

export type Body = Readonly<Record<string, unknown>>

const nothing: ReadonlySet<string> = new Set()

export function parseBody(value: unknown, path: string): Body {
  if (isObject(value)) return value
  throw queryFault(path, 'must be an object')
}

/** The columns of a new item. `elsewhere` are fields whose values come from a relation. */
export function createAssignments(
  context: WriteContext,
  body: Body,
  path: string,
  elsewhere: ReadonlySet<string> = nothing,
): readonly Assignment[] {
  const columns = createColumns(context, Object.keys(body), path, elsewhere)
  return columns.map((column) => ({ field: column.field, value: columnValue(column, body, context.generators) }))
}

/** The source of a new item's column: a member of the body, or the field's own default. */
export type Column = {
  readonly field: PrimitiveField
  readonly member: { readonly name: string; readonly path: string } | undefined
}

/** The columns of all new items that have exactly `members`. */
export function createColumns(
  context: WriteContext,
  members: readonly string[],
  path: string,
  elsewhere: ReadonlySet<string> = nothing,
): readonly Column[] {
  const given = new Map(sentColumns(context, members, path).map((column) => [column.field.id, column]))
  for (const field of context.collection.primitives) {
    if (given.has(field.id) || elsewhere.has(field.id)) continue
    if (isInitialized(field)) given.set(field.id, { field, member: undefined })
    else if (isRequired(field)) {
      if (knowsField(context.viewer, context.collection, field))
        throw queryFault(memberPath(path, field.apiName), 'is required')
      throw queryFault(path, 'needs a field that this caller does not have')
    }
  }
  return [...given.values()]
}

/** The text for a column of the new item `body`. */
export function columnValue({ field, member }: Column, body: Body, generators: Generators): string | null {
  return member === undefined ? initialValue(field, generators) : valueFor(field, body[member.name], member.path)
}

/** The columns that an update changes, including those that are renewed on every update. */
export function updateAssignments(
  context: WriteContext,
  body: Body,
  path: string,
  elsewhere: ReadonlySet<string> = nothing,
): readonly Assignment[] {
  const columns = updateColumns(context, Object.keys(body), path, elsewhere)
  return columns.map((column) => ({ field: column.field, value: changedValue(column, body, context.generators) }))
}

/** The columns of all changes that have exactly `members`. */
export function updateColumns(
  context: WriteContext,
  members: readonly string[],
  path: string,
  elsewhere: ReadonlySet<string> = nothing,
): readonly Column[] {
  const sent = sentColumns(context, members, path)
  const named = new Set([...elsewhere, ...sent.map(({ field }) => field.id)])
  const renewed = context.collection.primitives.filter(
    ({ id, defaultValue }) =>
      !named.has(id) && defaultValue?.source === 'engineManaged' && defaultValue.onUpdate !== undefined,
  )
  return [...sent, ...renewed.map((field) => ({ field, member: undefined }))]
}

/** The text for a column that the change `body` sends, or that is renewed. */
export function changedValue(column: Column, body: Body, generators: Generators): string | null {
  return column.member === undefined ? nowFor(column.field, generators) : columnValue(column, body, generators)
}

/** Separates the members for relations from those for columns. */
export function splitBody(
  context: WriteContext,
  body: Body,
  path: string,
): { readonly columns: Body; readonly relations: readonly (readonly [RelationField, unknown])[] } {
  const columns: Record<string, unknown> = Object.create(null)
  const relations: [RelationField, unknown][] = []
  for (const [name, value] of Object.entries(body)) {
    const at = memberPath(path, shortName(name))
    const known = context.collection.fields.get(name)
    // A caller who may not follow a many-to-many field cannot link by it (decision 057).
    const isLink = known?.kind === 'relation' && known.through !== undefined
    const { field } = (isLink ? followable : usableField)(context, name, at)
    if (field.kind === 'relation') relations.push([field, value])
    else columns[name] = value
  }
  return { columns, relations }
}

export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

export function sentColumns(context: WriteContext, members: readonly string[], path: string): readonly Column[] {
  return members.map((name) => {
    const at = memberPath(path, shortName(name))
    const { field } = usableField(context, name, at)
    if (field.kind === 'relation') throw queryFault(at, 'is a relation')
    if (field.isReadOnly) throw queryFault(at, 'is read-only')
    return { field, member: { name, path: at } }
  })
}

/** Decodes a value as sent into the text for its column. */
export function valueFor(field: PrimitiveField, value: unknown, path: string): string | null {
  if (value === null) {
    if (!field.isNullable) throw queryFault(path, 'must not be null')
    return null
  }
  const decoded = decodeValue(field, value)
  const values = field.native?.values
  if ('fault' in decoded) throw queryFault(path, values ? describeLimits({ values }) : decoded.fault)
  if (values && field.native?.schema === undefined && isGuessed(decoded.ok, values)) {
    throw queryFault(path, describeLimits({ values }))
  }
  if (field.native?.members) checkMembers(field.native.members, value, path)
  return decoded.ok
}

/**
 * MariaDB and MySQL would store another enum value than was sent: the one at the index of a number, or one that the collation
 * considers equal. They refuse any other invalid value.
 */
function isGuessed(text: string, values: readonly string[]): boolean {
  if (values.includes(text)) return false
  const isEqual = (value: string) => value.localeCompare(text.trimEnd(), 'und', { sensitivity: 'base' }) === 0
  return /^\s*[+-]?\d+\s*$/.test(text) || values.some(isEqual)
}

/** Returns true if a new item has to give the field a value. */
export function isRequired(field: PrimitiveField): boolean {
  return !field.isNullable && field.defaultValue === null && !field.isReadOnly
}

function isInitialized({ defaultValue }: PrimitiveField): boolean {
  return defaultValue?.source === 'engineManaged' && defaultValue.onCreate !== undefined
}

/** The initial value of a field that the service initializes. */
function initialValue(field: PrimitiveField, generators: Generators): string | null {
  const onCreate = field.defaultValue?.source === 'engineManaged' ? field.defaultValue.onCreate : undefined
  if (onCreate?.kind === 'uuid') return generators.uuid()
  if (onCreate?.kind === 'static') return valueFor(field, onCreate.valueEncoded, field.apiName)
  return nowFor(field, generators)
}

function nowFor({ type }: PrimitiveField, generators: Generators): string {
  return partOfMoment(generators.now(), type.name)
}

/** Throws for the first member, at any depth, that a composite type does not have: databases would drop it. */
function checkMembers(members: readonly Member[], value: unknown, path: string): void {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) checkMembers(members, element, `${path}[${index}]`)
    return
  }
  if (!isObject(value)) return
  const known = new Map(members.map(([own, inner]) => [own, inner]))
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}.${shortName(name)}`
    if (!known.has(name)) throw queryFault(at, `is unknown${listKnown(name, [...known.keys()])}`)
    const inner = known.get(name)
    if (inner !== undefined) checkMembers(inner, member, at)
  }
}
