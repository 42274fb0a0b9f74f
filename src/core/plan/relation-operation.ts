/**
 * Parses the value of a relation in a body into operations (docs/contract.md#nested-writes): an object for a to-one
 * relation of a new item, an array otherwise. Decides which operations each kind of relation has.
 */

import { type Viewer, visibility } from '../access/access.ts'
import { exceedsLimits } from '../json-limits.ts'
import { isObject } from '../json-object.ts'
import { shortName } from '../message-text.ts'
import type { RelationField } from '../model/model.ts'
import { listKnown } from '../nearest.ts'
import { queryBounds } from '../query/brackets.ts'
import { queryFault, type RawFilter } from '../query/parse.ts'
import { unlinking } from './cells.ts'
import { type Body, parseBody } from './values.ts'

export type RelationOperation =
  | { readonly kind: '_connect'; readonly keys: readonly LocatedBody[]; readonly path: string }
  | { readonly kind: '_create'; readonly items: readonly LocatedBody[]; readonly path: string }
  | {
      readonly kind: '_update'
      readonly data: LocatedBody
      readonly filter: RawFilter | undefined
      readonly path: string
    }
  | { readonly kind: '_disconnect' | '_delete'; readonly filter: RawFilter | undefined; readonly path: string }

/** An object of the body and its path. */
export type LocatedBody = { readonly body: Body; readonly path: string }

/** Maximum per request, all nested changes included. */
export const MAX_CHANGES = 20_000

export type ParentAction = 'create' | 'update'

export function parseRelationOperations(
  relation: RelationField,
  value: unknown,
  {
    viewer,
    parentAction,
    path,
  }: { readonly viewer: Viewer; readonly parentAction: ParentAction; readonly path: string },
): readonly RelationOperation[] {
  const known = knownOperations(relation, parentAction)
  if (parentAction === 'create' && !relation.isList) {
    if (Array.isArray(value)) throw queryFault(path, 'must be one object such as {"_connect": {"key": {…}}}')
    return [parseOperation(relation, value, { viewer, known, path })]
  }
  if (!Array.isArray(value)) throw queryFault(path, 'must be an array of operations such as {"_connect": {…}}')
  refuseTooMany(value, path)
  return value.map((one, index) => parseOperation(relation, one, { viewer, known, path: `${path}[${index}]` }))
}

export type Kind = RelationOperation['kind']

/** The operations of a kind of relation (the table of docs/contract.md#nested-writes). */
export function knownOperations(relation: RelationField, parentAction: ParentAction): readonly Kind[] {
  if (parentAction === 'create') return ['_connect', '_create']
  if (relation.through !== undefined) return ['_connect', '_create', '_disconnect']
  const isKey = relation.joins.some(({ own }) => relation.collection.primaryKey.includes(own))
  if (relation.isForward && isKey) return ['_update']
  if (unlinking(relation).length > 0) return ['_connect', '_create', '_update', '_disconnect', '_delete']
  if (relation.isForward) return ['_connect', '_create', '_update']
  return relation.isList ? ['_connect', '_create', '_update', '_delete'] : ['_update', '_delete']
}

function parseOperation(
  relation: RelationField,
  value: unknown,
  { viewer, known, path }: { readonly viewer: Viewer; readonly known: readonly Kind[]; readonly path: string },
): RelationOperation {
  const [[name, content] = [''], ...others] = Object.entries(parseBody(value, path))
  if (name === '' || others.length > 0) throw queryFault(path, 'must hold one operation')
  const kind = known.find((one) => one === name)
  if (kind === undefined)
    throw queryFault(`${path}.${shortName(name)}`, `is not an operation of this relation here${listKnown(name, known)}`)
  const at = `${path}.${kind}`
  const body = parseBody(content, at)
  switch (kind) {
    case '_connect':
      requireKeys(relation, body, { viewer, path: at })
      return { kind, keys: targets(relation, body, { one: 'key', many: 'keys', path: at }), path: at }
    case '_create':
      return { kind, items: targets(relation, body, { one: 'data', many: 'data', path: at }), path: at }
    case '_update':
      refuseUnknown(body, ['data', 'filter'], at)
      return {
        kind,
        data: { body: parseBody(body.data, `${at}.data`), path: `${at}.data` },
        filter: filterOf(body, `${at}.filter`),
        path: `${at}.filter`,
      }
    case '_disconnect':
    case '_delete':
      refuseUnknown(body, kind === '_disconnect' && !relation.isList ? [] : ['filter'], at)
      return { kind, filter: filterOf(body, `${at}.filter`), path: `${at}.filter` }
  }
}

function targets(
  relation: RelationField,
  body: Body,
  { one, many, path }: { readonly one: string; readonly many: string; readonly path: string },
): readonly LocatedBody[] {
  const name = relation.isList ? many : one
  refuseUnknown(body, [name], path)
  const at = `${path}.${name}`
  const value = body[name]
  if (!relation.isList) return [{ body: parseBody(value, at), path: at }]
  if (!Array.isArray(value)) throw queryFault(at, 'must be an array')
  refuseTooMany(value, at)
  return value.map((item, index) => ({ body: parseBody(item, `${at}[${index}]`), path: `${at}[${index}]` }))
}

/** Throws 422 for a key that is not an object, with the key fields that the caller may read. */
function requireKeys(
  { target }: RelationField,
  { key, keys }: Body,
  { viewer, path }: { readonly viewer: Viewer; readonly path: string },
): void {
  const place = Array.isArray(keys) ? `${path}.keys[${keys.findIndex((one) => !isObject(one))}]` : `${path}.key`
  const isKey = Array.isArray(keys) ? keys.every(isObject) : key === undefined || isObject(key)
  if (isKey) return
  const access = viewer.accessTo(target, 'read')
  const seen = target.primaryKey.filter((field) => access.kind === 'granted' && visibility(access, field) !== undefined)
  const isShown = seen.length > 0 && seen.length === target.primaryKey.length
  const such = isShown ? `, such as {${seen.map(({ apiName }) => `"${apiName}": …`).join(', ')}}` : ''
  throw queryFault(place, `must be an object of the fields of a unique key${such}`)
}

/** Each element is at least one change. */
function refuseTooMany(list: readonly unknown[], path: string): void {
  if (list.length > MAX_CHANGES) throw queryFault(path, `has more than ${MAX_CHANGES} elements`)
}

function refuseUnknown(body: Body, known: readonly string[], path: string): void {
  for (const name of Object.keys(body)) {
    if (known.includes(name)) continue
    throw queryFault(`${path}.${shortName(name)}`, `is not allowed here${listKnown(name, known)}`)
  }
}

function filterOf({ filter }: Body, path: string): RawFilter | undefined {
  if (filter === undefined) return undefined
  const excess = exceedsLimits(filter, queryBounds)
  if (excess !== undefined) throw queryFault(path, excess)
  return { form: 'json', value: filter }
}
