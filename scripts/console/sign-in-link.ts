/** The one-time link by which a local run signs its administrator in: written into the embedded database, by no route. */
import type { Duplex } from 'node:stream'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { newToken } from '../../src/services/accounts/one-time-tokens.ts'
import { sha256Hex } from '../../src/services/caller/digest.ts'
import { replaceSignInLinks } from '../../src/store/sign-in-links.ts'

/** Milliseconds for which a link counts. */
const LIFETIME = 600_000

/**
 * The address that signs the administrator in, once; its secret is in the fragment, which no server is sent. Undefined where
 * there is no such administrator.
 */
export async function makeSignInLink(database: SqlDriver, url: string, email: string): Promise<string | undefined> {
  const token = newToken()
  const link = { tokenHash: await sha256Hex(token), email, expiresAt: Date.now() + LIFETIME }
  return (await replaceSignInLinks(database, link)) ? `${url}/#sign-in=${token}` : undefined
}

/** The same over a connection of its own to the embedded database. */
export async function signInLinkOf(connect: () => Duplex, url: string, email: string): Promise<string | undefined> {
  const database = openPostgres({ stream: connect, max: 1 })
  try {
    return await makeSignInLink(database, url, email)
  } finally {
    await database.close()
  }
}
