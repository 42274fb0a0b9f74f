/** Resolves a request's filter, which can only use what its caller may read (docs/contract.md#how-policies-act). */
import { linkRows, type Viewer } from '../access/access.ts'
import type { ServiceError } from '../error.ts'
import { isObject } from '../json-object.ts'
import type { Collection } from '../model/model.ts'
import { all, type Filter, none } from '../query/filter.ts'
import { queryFault, type RawFilter } from '../query/parse.ts'
import { type FieldResolver, resolveFilter } from '../query/resolve.ts'
import { readableField, relatedAccess } from './names.ts'

/** `path` is the position of the filter in the request, for messages. */
export function requestFilter(
  viewer: Viewer,
  collection: Collection,
  raw: RawFilter | undefined,
  path: string,
): Filter {
  if (raw === undefined) return all
  return resolveFilter(raw, { collection, path, resolver: { ...readableNames(viewer), variable: () => undefined } })
}

/**
 * The filter of a write of many. Refuses an empty filter, because a client that omits missing conditions could write all rows
 * by accident. `{_all: true}`, or a `max`, confirms that all are meant. Throws 422.
 */
export function boundingFilter(
  viewer: Viewer,
  collection: Collection,
  bound: { readonly filter: RawFilter | undefined; readonly path: string; readonly max?: number | undefined },
): Filter {
  const { filter: raw, path, max } = bound
  if (raw === undefined) throw sayingNothing(path)
  if (saysAll(raw.value, path)) return all
  const filter = requestFilter(viewer, collection, raw, path)
  if (max === undefined && isAlways(true, filter)) throw sayingNothing(path)
  return filter
}

/**
 * True if a filter holds for every row (or for none, by `holds`), because its operands are empty, such as an empty search text.
 */
function isAlways(holds: boolean, filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return holds
    case 'none':
      return !holds
    case 'and':
    case 'or': {
      const needsEach = (filter.kind === 'and') === holds
      const isIt = (one: Filter) => isAlways(holds, one)
      return needsEach ? filter.filters.every(isIt) : filter.filters.some(isIt)
    }
    case 'not':
      return isAlways(!holds, filter.filter)
    case 'isTrue':
      return isAlways(holds, filter.filter)
    case 'related':
      if (!holds) return filter.quantifier === 'some' && isAlways(false, filter.filter)
      if (filter.quantifier === 'none') return isAlways(false, filter.filter)
      return (filter.quantifier === 'every' || !saysThatThereIs(filter)) && isAlways(true, filter.filter)
    default:
      return isEmpty(filter) && isDenied(filter) !== holds
  }
}

/** True if a related row is a real condition: for lists always, else if it may be missing and is not tested further. */
function saysThatThereIs({ relation, filter }: Extract<Filter, { readonly kind: 'related' }>): boolean {
  return relation.isList || (relation.isNullable && filter.kind === 'all')
}

/** True if the operand is empty: an empty text, no elements, or an empty list or object of JSON. */
function isEmpty(filter: Filter): boolean {
  switch (filter.kind) {
    case 'match':
      return filter.operand === ''
    case 'elements':
      return filter.operands.length === 0
    case 'json':
      return filter.test.kind === 'contains' && /^[{[]\s*[}\]]$/.test(filter.test.operand)
    default:
      return false
  }
}

/** True if a test with an empty operand matches no value. */
function isDenied(filter: Filter): boolean {
  if (filter.kind === 'elements') return filter.negated !== (filter.quantity === 'any')
  return (filter.kind === 'match' || filter.kind === 'json') && filter.negated
}

function sayingNothing(path: string): ServiceError {
  return queryFault(path, `is required to write many items; {"${ALL}": true} says that all are meant`)
}

const ALL = '_all'

/** In brackets, the value can only be text. */
function saysAll(value: unknown, path: string): boolean {
  if (!isObject(value) || !Object.hasOwn(value, ALL)) return false
  const isAlone = Object.keys(value).length === 1
  if (isAlone && (value[ALL] === true || value[ALL] === 'true')) return true
  throw queryFault(`${path}.${ALL}`, 'must be true, and without other conditions')
}

/** The names that a viewer may use in filters; throws for all others. */
function readableNames(viewer: Viewer): Omit<FieldResolver, 'variable'> {
  return {
    field: (of, name, at) => readableField(viewer, of, relatedAccess(viewer, of), name, at),
    rowsOf: (target) => relatedAccess(viewer, target).rows,
    linksOf: (relation) => linkRows(viewer, relation) ?? none,
  }
}
