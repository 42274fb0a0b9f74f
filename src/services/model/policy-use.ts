/**
 * Prevents the deletion of collections and fields that policies name; used by migrations and by the deletion of data
 * sources.
 */
import { type Rights, readsPolicies } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import { invalidOperation, MIGRATION_FAILED } from '../../core/migration/fault.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { SqlDriver } from '../../ports.ts'
import { assertUnusedStatement, findUses } from '../../store/policies.ts'

/** The names, by id, of what a change of the model takes away. */
type Lost = ReadonlyMap<string, string>

/** With the rights of whoever wants it: policies are named to those who may read them. */
type Loss = { readonly lost: Lost; readonly rights: Rights }

/** Throws where a migration would delete a collection or field that a policy of the workspace names. */
export async function assertUnused(database: SqlDriver, workspaceId: string, loss: Loss): Promise<void> {
  const use = await firstUse(database, workspaceId, loss)
  if (use !== undefined)
    throw new ServiceError('unfit', MIGRATION_FAILED, { cause: invalidOperation('usedByPolicy', use) })
}

/** Describes the first collection or field that a policy names and a change takes away; undefined where there is none. */
export async function firstUse(
  database: SqlDriver,
  workspaceId: string,
  { lost, rights }: Loss,
): Promise<string | undefined> {
  if (lost.size === 0) return undefined
  const uses = new Map(
    (await findUses(database, workspaceId, [...lost.keys()])).map(({ targetId, policy }) => [targetId, policy]),
  )
  const used = [...lost.keys()].find((id) => uses.has(id))
  if (used === undefined) return undefined
  return `${lost.get(used)} is used by ${readsPolicies(rights) ? `the policy ${uses.get(used)}` : 'a policy'}`
}

/** What a policy names; which one it is is told to those who may read policies. */
export type PolicyUse = { readonly id?: string; readonly name?: string; readonly fields: readonly string[] }

/** Lists the policies that name something which is lost; a collection stands among the fields by its name. */
export async function policyUses(
  database: SqlDriver,
  workspaceId: string,
  { lost, rights }: Loss,
): Promise<readonly PolicyUse[]> {
  if (lost.size === 0) return []
  const uses = await findUses(database, workspaceId, [...lost.keys()])
  return [...Map.groupBy(uses, ({ policyId }) => policyId)].map(([id, of]) => ({
    ...(readsPolicies(rights) && { id, name: of[0]?.policy ?? '' }),
    fields: of.map(({ targetId }) => lost.get(targetId)?.replace(/^\w+ /, '') ?? ''),
  }))
}

/**
 * The same check as statements for the migration's batch, after the lock is taken, so that no policy can be saved in
 * between.
 */
export function stillUnused(workspaceId: string, lost: Lost): readonly Statement[] {
  return lost.size === 0 ? [] : [assertUnusedStatement(workspaceId, [...lost.keys()])]
}
