/** The links of local runs, made as those make them: in the system database of the served instance. */
import { makeSignInLink } from '../../../scripts/console/sign-in-link.ts'
import { openNeon } from '../../../src/platform/drivers/neon.ts'
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import type { Served } from './served.ts'

export async function linkFor({ url, variables, platform }: Served, email: string): Promise<string | undefined> {
  return onSystem({ variables, platform }, (database) => makeSignInLink(database, url, email))
}

/** Runs `work` on the system database. */
export async function onSystem<T>(
  { variables, platform }: Pick<Served, 'variables' | 'platform'>,
  work: (database: SqlDriver) => Promise<T>,
): Promise<T> {
  const { SERVICE_DATABASE_URL: connectionString = '' } = variables
  const database =
    platform === 'node' ? openPostgres({ connectionString, max: 1 }) : openNeon({ connectionString, timeLimit: 0 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
