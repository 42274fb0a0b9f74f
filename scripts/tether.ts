/**
 * Ties workerd to this process. Miniflare ends it on an orderly exit only; after kill -9 it would live on and keep the
 * port, so that the next start fails.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs `start` so that every workerd it starts is tied; answers its result and how to untie and clean up. */
export async function tethered<T>(start: () => Promise<T>): Promise<{ result: T; release: () => void }> {
  const directory = mkdtempSync(join(tmpdir(), 'tether-'))
  const fifo = join(directory, 'fifo')
  execFileSync('mkfifo', [fifo])
  // Open for reading as well, because opening only for writing waits for a reader.
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
    // Others in this process may start a workerd that is not ours to end.
    process.env = own
  }
}

/** The one that wrangler was built for. */
function workerdBinary(): string {
  const wrangler = createRequire(import.meta.url).resolve('wrangler')
  return createRequire(wrangler)('workerd').default
}
