/** Whose address counts as proven after the upgrade to the schema that asks for it (docs/decisions/045). */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports.ts'
import { installSchema } from '../../src/store/installation.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>
let client: pg.Client
let driver: SqlDriver

beforeAll(async () => {
  postgres = await startPostgres()
  client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  driver = openPostgres({ connectionString: postgres.url })
  await installSchema(driver)
})

afterAll(async () => {
  await driver?.close()
  await client?.end()
  await postgres?.close()
})

it('takes the accounts of the set-up for proven, by the audit log or as the first, and nobody else who was not', async () => {
  const first = await account({ isAdministrator: true, age: '9 days' })
  const madeBySetUp = await account({ isAdministrator: false, age: '3 days' })
  await account({ isAdministrator: true, age: '2 days' })
  const invited = await account({ isAdministrator: false, age: '1 day' })
  await account({ isAdministrator: false, age: '1 day', ownerId: first })
  await entry('user.create.v1', { target: madeBySetUp, payload: { isAdministrator: true } })
  await entry('user.create.v1', { target: invited, payload: {} })

  await upgrade()

  expect(await proven()).toEqual([first, madeBySetUp].sort())
})

it('does not take the first account for one of the set-up that came by invitation', async () => {
  await client.query('delete from service."user"')
  const left = await account({ isAdministrator: true, age: '9 days' })
  await entry('invitation.accept.v1', { actor: left, payload: {} })

  await upgrade()

  expect(await proven()).toEqual([])
})

/** Back to before, and forth again. */
async function upgrade(): Promise<void> {
  await client.query('alter table service.invitation drop column mail_token_hash')
  await client.query('delete from service.migration where number = 11')
  await installSchema(driver)
}

async function proven(): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    'select id from service."user" where email_proven_at is not null order by id::text',
  )
  return rows.map(({ id }) => id)
}

type Account = { readonly isAdministrator: boolean; readonly age: string; readonly ownerId?: string }

async function account({ isAdministrator, age, ownerId }: Account): Promise<string> {
  const id = randomUUID()
  await client.query(
    `insert into service."user" (id, email, is_administrator, is_service, service_account_owner_id, created_at)
    values ($1, $2, $3, $4, $5, now() - $6::interval)`,
    [id, ownerId === undefined ? `${id}@example.com` : null, isAdministrator, ownerId !== undefined, ownerId, age],
  )
  return id
}

type Entry = { readonly actor?: string; readonly target?: string; readonly payload: object }

async function entry(action: string, { actor, target, payload }: Entry): Promise<void> {
  await client.query(
    `insert into service.audit_entry (id, action, label, outcome, actor_type, actor_id, target_type, target_id, payload)
    values ($1, $2, 'A label', 'success', 'user', $3, 'user', $4, $5)`,
    [randomUUID(), action, actor, target, payload],
  )
}
