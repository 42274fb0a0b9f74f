/**
 * Directories that take long to fill, such as the files of a database that is still empty: filled once in a run of the
 * tests, and copied from there by whoever needs one. Outside of a run each is filled by itself.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { RUN_DIRECTORY } from './run-directory.ts'

const run = promisify(execFile)

type Fill = (directory: string) => Promise<void>

/** Puts into `target`, which is empty or not there, what `fill` makes of an empty directory. */
export async function copyPrepared(name: string, target: string, fill: Fill): Promise<void> {
  await mkdir(target, { recursive: true })
  const directory = process.env[RUN_DIRECTORY]
  if (directory === undefined) return fill(target)
  const prepared = join(directory, name)
  while (!existsSync(prepared)) await prepare(prepared, fill)
  // As they are: owners, rights and times, too.
  await run('cp', ['-a', `${prepared}/.`, target])
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
