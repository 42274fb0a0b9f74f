/** Writes the bundle of installed connectors that a Worker finds among its assets. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUNDLE_FILE, type ConnectorBundle } from '../src/platform/connectors/connector-bundle.ts'
import { loadExtensions } from '../src/platform/node/connectors/extensions.ts'
import { readIsolateRuntime } from '../src/platform/node/connectors/isolate-runtime.ts'

/** `extensions` is the folder they are installed in; answers what went into the bundle in `directory`. */
export async function writeConnectorBundle(extensions: string, directory: string): Promise<ConnectorBundle> {
  const bundle = { runtime: readIsolateRuntime(), ...(await loadExtensions(extensions)) }
  await writeFile(join(directory, BUNDLE_FILE), JSON.stringify(bundle))
  return bundle
}
