/**
 * Which process an id means: ids are used again, and every container has its own process 1. Where there is no /proc
 * (macOS) the id is all that is known.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

export type ProcessIdentity = {
  readonly pid: number
  readonly machine: string
  /** The boot of the machine and the space of process ids. */
  readonly space: string
  /** Clock ticks from the boot to the start of the process; empty if unknown. */
  readonly started: string
}

/** Returns what is known of the process that has this id now. */
export function identify(pid: number): ProcessIdentity {
  const boot = read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
  return { pid, machine: hostname(), space: boot + processSpace(), started: statOf(pid).started }
}

/** Whether the process lives; its space has to be our own. One that has ended and that nobody has noticed does not. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  const stat = statOf(pid)
  return exists(pid) && stat.started === started && !'ZX'.includes(stat.state)
}

function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return hostname()
  }
}

/** The second field may contain spaces, so fields are counted after its closing parenthesis. */
function statOf(pid: number): { readonly state: string; readonly started: string } {
  const stat = read(`/proc/${pid}/stat`) ?? ''
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] || 'unknown', started: fields[19] ?? '' }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** The text of a file; undefined where it cannot be read. */
export function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
