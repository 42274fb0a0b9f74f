/** The viewer of the API reference, out of its package, among the assets of a Worker; run before `wrangler deploy`. */
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { viewerFiles } from '../src/platform/node/assets.ts'

export async function copyViewer(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const [name, file] of Object.entries(viewerFiles)) await copyFile(file, join(directory, name))
}

if (import.meta.main) await copyViewer(join(import.meta.dirname, '../docs/public'))
