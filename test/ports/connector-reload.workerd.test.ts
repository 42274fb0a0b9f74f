/** Extensions that are bundled for each deployment of the Worker. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { startWorkerd } from '../../scripts/workerd.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { openEmbeddedPostgres } from '../../src/platform/node/embedded/postgres.ts'
import { prepareEmbedded } from '../support/servers/embedded-cluster.ts'
import { describeReload } from './connector-reload.ts'

const secret = randomBytes(32).toString('base64url')
const close: (() => Promise<void>)[] = []
let databaseUrl: string

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'reload-'))
  await prepareEmbedded(join(directory, 'postgres'))
  const embedded = await openEmbeddedPostgres({ directory: join(directory, 'postgres') })
  const gateway = await startNeonGateway({ connect: embedded.connect })
  databaseUrl = gateway.url
  close.push(gateway.close, embedded.close, () => rm(directory, { recursive: true, force: true }))
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
