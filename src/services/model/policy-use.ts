/**
 * Prevents the deletion of collections and fields that policies name; used by migrations and by the deletion of data
 * sources.
 */
import { type Rights, readsPolicies } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import { invalidOperation, MIGRATION_FAILED } from '../../core/migration/fault.ts'
import type { ModelRecords } from '../../core/model/model.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { SqlDriver } from '../../ports.ts'
import { assertUnusedStatement, findUses } from '../../store/policies.ts'

/** What a change of the model makes of it, and the rights of whoever wants it: policies are named to those who may read them. */
type ModelChange = { readonly before: ModelRecords; readonly after: ModelRecords; readonly rights: Rights }

/** Throws where a migration would delete a collection or field that a policy of the workspace names. */
export async function assertUnused(database: SqlDriver, workspaceId: string, change: ModelChange): Promise<void> {
  const use = await firstUse(database, workspaceId, change)
  if (use !== undefined)
    throw new ServiceError('unfit', MIGRATION_FAILED, { cause: invalidOperation('usedByPolicy', use) })
}

/** Describes the first collection or field that a policy names and `after` lacks; undefined where there is none. */
export async function firstUse(
  database: SqlDriver,
  workspaceId: string,
  { before, after, rights }: ModelChange,
): Promise<string | undefined> {
  const gone = deleted(before, after)
  if (gone.size === 0) return undefined
  const uses = new Map(
    (await findUses(database, workspaceId, [...gone.keys()])).map(({ targetId, policy }) => [targetId, policy]),
  )
  const used = [...gone.keys()].find((id) => uses.has(id))
  if (used === undefined) return undefined
  return `${gone.get(used)} is used by ${readsPolicies(rights) ? `the policy ${uses.get(used)}` : 'a policy'}`
}

/** What a policy names; which one it is is told to those who may read policies. */
export type PolicyUse = { readonly id?: string; readonly name?: string; readonly fields: readonly string[] }

/** Lists the policies that name something which `after` lacks; a collection stands among the fields by its name. */
export async function policyUses(
  database: SqlDriver,
  workspaceId: string,
  { before, after, rights }: ModelChange,
): Promise<readonly PolicyUse[]> {
  const gone = deleted(before, after)
  if (gone.size === 0) return []
  const uses = await findUses(database, workspaceId, [...gone.keys()])
  return [...Map.groupBy(uses, ({ policyId }) => policyId)].map(([id, of]) => ({
    ...(readsPolicies(rights) && { id, name: of[0]?.policy ?? '' }),
    fields: of.map(({ targetId }) => gone.get(targetId)?.replace(/^\w+ /, '') ?? ''),
  }))
}

/**
 * The same check as statements for the migration's batch, after the lock is taken, so that no policy can be saved in
 * between.
 */
export function stillUnused(workspaceId: string, before: ModelRecords, after: ModelRecords): readonly Statement[] {
  const gone = deleted(before, after)
  return gone.size === 0 ? [] : [assertUnusedStatement(workspaceId, [...gone.keys()])]
}

/** The names, by id, of everything in `before` that is not in `after`. */
function deleted(before: ModelRecords, after: ModelRecords): ReadonlyMap<string, string> {
  const names = new Map(before.collections.map(({ id, apiName }) => [id, apiName]))
  return new Map([
    ...missingFrom(after.collections, before.collections).map(
      ({ id, apiName }) => [id, `collection ${apiName}`] as const,
    ),
    ...[
      ...missingFrom(after.primitiveFields, before.primitiveFields),
      ...missingFrom(after.relationFields, before.relationFields),
    ].map(({ id, apiName, collectionId }) => [id, `field ${names.get(collectionId)}.${apiName}`] as const),
  ])
}

function missingFrom<T extends { readonly id: string }>(after: readonly T[], before: readonly T[]): readonly T[] {
  const kept = new Set(after.map(({ id }) => id))
  return before.filter(({ id }) => !kept.has(id))
}
