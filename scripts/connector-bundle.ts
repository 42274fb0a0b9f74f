/** Writes the bundle of installed connectors for the assets of a Worker. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUNDLE_FILE, type ConnectorBundle } from '../src/platform/connectors/connector-bundle.ts'
import { loadExtensions } from '../src/platform/node/connectors/extensions.ts'
import { readIsolateRuntime } from '../src/platform/node/connectors/isolate-runtime.ts'

/** Bundles the folder `extensions` into `directory`; returns the bundle. */
export async function writeConnectorBundle(extensions: string, directory: string): Promise<ConnectorBundle> {
  const bundle = { runtime: readIsolateRuntime(), ...(await loadExtensions(extensions)) }
  await writeFile(join(directory, BUNDLE_FILE), JSON.stringify(bundle))
  return bundle
}
