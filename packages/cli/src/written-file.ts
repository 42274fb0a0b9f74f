/** Files as they are written here: whole or not at all, and only where they differ. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Failure } from './failure.ts'

/** Undefined where there is none. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return undefined
    throw unusable(path, cause)
  }
}

/** Answers whether it differed. */
export async function writeText(
  path: string,
  text: string,
  { mode }: { readonly mode?: number } = {},
): Promise<boolean> {
  if ((await readText(path)) === text) return false
  const made = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await mkdir(dirname(path), { recursive: true, ...(mode !== undefined && { mode: 0o700 }) })
    await writeFile(made, text, { flag: 'wx', ...(mode !== undefined && { mode }) })
    await rename(made, path)
  } catch (cause) {
    await rm(made, { force: true })
    throw unusable(path, cause)
  }
  return true
}

/** What a JSON file holds; throws where it is none, with the place. */
export function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Failure(`${path} is not JSON: ${cause instanceof Error ? cause.message : cause}`)
  }
}

export function isCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && (cause as { readonly code?: string }).code === code
}

function unusable(path: string, cause: unknown): Failure {
  const code = (cause as { readonly code?: string }).code
  return new Failure(`${path} cannot be used: ${reasons[code ?? ''] ?? code ?? cause}`)
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is a file',
  EROFS: 'the disk is read-only',
}
