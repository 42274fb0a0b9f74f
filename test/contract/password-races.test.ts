/** Threat 15: whoever signs in with the old password while it is reset does not stay in. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openPostgres } from '../../src/platform/drivers/postgres.ts'
import { timeOrderedIds } from '../../src/platform/ids.ts'
import { createScryptPasswords } from '../../src/platform/password.ts'
import { openVault } from '../../src/platform/vault.ts'
import type { Mail, Passwords as PasswordPort, Ports, SqlDriver } from '../../src/ports.ts'
import { installInstance } from '../../src/services/lifecycle.ts'
import { createPasswords, type Passwords } from '../../src/services/passwords.ts'
import { createSessions, type Sessions } from '../../src/services/sessions.ts'
import { createThrottle } from '../../src/services/throttle.ts'
import { openTokens } from '../../src/services/tokens.ts'
import { startPostgres } from '../support/postgres.ts'

const email = 'admin@example.com'
const hashing = createScryptPasswords({ N: 2 ** 10, r: 8, p: 1 })
/** What the next comparison waits for once it has compared. */
let whileCompared = async () => {}
const passwordPort: PasswordPort = {
  hash: hashing.hash,
  async verify(password, hash) {
    const isRight = await hashing.verify(password, hash)
    const wait = whileCompared
    whileCompared = async () => {}
    await wait()
    return isRight
  },
}

let postgres: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver
let sessions: Sessions
let passwords: Passwords
const mails: Mail[] = []
const sending: Promise<unknown>[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  database = openPostgres({ connectionString: postgres.url })
  const reading = readConfig({ SERVICE_ADMIN__EMAIL: email, SERVICE_ADMIN__PASSWORD: 'the first password' })
  if (reading.kind === 'invalid') throw new Error(reading.faults.join())
  const { config } = reading
  // What passwords and sessions need of the ports.
  const ports = {
    database,
    workspaces: { changed: async () => {} },
    clock: { now: () => Date.now() },
    ids: timeOrderedIds,
    passwords: passwordPort,
    vault: openVault(randomBytes(32).toString('base64url')),
    mailer: { send: async (mail: Mail) => void mails.push(mail) },
    background: (work: Promise<unknown>) => void sending.push(work),
  } as unknown as Ports
  await installInstance(ports, config)
  const throttle = createThrottle(ports, config)
  sessions = createSessions(ports, {
    config,
    tokens: await openTokens(ports, config.SERVICE_AUTH__SIGNING_KEY),
    throttle,
  })
  passwords = createPasswords(ports, config, throttle)
})

afterAll(async () => {
  await database?.close()
  await postgres?.close()
})

it('refuses a sign-in whose password was reset after it had been compared', async () => {
  whileCompared = () => reset('the second password')

  const login = sessions.login({ email, password: 'the first password', address: '192.0.2.1' })

  await expect(login).rejects.toMatchObject({ kind: 'unauthenticated', message: 'Invalid credentials' })
})

it('refuses a change whose current password was reset after it had been compared', async () => {
  await reset('the second password')
  const [[userId = ''] = []] = await database.query({ text: 'select id from service."user"', params: [] })
  const caller = {
    kind: 'user',
    userId: userId ?? '',
    isAdministrator: true,
    credential: { kind: 'session', id: timeOrderedIds.next() },
  } as const
  whileCompared = () => reset('the third password')

  const change = passwords.change(
    caller,
    { currentPassword: 'the second password', newPassword: 'of somebody else' },
    '192.0.2.2',
  )

  await expect(change).rejects.toMatchObject({ kind: 'unauthenticated' })
  await expect(sessions.login({ email, password: 'the third password', address: '192.0.2.3' })).resolves.toBeDefined()
})

async function reset(password: string): Promise<void> {
  await passwords.requestReset(email, { address: '192.0.2.4', origin: 'http://127.0.0.1' })
  await Promise.all(sending.splice(0))
  const token = /token=([\w-]+)/.exec(mails.pop()?.text ?? '')?.[1] ?? ''
  await passwords.confirmReset({ token, password }, '192.0.2.4')
}
