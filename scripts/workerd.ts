/**
 * Runs the Worker on the local workerd, for `npm start` and the tests: what `wrangler dev` would run, without the two
 * processes that it puts before the Worker, which cost a request three times what the service does.
 */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare, type V4MiniflareOptions } from 'miniflare'
import { isLoopback } from '../src/core/loopback.ts'
import { writeConnectorBundle } from './connector-bundle.ts'
import { edge } from './edge.ts'
import { copyPackageAssets } from './package-assets.ts'
import { requireFreePort } from './require-free-port.ts'
import { tethered } from './tether.ts'
import { buildWorker } from './worker-build.ts'

const root = join(import.meta.dirname, '..')

export type Workerd = { readonly url: string; readonly close: () => Promise<void> }

export type WorkerdOptions = {
  /** Environment variables; only the service's own are passed to the Worker. */
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  /** Receives the Worker's console output; by default it is printed. */
  readonly onLog?: (line: LogLine) => void
  /** Main file of another Worker, relative to the repository; requests reach it without what stands for the edge. */
  readonly entry?: string
  /** As it is uploaded; by default stack traces can be read. */
  readonly minify?: boolean
  /** Hyperdrive bindings: the connection string of each. */
  readonly hyperdrives?: Readonly<Record<string, string>>
  /** Folder of the bucket that the Worker then has as FILES, and of all else that workerd keeps of a Worker. */
  readonly storage?: string | undefined
}

export type LogLine = { readonly level: string; readonly message: string }

/** Resolves when the Worker responds. Throws if the port is taken. */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const { variables, host, port, onLog = print, entry, minify = false, hyperdrives = {}, storage } = options
  // Miniflare would take any other port instead of one that is taken.
  await requireFreePort(host, port)
  const { configured, modules } = await buildWorker({ entry: entry ?? 'handlers/worker.ts', minify })
  const { result, release } = await tethered(async (directory) => {
    const assets = join(directory, 'assets')
    await writeAssets({ directory: assets, extensions: variables.SERVICE_EXTENSIONS__PATH || 'extensions', onLog })
    const service = {
      ...configured,
      name: 'service',
      rootPath: root,
      modules: [...modules],
      assets: { ...configured.assets, directory: assets },
      bindings: {
        ...serviceVariables(variables),
        ...(port > 0 && { PORT: String(port) }),
        LOCAL_PEER: localPeer(host),
      },
      hyperdrives,
      images: { binding: 'IMAGES' },
      ...(storage !== undefined && { r2Buckets: { FILES: 'files' } }),
    }
    const sockets = { unsafeDirectSockets: [{ host, port }] }
    const front = {
      name: 'edge',
      modules: true,
      script: edge,
      compatibilityDate: configured.compatibilityDate,
      serviceBindings: { WORKER: 'service' },
      ...sockets,
    }
    const workers = entry === undefined ? [front, service] : [{ ...service, ...sockets }]
    const kept = storage !== undefined && { resourcePersistencePath: storage }
    return start(directory, { workers, ...kept, handleStructuredLogs: onLog, cf: false } as V4MiniflareOptions)
  })
  return {
    url: result.url,
    async close() {
      await result.worker.dispose()
      release()
    },
  }
}

async function start(directory: string, options: V4MiniflareOptions) {
  const worker = openMiniflare(directory, options)
  try {
    const { origin: url } = await worker.unsafeGetDirectURL()
    await (await fetch(`${url}/api/system/live`)).arrayBuffer()
    return { worker, url }
  } catch (cause) {
    await worker.dispose()
    throw cause
  }
}

/** Makes its temporary files in `directory`. */
function openMiniflare(directory: string, options: V4MiniflareOptions): Miniflare {
  const { TMPDIR: own } = process.env
  process.env.TMPDIR = directory
  try {
    return new Miniflare(convertV4MiniflareOptions(options))
  } finally {
    if (own === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = own
  }
}

function serviceVariables(variables: WorkerdOptions['variables']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      name.startsWith('SERVICE_') && value !== undefined ? [[name, value]] : [],
    ),
  )
}

/**
 * The client address passed to the Worker: clients could set `CF-Connecting-IP` themselves, so only a certain address
 * is passed. On a loopback address the client is local.
 */
function localPeer(host: string): string {
  if (!isLoopback(host)) return ''
  return host.includes(':') ? '::1' : '127.0.0.1'
}

type AssetsOptions = {
  readonly directory: string
  readonly extensions: string
  readonly onLog: (line: LogLine) => void
}

/** The assets of one run, since other runs may have other extensions. */
async function writeAssets({ directory, extensions, onLog }: AssetsOptions): Promise<void> {
  await cp(join(root, 'docs/public'), directory, { recursive: true })
  await copyPackageAssets(directory)
  const { broken } = await writeConnectorBundle(extensions, directory)
  for (const { location, reason } of broken) onLog({ level: 'error', message: `extension ${location} ${reason}` })
}

export function print({ level, message }: LogLine): void {
  if (level === 'error' || level === 'warn') console.error(message)
  else console.log(message)
}
