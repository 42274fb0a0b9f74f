/**
 * `npm run secrets:rotate`: re-encrypts all sealed texts in the system database with the first secret of
 * SERVICE_SECRET. With SERVICE_DATABASE_URL it may run beside the service; the embedded database allows one process at
 * a time.
 */
import { join } from 'node:path'
import { openPostgres } from '../src/platform/drivers/postgres/driver.ts'
import { openDataDirectory } from '../src/platform/node/embedded/data-directory.ts'
import { openEmbeddedPostgres } from '../src/platform/node/embedded/postgres.ts'
import { openVault } from '../src/platform/vault.ts'
import { rotateSecrets } from '../src/services/instance/secret-rotation.ts'
import { fail, requireConfig } from './local.ts'
import { endWithNpm } from './npm-run.ts'

endWithNpm()
await rotate().catch(fail)

async function rotate(): Promise<void> {
  const config = requireConfig(process.env)
  const { SERVICE_DATABASE_URL: connectionString, SERVICE_SECRET: secret } = config
  if (secret === undefined) throw new Error('SERVICE_SECRET must be set: the new secret, a comma, and the old one')
  const embedded =
    connectionString === undefined
      ? await openEmbeddedPostgres({ directory: join(openDataDirectory(config.SERVICE_DATA_DIR).path, 'postgres') })
      : undefined
  const database =
    embedded === undefined
      ? openPostgres({ connectionString: connectionString ?? '' })
      : openPostgres({ stream: embedded.connect, max: 1 })
  try {
    const { total, resealed, superseded, unreadable } = await rotateSecrets(
      { database, vault: openVault(secret) },
      (done, all) => {
        if (done % 100 === 0 || done === all) console.log(`${done} of ${all}`)
      },
    )
    console.log(
      `${resealed} of ${total} re-encrypted, ${total - resealed - superseded - unreadable.length} were up to date`,
    )
    if (superseded > 0) console.log(`${superseded} changed during the run: run this again`)
    for (const one of unreadable) console.error(`No secret of SERVICE_SECRET opens the ${one}`)
    if (unreadable.length > 0) process.exitCode = 1
  } finally {
    await database.close()
    await embedded?.close()
  }
}
