/** A request's filter sees what its caller may read, and nothing else (docs/contract.md#how-policies-act). */
import type { Viewer } from '../access/access.ts'
import type { Collection } from '../model/model.ts'
import { all, type Filter } from '../query/filter.ts'
import type { RawFilter } from '../query/parse.ts'
import { resolveFilter } from '../query/resolve.ts'
import { accessBeyond, readableField } from './names.ts'

/** `place` is where the filter stands in the request, for messages. */
export function requestFilter(
  viewer: Viewer,
  collection: Collection,
  raw: RawFilter | undefined,
  place: string,
): Filter {
  if (raw === undefined) return all
  return resolveFilter(raw, {
    collection,
    place,
    sight: {
      field: (of, name, at) => readableField(viewer, of, accessBeyond(viewer, of), name, at),
      rowsOf: (target) => accessBeyond(viewer, target).rows,
      variable: () => undefined,
    },
  })
}
