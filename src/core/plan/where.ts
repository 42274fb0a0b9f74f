/** Resolves a request's filter, which can use only what its caller may read (docs/contract.md#how-policies-act). */
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
 * The filter of a write of many. One that says nothing is refused: whoever builds a filter of conditions that may be missing would
 * write all rows where all are. `{_all: true}` says that all are meant, and so does a `max`, which bounds them. Throws 422.
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
 * Whether a filter holds of every row, or of none, as far as what it compares with is empty, as where somebody searches for nothing:
 * every value holds that.
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

/** Whether that something is related says something: of lists always, else where there may be none and no more is said. */
function saysThatThereIs({ relation, filter }: Extract<Filter, { readonly kind: 'related' }>): boolean {
  return relation.isList || (relation.isNullable && filter.kind === 'all')
}

/** Whether it compares with nothing: an empty text, no elements, or an empty list or object of JSON. */
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

/** Whether no value is what it asks for, where it compares with nothing. */
function isDenied(filter: Filter): boolean {
  if (filter.kind === 'elements') return filter.negated !== (filter.quantity === 'any')
  return (filter.kind === 'match' || filter.kind === 'json') && filter.negated
}

function sayingNothing(path: string): ServiceError {
  return queryFault(path, `is required to write many items; {"${ALL}": true} says that all are meant`)
}

const ALL = '_all'

/** Brackets can only say it as a text. */
function saysAll(value: unknown, path: string): boolean {
  if (!isObject(value) || !Object.hasOwn(value, ALL)) return false
  const isAlone = Object.keys(value).length === 1
  if (isAlone && (value[ALL] === true || value[ALL] === 'true')) return true
  throw queryFault(`${path}.${ALL}`, 'must be true, and without other conditions')
}

/** The names that a viewer may ask about; throws for all others. */
function readableNames(viewer: Viewer): Omit<FieldResolver, 'variable'> {
  return {
    field: (of, name, at) => readableField(viewer, of, relatedAccess(viewer, of), name, at),
    rowsOf: (target) => relatedAccess(viewer, target).rows,
    linksOf: (relation) => linkRows(viewer, relation) ?? none,
  }
}
