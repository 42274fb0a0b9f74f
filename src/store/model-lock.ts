/**
 * Statements by which the holder of a workspace's migration lock writes the model: each fails its batch unless the
 * model is of the version that was read and no later holder has written.
 */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { isUnmet } from './failed-batch.ts'
import { param, type Sql, sql, statement } from './statements.ts'

/** The number of a holder of the lock, or how to draw it. */
export type Fence = { readonly number: Sql }

export type ReadModel = { readonly workspaceId: string; readonly version: number }

/** The number that the lock gave. */
export function givenFence(number: number): Fence {
  return { number: sql`${param(String(number))}::bigint` }
}

/** A number that the statement draws itself, higher than every earlier one. */
export const freshFence: Fence = { number: sql`nextval('service.fence')` }

/** Draws the number once, so that several batches can have it. */
export async function drawFence(database: SqlDriver, fence: Fence): Promise<Fence> {
  const [[own] = []] = await database.query(statement(sql`select ${fence.number}`))
  return { number: sql`${param(own ?? null)}::bigint` }
}

/** Takes the next version of the model. */
export function takeLock(read: ReadModel, { number }: Fence): Statement {
  return requireLock(read, sql`model_version = model_version + 1, fence = ${number}`, sql`fence < ${number}`)
}

/** Like `takeLock`, before external work: holds the lock until a later holder takes it, and leaves the version. */
export function reserveLock(read: ReadModel, { number }: Fence): Statement {
  return requireLock(read, sql`fence = ${number}`, sql`fence < ${number}`)
}

/** Takes the next version after `reserveLock` with the same fence. */
export function keepLock(read: ReadModel, { number }: Fence): Statement {
  return requireLock(read, sql`model_version = model_version + 1`, sql`fence = ${number}`)
}

/** Runs a batch with one of the statements above. Returns false if the lock was lost, and nothing was written. */
export async function batchUnderLock(database: SqlDriver, statements: readonly Statement[]): Promise<boolean> {
  try {
    await database.batch(statements)
    return true
  } catch (cause) {
    if (isUnmet(cause)) return false
    throw cause
  }
}

function requireLock({ workspaceId, version }: ReadModel, settings: Sql, holds: Sql): Statement {
  return statement(sql`
    with turn as (
      update service.workspace set ${settings}
      where id = ${param(workspaceId)}::uuid and model_version = ${param(String(version))}::bigint and ${holds}
      returning 1)
    select 1 / count(*) from turn`)
}
