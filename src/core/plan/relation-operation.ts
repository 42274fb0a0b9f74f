/**
 * What a body says of a relation → operations (docs/contract.md#nested-writes): one object on a new item's to-one, an
 * array everywhere else; which operations a kind of relation knows is decided here.
 */
import { beyondBounds } from '../bounds.ts'
import type { RelationField } from '../model/model.ts'
import { whatIsKnown } from '../nearest.ts'
import { queryBounds } from '../query/brackets.ts'
import { queryFault, type RawFilter } from '../query/parse.ts'
import { type Body, parseBody } from './values.ts'

export type RelationOperation =
  | { readonly kind: '_connect'; readonly keys: readonly Placed[] }
  | { readonly kind: '_create'; readonly items: readonly Placed[] }
  | { readonly kind: '_update'; readonly data: Placed; readonly filter: RawFilter | undefined; readonly place: string }
  | { readonly kind: '_disconnect' | '_delete'; readonly filter: RawFilter | undefined; readonly place: string }

/** An object of the body and where it stands. */
export type Placed = { readonly body: Body; readonly place: string }

/** Of one request, in all that is nested in it. */
export const MAX_CHANGES = 20_000

export type Occasion = 'create' | 'update'

export function parseRelationOperations(
  relation: RelationField,
  value: unknown,
  { occasion, place }: { readonly occasion: Occasion; readonly place: string },
): readonly RelationOperation[] {
  const known = knownOperations(relation, occasion)
  if (occasion === 'create' && !relation.isList) {
    if (Array.isArray(value)) throw queryFault(place, 'must be one object such as {"_connect": {"key": {…}}}')
    return [parseOperation(relation, value, known, place)]
  }
  if (!Array.isArray(value)) throw queryFault(place, 'must be an array of operations such as {"_connect": {…}}')
  refuseTooMany(value, place)
  return value.map((one, index) => parseOperation(relation, one, known, `${place}[${index}]`))
}

export type Kind = RelationOperation['kind']

/** The operations of a kind of relation (the table of docs/contract.md#nested-writes). */
export function knownOperations(relation: RelationField, occasion: Occasion): readonly Kind[] {
  if (occasion === 'create') return ['_connect', '_create']
  const own = relation.joins.map((join) => join.own)
  const other = relation.joins.map((join) => join.other)
  if (relation.isForward) {
    const isKey = own.some((field) => relation.collection.primaryKey.includes(field))
    if (isKey) return ['_update']
    return own.every(({ isNullable }) => isNullable)
      ? ['_connect', '_create', '_update', '_disconnect', '_delete']
      : ['_connect', '_create', '_update']
  }
  const isNullable = other.every((field) => field.isNullable)
  if (relation.isList) {
    return isNullable
      ? ['_connect', '_create', '_update', '_disconnect', '_delete']
      : ['_connect', '_create', '_update', '_delete']
  }
  return isNullable ? ['_connect', '_create', '_update', '_disconnect', '_delete'] : ['_update', '_delete']
}

function parseOperation(
  relation: RelationField,
  value: unknown,
  known: readonly Kind[],
  place: string,
): RelationOperation {
  const [[name, content] = [''], ...others] = Object.entries(parseBody(value, place))
  if (name === '' || others.length > 0) throw queryFault(place, 'must hold one operation')
  const kind = known.find((one) => one === name)
  if (kind === undefined)
    throw queryFault(
      `${place}.${name.slice(0, 100)}`,
      `is not an operation of this relation here${whatIsKnown(name, known)}`,
    )
  const at = `${place}.${kind}`
  const body = parseBody(content, at)
  switch (kind) {
    case '_connect':
      return { kind, keys: targets(relation, body, { one: 'key', many: 'keys', place: at }) }
    case '_create':
      return { kind, items: targets(relation, body, { one: 'data', many: 'data', place: at }) }
    case '_update':
      refuseUnknown(body, ['data', 'filter'], at)
      return {
        kind,
        data: { body: parseBody(body.data, `${at}.data`), place: `${at}.data` },
        filter: filterOf(body, `${at}.filter`),
        place: `${at}.filter`,
      }
    case '_disconnect':
    case '_delete':
      refuseUnknown(body, kind === '_disconnect' && !relation.isList ? [] : ['filter'], at)
      return { kind, filter: filterOf(body, `${at}.filter`), place: `${at}.filter` }
  }
}

function targets(
  relation: RelationField,
  body: Body,
  { one, many, place }: { readonly one: string; readonly many: string; readonly place: string },
): readonly Placed[] {
  const name = relation.isList ? many : one
  refuseUnknown(body, [name], place)
  const at = `${place}.${name}`
  const value = body[name]
  if (!relation.isList) return [{ body: parseBody(value, at), place: at }]
  if (!Array.isArray(value)) throw queryFault(at, 'must be an array')
  refuseTooMany(value, at)
  return value.map((item, index) => ({ body: parseBody(item, `${at}[${index}]`), place: `${at}[${index}]` }))
}

/** Each is a change at least. */
function refuseTooMany(list: readonly unknown[], place: string): void {
  if (list.length > MAX_CHANGES) throw queryFault(place, `has more than ${MAX_CHANGES} elements`)
}

function refuseUnknown(body: Body, known: readonly string[], place: string): void {
  for (const name of Object.keys(body)) {
    if (known.includes(name)) continue
    throw queryFault(`${place}.${name.slice(0, 100)}`, `is not known here${whatIsKnown(name, known)}`)
  }
}

function filterOf({ filter }: Body, place: string): RawFilter | undefined {
  if (filter === undefined) return undefined
  const excess = beyondBounds(filter, queryBounds)
  if (excess !== undefined) throw queryFault(place, excess)
  return { form: 'json', value: filter }
}
