/** The gateway that speaks Neon's protocol on loopback: local Workers and the tests reach their databases through it. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { openNeon } from '../../src/platform/drivers/neon.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { startPostgres } from '../support/servers/postgres.ts'

it('closes while a client keeps a connection on which it has sent nothing', async () => {
  const gateway = await startNeonGateway('postgres://nobody@127.0.0.1:1/none')
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const closed = once(socket, 'close')

  await gateway.close()

  await closed
  expect(socket.readyState).toBe('closed')
})

it('closes while a client waits for an answer', async () => {
  const postgres = await startPostgres()
  const gateway = await startNeonGateway(postgres.url)
  const driver = openNeon({ connectionString: gateway.url })
  await driver.query({ text: 'select 1', params: [] })
  const waiting = driver.query({ text: 'select pg_advisory_lock(1), pg_sleep(0.5)', params: [] })
  const refused = expect(waiting).rejects.toMatchObject({ state: '08000' })
  const watcher = openNeon({ connectionString: gateway.url })
  const held = { text: "select count(*) from pg_locks where locktype = 'advisory'", params: [] }
  await expect.poll(async () => (await watcher.query(held))[0]?.[0]).toBe('1')

  await gateway.close()

  await refused
  await postgres.close()
})
