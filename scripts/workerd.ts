/** Runs the Worker of wrangler.toml on the local workerd, for `npm start`, the tests and the benchmarks. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { unstable_startWorker } from 'wrangler'
import { isLoopback } from '../src/core/loopback.ts'
import { writeConnectorBundle } from './connector-bundle.ts'
import { copyPackageAssets } from './package-assets.ts'
import { requireFreePort } from './require-free-port.ts'
import { tethered } from './tether.ts'
import { writeWorkerParts } from './worker-parts.ts'

export type Workerd = { readonly url: string; readonly close: () => Promise<void> }

export type WorkerdOptions = {
  /** Environment variables; only the service's own are passed to the Worker. */
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  /** Receives the Worker's console output; by default it is printed. */
  readonly onLog?: (line: LogLine) => void
}

export type LogLine = { readonly level: string; readonly message: string }

/** Resolves when the Worker responds. Throws if the port is taken. */
export async function startWorkerd({ variables, host, port, onLog = print }: WorkerdOptions): Promise<Workerd> {
  // Wrangler would wait silently for a port that is taken.
  await requireFreePort(host, port)
  const bindings = Object.entries(variables).flatMap(([name, value]) =>
    name.startsWith('SERVICE_') && value !== undefined ? [[name, { type: 'plain_text', value }] as const] : [],
  )
  Object.assign(process.env, quiet)
  const { unstable_startWorker: startWorker } = await import('wrangler')
  await writeWorkerParts()
  const assets = await stageAssets(variables.SERVICE_EXTENSIONS__PATH || 'extensions')
  const { result: worker, release } = await tethered(async () => {
    const starting = await startWorker({
      config: join(import.meta.dirname, '../wrangler.toml'),
      assets: assets.directory,
      bindings: { ...Object.fromEntries(bindings), LOCAL_PEER: { type: 'plain_text', value: localPeer(host) } },
      dev: {
        server: { hostname: host, port },
        inspector: false,
        watch: false,
        liveReload: false,
        logLevel: 'error',
        persist: false,
        remote: false,
        structuredLogsHandler: onLog,
      },
    })
    await answering(starting)
    return starting
  }).catch(async (cause: unknown) => {
    await assets.remove()
    throw cause
  })
  const url = await worker.url
  return {
    url: url.origin,
    async close() {
      await worker.dispose()
      release()
      await assets.remove()
    },
  }
}

/**
 * The client address passed to the Worker: Miniflare lets clients set `CF-Connecting-IP` themselves, so only a certain
 * address is passed. On a loopback address the client is local.
 */
function localPeer(host: string): string {
  if (!isLoopback(host)) return ''
  return host.includes(':') ? '::1' : '127.0.0.1'
}

/** Copies the assets to a folder of this run, since other runs may have other extensions. */
export async function stageAssets(extensions: string) {
  const directory = await mkdtemp(join(tmpdir(), 'assets-'))
  await cp(join(import.meta.dirname, '../docs/public'), directory, { recursive: true })
  await copyPackageAssets(directory)
  const { broken } = await writeConnectorBundle(extensions, directory)
  for (const { location, reason } of broken) console.error(`extension ${location} ${reason}`)
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) }
}

/**
 * Waits for a response, since wrangler's proxy is ready before the Worker; a Worker that fails to build never responds.
 */
async function answering(worker: Worker): Promise<void> {
  const late = setTimeout(START_LIMIT, undefined, { ref: false }).then(() => {
    throw new Error('the Worker did not start, see above')
  })
  const answer = worker.ready.then(() => worker.fetch('http://localhost/api/system/live'))
  try {
    await Promise.race([answer, late])
  } catch (cause) {
    // A Worker that never started may never end either; its processes end by the tether.
    await Promise.race([worker.dispose(), setTimeout(END_LIMIT)])
    throw cause
  }
}

/** In milliseconds. */
const START_LIMIT = 60_000
const END_LIMIT = 5_000

type Worker = Awaited<ReturnType<typeof unstable_startWorker>>

export const quiet = {
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  // Without a table of the parts that load apart.
  WRANGLER_LOG: 'error',
  X_LOCAL_EXPLORER: 'false',
  X_LOCAL_OBSERVABILITY: 'false',
}

export function print({ level, message }: LogLine): void {
  if (level === 'error' || level === 'warn') console.error(message)
  else console.log(message)
}
