/**
 * Locks a directory for one process and the one that it lets write there. The lock is a file that identifies both. That of
 * a dead owner is taken over as soon as its writer is dead, too, which is seen to. An owner in another container or on
 * another machine cannot be checked, so it counts as dead when its heartbeat, the file's modification time, stops.
 */
import { randomUUID } from 'node:crypto'
import { linkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonIn } from '../../../core/json-object.ts'
import { identify, isRunning, type ProcessIdentity, read } from './process-identity.ts'

export type DirectoryLock = {
  /**
   * Names the child process that may write, in place of an earlier one. It must not begin before this returns. Throws if
   * the lock is another's meanwhile.
   */
  readonly nameWriter: (pid: number) => void
  readonly release: () => void
}

const heartbeatInterval = 2_000
const deadAfter = 10_000

export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = join(directory, 'process.lock')
  const owner = identify(process.pid)
  let mine = JSON.stringify(owner)
  while (!claim(path, mine)) {
    const text = read(path)
    if (text === undefined) continue
    const other = jsonIn(text) as Owner | undefined
    const user = (await isAlive(path, other)) ? other : await survivor(other?.writer)
    if (user !== undefined) {
      throw new Error(`the data directory ${directory} is in use by process ${user.pid} on ${user.machine}`)
    }
    discard(path, text)
  }
  const heart = setInterval(() => touch(path), heartbeatInterval).unref()
  let writer: ProcessIdentity | undefined

  const release = () => {
    clearInterval(heart)
    process.off('exit', release)
    if (writer !== undefined && !endNow(writer)) return
    if (read(path) === mine) rmSync(path, { force: true })
  }
  // Also releases when the process exits before the caller could.
  process.once('exit', release)
  return {
    nameWriter(pid) {
      const found = read(path)
      if (found !== undefined && found !== mine) throw new Error(`the data directory ${directory} has been taken over`)
      writer = identify(pid)
      mine = JSON.stringify({ ...owner, writer })
      const draft = `${path}.${randomUUID()}`
      writeFileSync(draft, mine, { mode: 0o600 })
      renameSync(draft, path)
    },
    release,
  }
}

type Owner = ProcessIdentity & { readonly writer?: ProcessIdentity }

/** Linked into place, so that a partial file is never read. */
function claim(path: string, text: string): boolean {
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, text, { mode: 0o600 })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** If several processes find the same dead owner, one moves the file away; a new owner's file is put back. */
function discard(path: string, text: string): void {
  const aside = `${path}.${randomUUID()}`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  if (read(aside) !== text) claim(path, read(aside) ?? '')
  rmSync(aside, { force: true })
}

async function isAlive(path: string, owner: Owner | undefined): Promise<boolean> {
  if (owner === undefined) return false
  if (owner.space === identify(process.pid).space) return isRunning(owner)
  const seen = heartbeat(path)
  for (let waited = 0; waited < deadAfter; waited += heartbeatInterval) {
    await sleep(heartbeatInterval)
    if (heartbeat(path) !== seen) return true
  }
  return false
}

const lookEvery = 20

/**
 * The writer of a dead owner, if it does not end. It ends by itself, unless it has been stopped, so it is ended where its
 * start time proves that the id still means it. One in another space has been dead for as long as its owner.
 */
async function survivor(writer: ProcessIdentity | undefined): Promise<ProcessIdentity | undefined> {
  if (writer === undefined || writer.space !== identify(process.pid).space) return undefined
  for (let waited = 0; isRunning(writer); waited += lookEvery) {
    if (waited > deadAfter) return writer
    if (writer.started !== '') kill(writer)
    await sleep(lookEvery)
  }
  return undefined
}

/** Ends a child of this process, which may be exiting. False if that cannot be seen; the next owner looks again. */
function endNow(writer: ProcessIdentity): boolean {
  const never = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; isRunning(writer); waited += lookEvery) {
    if (waited > deadAfter || (waited > 0 && writer.started === '')) return false
    kill(writer)
    Atomics.wait(never, 0, 0, lookEvery)
  }
  return true
}

function kill({ pid }: ProcessIdentity): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended, or is not ours to end.
  }
}

function heartbeat(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date())
  } catch {
    // If the file is gone, nothing is lost; the next start creates a new one.
  }
}
