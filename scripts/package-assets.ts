/**
 * Writes the assets of a Worker that are made: the console, the viewer of the API reference and the transliteration
 * table, from packages, and the OpenAPI document of the system. Runs before `wrangler deploy`.
 */
import { copyFile, cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { renderSystemDocument } from '../handlers/openapi/routes.ts'
import { CONSOLE_PAGE_FILE, SYSTEM_DOCUMENT_FILE } from '../src/platform/cloudflare/assets.ts'
import { TRANSLITERATION_FILE } from '../src/platform/cloudflare/transliterate.ts'
import { viewerFiles } from '../src/platform/node/assets.ts'
import { consoleFolder } from './console/build.ts'

export async function copyPackageAssets(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const [name, file] of Object.entries(viewerFiles)) await copyFile(file, join(directory, name))
  await writeFile(join(directory, TRANSLITERATION_FILE), JSON.stringify(await transliterationTable()))
  await writeFile(join(directory, SYSTEM_DOCUMENT_FILE), renderSystemDocument())
  await copyConsole(directory)
}

async function copyConsole(directory: string): Promise<void> {
  const files = join(directory, '-')
  await rm(files, { recursive: true, force: true })
  const folder = await consoleFolder()
  if (folder === undefined) return
  await cp(join(folder, '-'), files, { recursive: true })
  await copyFile(join(folder, 'index.html'), join(directory, CONSOLE_PAGE_FILE))
}

/** The package exports only its function; the test of the port compares this table with it. */
async function transliterationTable(): Promise<readonly (readonly [string, string])[]> {
  const main = createRequire(import.meta.url).resolve('@sindresorhus/transliterate')
  const { default: table } = (await import(pathToFileURL(join(main, '../replacements.js')).href)) as {
    readonly default: ReadonlyMap<string, string>
  }
  return [...table]
}

if (import.meta.main) await copyPackageAssets(join(import.meta.dirname, '../docs/public'))
