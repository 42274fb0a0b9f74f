/** docs/contract.md#credentials: what ends the sessions of an account ends those, too, that are opened at that moment. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { type Client, signIn } from '../migration/support/client.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'
import { tokenIn } from '../support/service/mailed-token.ts'

const password = 'a password of some length'
let server: TestPostgres
let database: SqlDriver
let service: InProcess
let administrator: Client
let opening: pg.Client

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  service = await openInProcess({ database, databaseUrl: server.url })
  administrator = await signIn(service.administrator, 'http://localhost', service.request)
  await administrator.workspace('shop')
  opening = new pg.Client(server.url)
  await opening.connect()
})

afterAll(async () => {
  await opening?.end()
  await service?.close()
  await database?.close()
  await server?.close()
})

it.each<[string, (account: Client, userId: string) => Promise<{ status: number }>]>([
  [
    'a change of the password',
    (account) =>
      account.send('POST', '/api/auth/password-change', { currentPassword: password, newPassword: `${password}!` }),
  ],
  ['the end of all others', (account) => account.send('DELETE', '/api/system/users/me/sessions')],
  ['a suspension', (_, userId) => administrator.send('PATCH', `/api/system/users/${userId}`, { status: 'suspended' })],
])('%s ends a session that is being opened', async (name, end) => {
  const email = `${name.replaceAll(' ', '-')}@example.com`
  const userId = await member(email)
  const account = await signIn({ email, password }, 'http://localhost', service.request)
  await signIn({ email, password }, 'http://localhost', service.request)
  // What a sign-in does, up to its end.
  await opening.query('begin')
  await opening.query('select 1 from service."user" where id = $1 for share', [userId])
  const { rows } = await opening.query(
    `insert into service.session (id, user_id, refresh_token_id, expires_at)
      values (gen_random_uuid(), $1, gen_random_uuid(), now() + interval '1 day') returning id`,
    [userId],
  )

  const ending = end(account, userId)
  await expect.poll(waiting).toBeGreaterThan(0)
  await opening.query('commit')

  expect((await ending).status).toBeOneOf([200, 204])
  const { rows: left } = await opening.query('select revoked_at from service.session where id = $1', [rows[0].id])
  expect(left[0].revoked_at).not.toBeNull()
})

async function member(email: string): Promise<string> {
  await administrator.send('POST', '/api/shop/invitations', { email, workspace_roles: [] })
  const token = tokenIn(service.mails.find(({ to }) => to === email)?.text ?? '')
  const joined = await administrator.send('POST', '/api/auth/invitations/accept', { token, password, fullName: 'A' })
  return (joined.body as { data: { id: string } }).data.id
}

/** How many statements wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await opening.query(
    `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'`,
  )
  return rows[0].count
}
