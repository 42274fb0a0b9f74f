/** Resolves a request's filter, which can use only what its caller may read (docs/contract.md#how-policies-act). */
import { linkRows, type Viewer } from '../access/access.ts'
import type { Collection } from '../model/model.ts'
import { all, type Filter, none } from '../query/filter.ts'
import type { RawFilter } from '../query/parse.ts'
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

/** The names that a viewer may ask about; throws for all others. */
export function readableNames(viewer: Viewer): Omit<FieldResolver, 'variable'> {
  return {
    field: (of, name, at) => readableField(viewer, of, relatedAccess(viewer, of), name, at),
    rowsOf: (target) => relatedAccess(viewer, target).rows,
    linksOf: (relation) => linkRows(viewer, relation) ?? none,
  }
}
