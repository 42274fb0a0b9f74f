/**
 * Ends workerd with this process. Miniflare ends it only on an orderly exit; after kill -9 it would keep running and
 * hold the port, so that the next start fails.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs `start` so that every workerd it spawns is tied to this process; returns its result and a release function. `start`
 * gets a directory for its temporary files, which goes away with this process, too. Signals are the caller's: Miniflare's
 * handlers would end the process before the caller has closed the database.
 */
export async function tethered<T>(
  start: (directory: string) => Promise<T>,
): Promise<{ result: T; release: () => void }> {
  const directory = mkdtempSync(join(tmpdir(), 'workerd-'))
  let descriptor: number | undefined
  const release = () => {
    process.off('exit', release)
    if (descriptor !== undefined) closeSync(descriptor)
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
  process.once('exit', release)
  const fifo = join(directory, 'fifo')
  // Fails when a signal to the process group ends it.
  execFileSync('mkfifo', [fifo])
  // Opened for reading too, since opening for writing only would block until there is a reader.
  descriptor = openSync(fifo, 'r+')
  const listeners = signals.map((signal) => process.listeners(signal))
  const own = { ...process.env }
  Object.assign(process.env, {
    MINIFLARE_WORKERD_PATH: join(import.meta.dirname, 'tethered-workerd.sh'),
    TETHER_DIRECTORY: directory,
    TETHER_BINARY: own.MINIFLARE_WORKERD_PATH ?? workerdBinary(),
  })
  try {
    const result = await start(directory)
    for (const [index, signal] of signals.entries()) {
      const added = process.listeners(signal).filter((listener) => !listeners[index]?.includes(listener))
      for (const listener of added) process.off(signal, listener)
    }
    return { result, release }
  } catch (cause) {
    release()
    throw cause
  } finally {
    // Other code in this process may spawn a workerd that must not be tied.
    process.env = own
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The workerd that wrangler depends on. */
function workerdBinary(): string {
  const wrangler = createRequire(import.meta.url).resolve('wrangler')
  return createRequire(wrangler)('workerd').default
}
