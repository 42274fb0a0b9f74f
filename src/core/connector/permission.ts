/**
 * Permission items of connectors (docs/contract.md#connector-permissions): what a target may look like, its one normal
 * form, how the manifest's set and preflight's are united and compared, and which connections a target lets through. A
 * target in normal form is a text without `net:`; two targets are the same exactly where these texts are.
 */
import * as z from 'zod'
import { lazily } from '../lazily.ts'
import { PREFIX, parseTarget } from './target.ts'

/** As sent, and as answered in `meta.permissions`: `permission` in normal form, `net:` included. */
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

export const permissionsSchema = lazily(() => z.array(permissionSchema()).max(1_000))

/**
 * All items of the lists under their first reason: a target listed twice keeps its first, and the list of the manifest
 * comes before preflight's, so that its reason wins.
 */
export function mergePermissions(...lists: readonly (readonly Permission[])[]): readonly Permission[] {
  const united = new Map<string, Permission>()
  for (const item of lists.flat()) {
    if (!united.has(item.permission)) united.set(item.permission, item)
  }
  return [...united.values()]
}

/** Whether both lists name the same targets as written; reasons are never compared, nor what a target covers. */
export function sameTargets(one: readonly Permission[], other: readonly Permission[]): boolean {
  const targets = new Set(one.map(({ permission }) => permission))
  const others = new Set(other.map(({ permission }) => permission))
  return targets.size === others.size && [...targets].every((target) => others.has(target))
}

/** The targets of a list in normal form, without `net:`, as a sandbox is given them. */
export function targetsOf(permissions: readonly Permission[]): readonly string[] {
  return [...new Set(permissions.map(({ permission }) => permission.slice(PREFIX.length)))]
}
