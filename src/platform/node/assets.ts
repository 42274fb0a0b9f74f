/** Files served beside the API, read on first use. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Assets } from '../../ports/files.ts'

const own = (name: string) => join(import.meta.dirname, '../../../docs/public', name)
const ofViewer = (name: string) => createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)

/** Files from a package. */
export const viewerFiles: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': ofViewer('swagger-ui-bundle.js'),
  'swagger-ui.css': ofViewer('swagger-ui.css'),
}

export function openNodeAssets(): Assets {
  const files = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  return (name) => {
    const file = files.get(name) ?? readFile(viewerFiles[name] ?? own(name)).then((bytes) => new Uint8Array(bytes))
    files.set(name, file)
    return file
  }
}
