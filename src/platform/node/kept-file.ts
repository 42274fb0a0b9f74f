/**
 * What takes long to make, kept as a file of JSON below node_modules/.cache for as long as the files that it was made of
 * have the same content. Whoever keeps something says what it was made of.
 */

import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseJson } from '../../core/exact-json.ts'

/** The folder of one kind of kept files. */
export function cacheFolder(kind: string): string {
  return join(import.meta.dirname, '../../../node_modules/.cache', kind)
}

/** What was kept in `file`; undefined where nothing is, or nothing that can be read. */
export async function readKept<Kept>(file: string): Promise<Kept | undefined> {
  try {
    return parseJson(await readFile(file, 'utf8')) as Kept
  } catch {
    return undefined
  }
}

/** Another process that reads the file meanwhile sees the old or the new content, never a part. */
export async function writeKept<Kept>(file: string, kept: Kept): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}`
  await writeFile(draft, JSON.stringify(kept))
  await rename(draft, file)
}

/** SHA-256, in hex, of the contents, each with its length. */
export function digestOf(contents: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const content of contents) hash.update(`${content.length}:`).update(content)
  return hash.digest('hex')
}

/** Whether one of the files changed at `time` (milliseconds since 1970) or later. Throws where one is gone. */
export async function changedSince(time: number, files: readonly string[]): Promise<boolean> {
  const changes = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs))
  return changes.some((change) => change >= time)
}
