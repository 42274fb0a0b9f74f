/** Extensions of the Node server, which loads them when it starts. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { startNode } from '../../handlers/node.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { describeReload } from './connector-reload.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>

beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.close())

const secret = randomBytes(32).toString('base64url')

const start = (extensions: string) =>
  startNode({
    environment: {
      PORT: '0',
      SERVICE_DATABASE_URL: postgres.url,
      SERVICE_SECRET: secret,
      SERVICE_ADMIN__EMAIL: 'admin@example.com',
      SERVICE_ADMIN__PASSWORD: 'a password of some length',
      SERVICE_EXTENSIONS__PATH: extensions,
    },
    observe: () => {},
  })

describeReload(start)
