/**
 * Locks a directory for one process. The lock is a file that identifies its owner; the file of a dead owner is taken
 * over at once. An owner in another container or on another machine cannot be checked, so it counts as dead when its
 * heartbeat, the file's modification time, stops.
 */
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const heartbeatInterval = 2_000
const deadAfter = 10_000

/** Returns the release function. */
export async function lockDirectory(directory: string): Promise<() => void> {
  const path = join(directory, 'process.lock')
  const mine = JSON.stringify(identify(process.pid))
  while (!claim(path, mine)) {
    const text = read(path)
    if (text === undefined) continue
    const owner = parse(text)
    if (await isAlive(path, owner)) {
      throw new Error(`the data directory ${directory} is in use by process ${owner?.pid} on ${owner?.machine}`)
    }
    discard(path, text)
  }
  const heart = setInterval(() => touch(path), heartbeatInterval).unref()

  const release = () => {
    clearInterval(heart)
    process.off('exit', release)
    if (read(path) === mine) rmSync(path, { force: true })
  }
  // Also releases when the process exits before the caller could.
  process.once('exit', release)
  return release
}

/** `space` and `started` make a process id unique: ids are reused, and every container has its own process 1. */
type Owner = { readonly pid: number; readonly machine: string; readonly space: string; readonly started: string }

function identify(pid: number): Owner {
  const boot = read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
  return { pid, machine: hostname(), space: boot + processSpace(), started: startTime(pid) }
}

function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return hostname()
  }
}

/** Clock ticks since boot. The second field may contain spaces, so fields are counted after its closing parenthesis. */
function startTime(pid: number): string {
  const stat = read(`/proc/${pid}/stat`) ?? ''
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

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
  const here = identify(owner.pid)
  if (owner.space === here.space) return exists(owner.pid) && owner.started === here.started
  const seen = heartbeat(path)
  for (let waited = 0; waited < deadAfter; waited += heartbeatInterval) {
    await sleep(heartbeatInterval)
    if (heartbeat(path) !== seen) return true
  }
  return false
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
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

function parse(text: string): Owner | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
