/**
 * Asks the databases of a migration whether it can succeed (docs/contract.md#all-or-nothing): a dry run everything, the
 * migration before its first statement what could not be taken back. The rows of one that is a single transaction are
 * asked for only once it has failed.
 */
import type { ServiceError } from '../../core/error.ts'
import { obstacleError } from '../../core/migration/ddl-error.ts'
import type { SourceChange } from '../../core/sql/change.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { compileCounts, type Obstacle, obstaclesOf } from '../../core/sql/obstacles.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { SourceDatabase } from '../../sources/provider.ts'

/** Questions per statement. */
const MAX_QUESTIONS = 50

type Planned = { readonly database: SourceDatabase; readonly changes: readonly SourceChange[] }

/** Throws the migration's error for the first operation that something stands in the way of. */
export async function requireNoObstacles(
  migrations: readonly Planned[],
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<void> {
  const [only, ...more] = migrations
  const isTransaction = only !== undefined && more.length === 0 && only.database.dialect.ddl.lock.isTransaction
  for (const migration of migrations) {
    const error = await findObstacle(migration, { isOfCatalog: isTransaction && !isDryRun })
    if (error !== undefined) throw error
  }
}

/** Returns the migration's error for what stands in its way; undefined if nothing is known to. */
export async function findObstacle(
  { database, changes }: Planned,
  { isOfCatalog }: { readonly isOfCatalog: boolean },
): Promise<ServiceError | undefined> {
  const all = await inParts(obstaclesOf(changes, database.dialect))
  const obstacles = isOfCatalog ? all.filter(({ cause }) => cause.kind === 'catalog') : all
  for (let at = 0; at < obstacles.length; at += MAX_QUESTIONS) {
    const error = await ask(database, obstacles.slice(at, at + MAX_QUESTIONS))
    if (error !== undefined) return error
  }
  return undefined
}

async function ask(database: SourceDatabase, obstacles: readonly Obstacle[]): Promise<ServiceError | undefined> {
  try {
    return await askTogether(database, obstacles)
  } catch (cause) {
    if (!(cause instanceof SqlFault)) throw cause
  }
  for (const obstacle of obstacles) {
    const error = await askTogether(database, [obstacle]).catch(unlessFault)
    if (error !== undefined) return error
  }
  return undefined
}

async function askTogether({ driver, dialect }: SourceDatabase, obstacles: readonly Obstacle[]) {
  const [row = []] = await driver.query(compileCounts(obstacles, dialect))
  for (const [at, obstacle] of obstacles.entries()) {
    const error = obstacleError(obstacle, row[at] ?? null)
    if (error !== undefined) return error
  }
  return undefined
}

/** What cannot be asked shows when the migration runs. */
function unlessFault(error: unknown): undefined {
  if (!(error instanceof SqlFault)) throw error
}
