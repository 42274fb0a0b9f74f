/** A process that takes the lock of a workspace, prints its fence number and keeps the lock until it is killed. */
import { Client } from 'pg'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { createNodeWorkspaceState } from '../../src/platform/node/workspace-state.ts'

const [url = '', workspace = ''] = process.argv.slice(2)
const state = createNodeWorkspaceState({
  database: openPostgres({ connectionString: url }),
  connect: () => new Client(url),
  clock: { now: () => Date.now() },
})

await state.withMigrationLock(workspace, async (fence) => {
  process.stdout.write(`${fence}\n`)
  await new Promise((resolve) => setTimeout(resolve, 60_000))
})
