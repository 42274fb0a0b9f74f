/**
 * Asks the databases of a migration whether it can succeed (docs/contract.md#all-or-nothing). A dry run checks everything. A
 * migration checks before its first statement what could not be undone; a migration that is one transaction checks rows only
 * after it has failed.
 */
import type { ServiceError } from '../../core/error.ts'
import { catalogError, isObstructed, rowsInTheWay } from '../../core/migration/ddl-error.ts'
import type { SourceChange } from '../../core/sql/ddl/change.ts'
import { compileCounts, type Obstacle, obstaclesOf, type ReadColumns } from '../../core/sql/ddl/obstacles.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { SourceDatabase } from '../../sources/provider.ts'

/** Questions per statement. */
const MAX_QUESTIONS = 50

type Planned = {
  readonly database: SourceDatabase
  readonly changes: readonly SourceChange[]
  /** True if the caller can read these columns in every row; other callers learn only that rows obstruct the migration. */
  readonly isRead: (reads: readonly ReadColumns[]) => boolean
}

/** Throws the migration's error for the first operation with an obstacle. */
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

/** Returns the migration's error for its first obstacle; undefined if none is known. */
export async function findObstacle(
  planned: Planned,
  { isOfCatalog }: { readonly isOfCatalog: boolean },
): Promise<ServiceError | undefined> {
  const { database, changes } = planned
  const all = await inParts(obstaclesOf(changes, database.dialect))
  const obstacles = isOfCatalog ? all.filter(({ cause }) => cause.kind === 'catalog') : all
  for (let at = 0; at < obstacles.length; at += MAX_QUESTIONS) {
    const error = await ask(planned, obstacles.slice(at, at + MAX_QUESTIONS))
    if (error !== undefined) return error
  }
  return undefined
}

async function ask(planned: Planned, obstacles: readonly Obstacle[]): Promise<ServiceError | undefined> {
  try {
    return await askTogether(planned, obstacles)
  } catch (cause) {
    if (!(cause instanceof SqlFault)) throw cause
  }
  for (const obstacle of obstacles) {
    const error = await askTogether(planned, [obstacle]).catch((fault: unknown) => refusalOf(planned, obstacle, fault))
    if (error !== undefined) return error
  }
  return undefined
}

async function askTogether(planned: Planned, obstacles: readonly Obstacle[]): Promise<ServiceError | undefined> {
  const { driver, dialect } = planned.database
  const [row = []] = await driver.query(compileCounts(obstacles, dialect))
  for (const [at, obstacle] of obstacles.entries()) {
    const answer = row[at] ?? null
    const rows = Number(answer)
    const isInData = obstacle.cause.kind === 'data' && rows > 0
    const error = isInData ? inTheWay(planned, obstacle, { rows }) : catalogError(obstacle, answer)
    if (error !== undefined) return error
  }
  return undefined
}

/** Ignores a count that cannot run: the migration itself reports the fault. */
async function refusalOf(planned: Planned, obstacle: Obstacle, fault: unknown): Promise<ServiceError | undefined> {
  if (!(fault instanceof SqlFault)) throw fault
  if (!isObstructed(obstacle, fault, planned.database.dialect)) return undefined
  return inTheWay(planned, obstacle, await counted(planned, obstacle))
}

/** Returns how many rows made a trial fail, if the database can count them and the caller may know. */
async function counted({ database, isRead }: Planned, obstacle: Obstacle): Promise<{ readonly rows?: number }> {
  const { trial, reads } = obstacle
  if (trial?.rows === undefined || !isRead(reads)) return {}
  const statement = compileCounts([{ ...obstacle, count: trial.rows }], database.dialect)
  const [row] = await database.driver.query(statement).catch((fault: unknown) => {
    if (fault instanceof SqlFault) return []
    throw fault
  })
  return row === undefined ? {} : { rows: Number(row[0]) }
}

function inTheWay({ isRead }: Planned, obstacle: Obstacle, found: { readonly rows?: number }) {
  return rowsInTheWay(obstacle, isRead(obstacle.reads) ? found : 'hidden')
}
