/** Starts the Worker of wrangler.toml under the local workerd; used by `npm start`, the tests and the benchmarks. */
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

export type Workerd = { readonly url: string; readonly close: () => Promise<void> }

export type WorkerdOptions = {
  /** Variables of the environment; only those of the service reach the Worker. */
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly host: string
  /** 0 is any free port. */
  readonly port: number
  /** Gets what the Worker writes to its console; our own console if it is not said. */
  readonly onLog?: (line: LogLine) => void
  /** The Worker's main file; that of wrangler.toml where it is not said. */
  readonly entry?: string
}

export type LogLine = { readonly level: string; readonly message: string }

/** Resolves once the Worker answers. Throws where the port is taken. */
export async function startWorkerd({ variables, host, port, onLog = print, entry }: WorkerdOptions): Promise<Workerd> {
  // Wrangler itself would wait for a port that is taken, and say nothing.
  await requireFreePort(host, port)
  const bindings = Object.entries(variables).flatMap(([name, value]) =>
    name.startsWith('SERVICE_') && value !== undefined ? [[name, { type: 'plain_text', value }] as const] : [],
  )
  // Wrangler reads these when it is loaded: nothing is sent anywhere, nothing said, and no debugging pages served.
  Object.assign(process.env, quiet)
  const { unstable_startWorker: startWorker } = await import('wrangler')
  const assets = await stageAssets(variables.SERVICE_EXTENSIONS__PATH || 'extensions')
  const listeners = signals.map((signal) => process.listeners(signal))
  const { result: worker, release } = await tethered(async () => {
    const starting = await startWorker({
      config: join(import.meta.dirname, '../wrangler.toml'),
      ...(entry !== undefined && { entrypoint: entry }),
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
  // Miniflare's own would end the process before whoever started us has closed the database.
  for (const [index, signal] of signals.entries()) {
    const added = process.listeners(signal).filter((listener) => !listeners[index]?.includes(listener))
    for (const listener of added) process.off(signal, listener)
  }
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
 * Who calls: Miniflare lets callers say it themselves in `CF-Connecting-IP`, so the Worker is told what is so for certain.
 * At a loopback address nobody else can be the other end.
 */
function localPeer(host: string): string {
  if (!isLoopback(host)) return ''
  return host.includes(':') ? '::1' : '127.0.0.1'
}

/** The assets as they are deployed, in a folder of this run: another one may have other extensions. */
async function stageAssets(extensions: string) {
  const directory = await mkdtemp(join(tmpdir(), 'assets-'))
  await cp(join(import.meta.dirname, '../docs/public'), directory, { recursive: true })
  await copyPackageAssets(directory)
  const { broken } = await writeConnectorBundle(extensions, directory)
  for (const { place, reason } of broken) console.error(`extension ${place} ${reason}`)
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) }
}

/** Only an answer says that the Worker itself runs behind wrangler's proxy; one that cannot be built never gives it. */
async function answering(worker: Worker): Promise<void> {
  const late = setTimeout(START_LIMIT, undefined, { ref: false }).then(() => {
    throw new Error('the Worker did not start, see above')
  })
  const answer = worker.ready.then(() => worker.fetch('http://localhost/api/system/live'))
  try {
    await Promise.race([answer, late])
  } catch (cause) {
    // One that never started may never end either; its processes go with the tether.
    await Promise.race([worker.dispose(), setTimeout(END_LIMIT)])
    throw cause
  }
}

/** Milliseconds. */
const START_LIMIT = 60_000
const END_LIMIT = 5_000

type Worker = Awaited<ReturnType<typeof unstable_startWorker>>

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const quiet = {
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  X_LOCAL_EXPLORER: 'false',
  X_LOCAL_OBSERVABILITY: 'false',
}

export function print({ level, message }: LogLine): void {
  if (level === 'error' || level === 'warn') console.error(message)
  else console.log(message)
}
