/** The bare handler on Node: pipelined prepared statements on two persistent `pg` clients. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import pg from 'pg'
import { createBareApp, type RecordedStatement } from './bare.ts'
import { answerParent } from './child.ts'

export type BareStart = { readonly databaseUrl: string; readonly statements: readonly RecordedStatement[] }

answerParent(async ({ databaseUrl, statements }: BareStart) => {
  const lanes: readonly [Lane, Lane] = [await openLane(databaseUrl), await openLane(databaseUrl)]
  const { fetch } = createBareApp(statements, async ({ name, text }, params) => {
    const lane = lanes[0].load <= lanes[1].load ? lanes[0] : lanes[1]
    lane.load += 1
    const { rows } = await lane.client.query<[string]>({ name, text, values: [...params], rowMode: 'array' })
    lane.load -= 1
    return rows[0]?.[0] ?? ''
  })
  const server = createAdaptorServer({ fetch }) as Server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
})

type Lane = { readonly client: pg.Client; load: number }

async function openLane(connectionString: string): Promise<Lane> {
  const config: pg.ClientConfig & { pipeline: true } = { connectionString, pipeline: true, options: '-c TimeZone=UTC' }
  const client = new pg.Client(config)
  await client.connect()
  return { client, load: 0 }
}
