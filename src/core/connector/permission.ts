/**
 * Permission items of connectors (docs/contract.md#connector-permissions): the syntax and normal form of targets, how
 * the lists of the manifest and of preflight are merged and compared, and which connections a target permits. A target
 * in normal form has no `net:`; two targets are equal exactly where their normal forms are.
 */
import * as z from 'zod'
import { lazily } from '../lazily.ts'
import { PREFIX, parseTarget } from './target.ts'

/** As sent, and as returned in `meta.permissions`: `permission` in normal form, `net:` included. */
export type Permission = { readonly permission: string; readonly reason: string }

/** One item as it stands in a body or a manifest: exactly these two fields. */
export const permissionSchema = lazily(() =>
  z.strictObject({
    permission: z.string().transform((text, context): string => {
      const reading = parseTarget(text)
      if ('target' in reading) return PREFIX + reading.target
      context.addIssue({ code: 'custom', message: reading.fault })
      return z.NEVER
    }),
    reason: z.string().max(1_000).regex(/\S/, 'must say why the connection is needed'),
  }),
)

/** Of one data source. */
export const MOST_PERMISSIONS = 1_000

export const permissionsSchema = lazily(() => z.array(permissionSchema()).max(MOST_PERMISSIONS))

/** Merges lists by target. The first reason for a target wins, so the manifest's list goes before that of preflight. */
export function mergePermissions(...lists: readonly (readonly Permission[])[]): readonly Permission[] {
  const united = new Map<string, Permission>()
  for (const item of lists.flat()) {
    if (!united.has(item.permission)) united.set(item.permission, item)
  }
  return [...united.values()]
}

/**
 * Returns true if both lists have the same targets as written. Reasons are not compared, nor which addresses a target
 * covers.
 */
export function sameTargets(one: readonly Permission[], other: readonly Permission[]): boolean {
  const targets = new Set(one.map(({ permission }) => permission))
  const others = new Set(other.map(({ permission }) => permission))
  return targets.size === others.size && [...targets].every((target) => others.has(target))
}

/** The targets of a list in normal form, without `net:`, for the sandbox. */
export function targetsOf(permissions: readonly Permission[]): readonly string[] {
  return [...new Set(permissions.map(({ permission }) => permission.slice(PREFIX.length)))]
}
