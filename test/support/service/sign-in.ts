/**
 * Signing in and passwords on a real database, without HTTP: with what they need of the ports and nothing else, hashes at
 * a lower cost, and mails that are kept.
 */
import { randomBytes } from 'node:crypto'
import { readConfig } from '../../../src/config.ts'
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import { timeOrderedIds } from '../../../src/platform/ids.ts'
import { openVault } from '../../../src/platform/vault.ts'
import type { Mail, Passwords as PasswordPort } from '../../../src/ports/accounts.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import type { Ports } from '../../../src/ports/ports.ts'
import { createPasswords, type Passwords } from '../../../src/services/accounts/passwords.ts'
import { createSessions, type Sessions } from '../../../src/services/accounts/sessions.ts'
import { createThrottle } from '../../../src/services/caller/throttle.ts'
import { openTokens } from '../../../src/services/caller/tokens.ts'
import { installInstance } from '../../../src/services/instance/lifecycle.ts'
import { startPostgres } from '../servers/postgres.ts'
import { quickHashing } from './quick-hashing.ts'

export type SignIn = {
  readonly database: SqlDriver
  readonly sessions: Sessions
  readonly passwords: Passwords
  /** All that were sent so far, once nothing is being sent any more. */
  mails(): Promise<readonly Mail[]>
  close(): Promise<void>
}

export async function openSignIn(
  variables: Readonly<Record<string, string>>,
  hashing: PasswordPort = quickHashing,
): Promise<SignIn> {
  const reading = readConfig(variables)
  if (reading.kind === 'invalid') throw new Error(reading.faults.join())
  const { config } = reading
  const postgres = await startPostgres()
  const database = openPostgres({ connectionString: postgres.url })
  const mails: Mail[] = []
  const sending: Promise<unknown>[] = []
  const ports = {
    database,
    workspaces: { changed: async () => {} },
    clock: { now: () => Date.now() },
    ids: timeOrderedIds,
    passwords: hashing,
    vault: openVault(randomBytes(32).toString('base64url')),
    mailer: { send: async (mail: Mail) => void mails.push(mail) },
    background: (work: Promise<unknown>) => void sending.push(work),
  } as unknown as Ports
  await installInstance(ports, config)
  const throttle = createThrottle({ ports, config })
  const tokens = await openTokens({ ports, configured: config.SERVICE_AUTH__SIGNING_KEY })
  return {
    database,
    sessions: createSessions({ ports, config, tokens, throttle }),
    passwords: createPasswords({ ports, config, throttle }),
    async mails() {
      await Promise.all(sending.splice(0))
      return mails
    },
    async close() {
      await database.close()
      await postgres.close()
    },
  }
}
