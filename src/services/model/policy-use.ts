/**
 * What a policy names cannot be deleted: migrations and the deletion of data sources check it here before they remove a
 * collection or a field.
 */
import { ServiceError } from '../../core/error.ts'
import { invalidOperation, MIGRATION_FAILED } from '../../core/migration/fault.ts'
import type { ModelRecords } from '../../core/model/model.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { SqlDriver } from '../../ports.ts'
import { assertUnusedStatement, findUses } from '../../store/policies.ts'

/** Throws, naming it, where a migration would delete a collection or field that a policy of the workspace names. */
export async function assertUnused(
  database: SqlDriver,
  workspaceId: string,
  before: ModelRecords,
  after: ModelRecords,
): Promise<void> {
  const use = await firstUse(database, workspaceId, before, after)
  if (use !== undefined)
    throw new ServiceError('unfit', MIGRATION_FAILED, { cause: invalidOperation('usedByPolicy', use) })
}

/** What a policy of the workspace names and `after` no longer has, in words; undefined where there is nothing. */
export async function firstUse(
  database: SqlDriver,
  workspaceId: string,
  before: ModelRecords,
  after: ModelRecords,
): Promise<string | undefined> {
  const gone = deleted(before, after)
  if (gone.size === 0) return undefined
  const uses = new Map(
    (await findUses(database, workspaceId, [...gone.keys()])).map(({ targetId, policy }) => [targetId, policy]),
  )
  const used = [...gone.keys()].find((id) => uses.has(id))
  return used === undefined ? undefined : `${gone.get(used)} is used by the policy ${uses.get(used)}`
}

/** The same for the migration's batch, behind the statement that takes its turn: no policy can slip in between. */
export function stillUnused(workspaceId: string, before: ModelRecords, after: ModelRecords): readonly Statement[] {
  const gone = deleted(before, after)
  return gone.size === 0 ? [] : [assertUnusedStatement(workspaceId, [...gone.keys()])]
}

/** What is in `before` and not in `after`, as messages call it, by id. */
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
