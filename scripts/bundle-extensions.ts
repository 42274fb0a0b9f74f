/**
 * `npm run extensions:bundle`: bundles the extensions under SERVICE_EXTENSIONS__PATH into connectors.json, an asset of
 * the next `wrangler deploy`. Fails if one of them is unusable, so that none is left out unnoticed.
 */
import { join } from 'node:path'
import { writeConnectorBundle } from './connector-bundle.ts'
import { fail, requireConfig } from './local.ts'

await bundle().catch(fail)

async function bundle(): Promise<void> {
  const { SERVICE_EXTENSIONS__PATH: path } = requireConfig(process.env)
  const { installed, broken } = await writeConnectorBundle(path, join(import.meta.dirname, '../docs/public'))
  for (const { id, name } of installed) console.log(`bundled ${id} (${name})`)
  for (const { location, reason } of broken) console.error(`${location} ${reason}`)
  if (broken.length > 0) process.exitCode = 1
  else if (installed.length === 0) console.log(`no extension under ${path}`)
}
