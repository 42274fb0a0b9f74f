/** The hostile connector, bundled as it would be installed, and the names of its attempts. */
import { join } from 'node:path'
import { bundleExtension } from '../../../src/platform/node/connectors/extension-bundler.ts'
import { setup } from '../../extensions/hostile/index.js'

export async function bundleHostile(): Promise<{ readonly code: string; readonly attempts: readonly string[] }> {
  const bundling = await bundleExtension(join(import.meta.dirname, '../../extensions/hostile'), './index.js')
  if (bundling.kind === 'failed') throw new Error(`${bundling.place} ${bundling.reason}`)
  return { code: bundling.code, attempts: setup().introspect() }
}
