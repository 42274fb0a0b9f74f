/**
 * Ends workerd with this process. Miniflare ends it only on an orderly exit; after kill -9 it would keep running and
 * hold the port, so that the next start fails.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs `start` so that every workerd it spawns is tied to this process; returns its result and a release function. */
export async function tethered<T>(start: () => Promise<T>): Promise<{ result: T; release: () => void }> {
  const directory = mkdtempSync(join(tmpdir(), 'tether-'))
  const fifo = join(directory, 'fifo')
  execFileSync('mkfifo', [fifo])
  // Opened for reading too, since opening for writing only would block until there is a reader.
  const descriptor = openSync(fifo, 'r+')
  const release = () => {
    process.off('exit', release)
    closeSync(descriptor)
    rmSync(directory, { recursive: true })
  }
  process.once('exit', release)
  const own = { ...process.env }
  Object.assign(process.env, {
    MINIFLARE_WORKERD_PATH: join(import.meta.dirname, 'tethered-workerd.sh'),
    TETHER_FIFO: fifo,
    TETHER_BINARY: own.MINIFLARE_WORKERD_PATH ?? workerdBinary(),
  })
  try {
    return { result: await start(), release }
  } catch (cause) {
    release()
    throw cause
  } finally {
    // Other code in this process may spawn a workerd that must not be tied.
    process.env = own
  }
}

/** The workerd that wrangler depends on. */
function workerdBinary(): string {
  const wrangler = createRequire(import.meta.url).resolve('wrangler')
  return createRequire(wrangler)('workerd').default
}
