/** docs/contract.md#audit-log: entries of the audit log stay as they were written, until their time is over. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { startNode } from '../../handlers/node.ts'
import { startPostgres } from '../support/servers/postgres.ts'

const postgres = await startPostgres()
const client = new pg.Client({ connectionString: postgres.url })
const environment = {
  SERVICE_DATABASE_URL: postgres.url,
  SERVICE_SECRET: randomBytes(32).toString('base64url'),
  SERVICE_ADMIN__EMAIL: 'admin@example.com',
  SERVICE_ADMIN__PASSWORD: 'long enough to be one',
  PORT: '0',
}
await start({})
await client.connect()

afterAll(async () => {
  await client.end()
  await postgres.close()
})

it('records that the service made the administrator that the environment names', async () => {
  const { rows } = await client.query('select action, actor_type, outcome from service.audit_entry')

  expect(rows).toEqual([{ action: 'user.create.v1', actor_type: 'system', outcome: 'success' }])
})

it('lets nobody change an entry', async () => {
  await expect(client.query(`update service.audit_entry set outcome = 'failure'`)).rejects.toThrow('never changed')
})

it('deletes entries at a start once they are older than the retention, and no others', async () => {
  await start({ SERVICE_AUDIT__RETENTION: '1h' })
  const kept = await count()
  await start({ SERVICE_AUDIT__RETENTION: '1ms' })
  const left = await count()

  expect([kept, left]).toEqual(['1', '0'])
})

async function start(more: Record<string, string>): Promise<void> {
  const server = await startNode({ environment: { ...environment, ...more }, observe: () => {} })
  await server.close()
}

async function count(): Promise<string> {
  const { rows } = await client.query('select count(*) from service.audit_entry')
  return rows[0].count
}
