/** Files as they are written here: whole or not at all, and only where they differ. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
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

export type Written = {
  /** Of a new file; one that is there keeps its own, as far as this allows it. */
  readonly mode?: number
  /** Which text may be replaced; any, where this is not given. */
  readonly replaces?: { readonly isReplaceable: (text: string) => boolean; readonly what: string }
}

/**
 * Answers whether it differed. A link is followed; what is no file, such as a pipe, is written to. Throws where a file is there
 * that is not meant.
 */
export async function writeText(
  named: string,
  text: string,
  { mode: first, replaces }: Written = {},
): Promise<boolean> {
  const found = await targetOf(named)
  if (found !== undefined && !found.isFile) {
    await writeFile(named, text).catch((cause: unknown) => {
      throw unusable(named, cause)
    })
    return true
  }
  const path = found?.path ?? named
  const mode = found === undefined ? first : found.mode & (first ?? 0o777)
  const before = await readText(path)
  if (before === text) return false
  if (before !== undefined && before.trim() !== '' && replaces?.isReplaceable(before) === false) {
    throw new Failure(`${named} is there, and is no ${replaces.what}`, { help: 'remove it, or name another file' })
  }
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

/** Where a path leads, and what is there. */
async function targetOf(path: string) {
  try {
    const about = await stat(path)
    return { path: await realpath(path), mode: about.mode & 0o777, isFile: about.isFile() }
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return undefined
    throw unusable(path, cause)
  }
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
