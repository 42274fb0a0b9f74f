/**
 * Directories that take long to fill, such as the files of a database that is still empty: filled once in a run of the
 * tests, and copied from there by whoever needs one. What depends on known files alone is kept for later runs, as long as they are the
 * same. Outside of a run each is filled by itself.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { RUN_DIRECTORY } from './run-directory.ts'

const run = promisify(execFile)
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/prepared')

type Fill = (directory: string) => Promise<void>

/**
 * Puts into `target`, which is empty or not there, what `fill` makes of an empty directory. `by` are the files that the result
 * depends on, where those are all.
 */
export async function copyPrepared(name: string, target: string, fill: Fill, by?: readonly string[]): Promise<void> {
  await mkdir(target, { recursive: true })
  const prepared = await shared(name, by === undefined ? fill : kept(join(CACHE, `${name}-${digestOf(by)}`), fill))
  if (prepared === undefined) return fill(target)
  await copy(prepared, target)
}

/** What `fill` makes of an empty directory, once in a run, for whoever only reads it; undefined outside of a run. */
export async function shared(name: string, fill: Fill): Promise<string | undefined> {
  const directory = process.env[RUN_DIRECTORY]
  if (directory === undefined) return undefined
  const prepared = join(directory, name)
  while (!existsSync(prepared)) await prepare(prepared, fill)
  return prepared
}

/** Fills it, or waits a moment for whoever does. */
async function prepare(directory: string, fill: Fill): Promise<void> {
  const making = `${directory}.making`
  try {
    await mkdir(making)
  } catch {
    await wait(50)
    return
  }
  try {
    // Another may have finished between the look at the directory and the turn.
    if (existsSync(directory)) return await rm(making, { recursive: true })
    await fill(making)
    await rename(making, directory)
  } catch (cause) {
    await rm(making, { recursive: true, force: true })
    throw cause
  }
}

/** Takes what an earlier run has kept, or keeps what `fill` makes; two runs at once keep one of both. */
function kept(place: string, fill: Fill): Fill {
  return async (directory) => {
    if (existsSync(place)) return copy(place, directory)
    await fill(directory)
    await mkdir(CACHE, { recursive: true })
    const copied = await mkdtemp(`${place}.`)
    await copy(directory, copied)
    await rename(copied, place).catch(() => rm(copied, { recursive: true }))
  }
}

/** As they are: owners, rights and times, too. */
export async function copy(from: string, to: string): Promise<void> {
  await run('cp', ['-a', `${from}/.`, to])
}

function digestOf(files: readonly string[]): string {
  const stats = files.map((file) => [basename(file), statSync(file).size, statSync(file).mtimeMs])
  return createHash('sha256').update(JSON.stringify(stats)).digest('hex').slice(0, 16)
}
