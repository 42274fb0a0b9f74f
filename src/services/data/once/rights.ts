/**
 * Records the rights that a write and its answer depend on: the accesses that planning reads. Their digest decides whether a
 * stored answer may still be returned.
 */
import type { Access, Granted, Viewer } from '../../../core/access/access.ts'
import { filterText } from '../../../core/query/filter.ts'
import { sha256Hex } from '../../caller/digest.ts'

export type WatchedRights = {
  /** Records the accesses that are read. */
  readonly viewer: Viewer
  /** Digest of all accesses that were read so far. */
  readonly digest: () => Promise<string>
  /** True if the caller's read rights depend on the rows, which others may change. */
  readonly readsByRow: () => boolean
}

export type WatchRights = (viewer: Viewer) => WatchedRights

export const watched: WatchRights = (viewer) => {
  const decisions = new Map<string, Access>()
  let digested: { readonly size: number; readonly digest: Promise<string> } | undefined
  const digest = () =>
    sha256Hex(
      [...decisions]
        .map(([name, access]) => `${name} ${accessText(access)}`)
        .sort()
        .join('\n'),
    )
  return {
    viewer: {
      ...viewer,
      accessTo(collection, action) {
        const access = viewer.accessTo(collection, action)
        decisions.set(`${collection.id} ${action}`, access)
        return access
      },
    },
    digest() {
      if (digested?.size !== decisions.size) digested = { size: decisions.size, digest: digest() }
      return digested.digest
    },
    readsByRow: () => [...decisions].some(([name, access]) => name.endsWith(' read') && !isOfAllRows(access)),
  }
}

function accessText(access: Access): string {
  if (access.kind === 'denied') return 'denied'
  const grants = access.grants.map(({ rows, fields, check, validation }) => {
    const names = fields === 'every' ? fields : [...fields].sort().join()
    return JSON.stringify([filterText(rows), names, check && filterText(check), filterText(validation)])
  })
  return grants.sort().join(' ')
}

function isOfAllRows(access: Access): boolean {
  return access.kind === 'denied' || !access.grants.some(isOfSome) || access.grants.some(isOfEverything)
}

function isOfSome({ rows }: Granted['grants'][number]): boolean {
  return rows.kind !== 'all'
}

function isOfEverything({ rows, fields }: Granted['grants'][number]): boolean {
  return rows.kind === 'all' && fields === 'every'
}
