/**
 * The data directory of an instance on Node: the embedded database, and secrets generated on the first start. Directory
 * mode 700, file mode 600; an unusable path is reported with its reason.
 */
import { randomBytes } from 'node:crypto'
import { accessSync, constants, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export type DataDirectory = {
  readonly path: string
  /** 32 random bytes as base64url, generated once and stored under this name. */
  readonly secret: (name: string) => string
}

export function openDataDirectory(directory: string): DataDirectory {
  const name = 'the data directory'
  const path = usableFolder(name, directory)
  return { path, secret: (file) => usable(`${name} ${path}`, () => loadOrMake(path, file)) }
}

/**
 * Makes the directory where it is missing, readable by nobody else, and returns its absolute path. Throws an Error that begins
 * with `name` where it cannot be used.
 */
export function usableFolder(name: string, directory: string): string {
  const path = resolve(directory)
  return usable(`${name} ${path}`, () => {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return path
  })
}

function loadOrMake(directory: string, name: string): string {
  const file = join(directory, name)
  const draft = `${file}.${process.pid}`
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  // Linked into place when complete: of two processes starting at once one wins, and neither reads a partial secret.
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  try {
    linkSync(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(file, 'utf8').trim()
}

function usable<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    const reason = reasons[codeOf(cause)] ?? (cause instanceof Error ? cause.message : String(cause))
    throw new Error(`${what} cannot be used: ${reason}`, { cause })
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left',
  ENOTDIR: 'a part of the path is not a directory',
  EEXIST: 'it is a file, not a directory',
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
