/** Extensions that are bundled for each deployment of the Worker. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { startWorkerd } from '../../scripts/workerd.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { describeReload } from './connector-reload.ts'

const secret = randomBytes(32).toString('base64url')
const close: (() => Promise<void>)[] = []
let databaseUrl: string

beforeAll(async () => {
  const postgres = await startPostgres()
  const gateway = await startNeonGateway(postgres.url)
  databaseUrl = gateway.url
  close.push(gateway.close, postgres.close)
})

afterAll(async () => {
  for (const end of close) await end()
})

describeReload((extensions) =>
  startWorkerd({
    variables: {
      SERVICE_DATABASE_URL: databaseUrl,
      SERVICE_SECRET: secret,
      SERVICE_ADMIN__EMAIL: 'admin@example.com',
      SERVICE_ADMIN__PASSWORD: 'a password of some length',
      SERVICE_EXTENSIONS__PATH: extensions,
    },
    host: '127.0.0.1',
    port: 0,
    onLog: () => {},
  }),
)
