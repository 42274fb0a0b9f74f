/**
 * The Worker of the tests on workerd. Its bundle is made once in a run, and requests reach it directly: `npm start` bundles at
 * each start and has two proxies of wrangler before the Worker, which cost a request three times what the service does.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { convertV4MiniflareOptions, Miniflare, type V4MiniflareOptions } from 'miniflare'
import { tethered } from '../../../scripts/tether.ts'
import { workerParts, writeWorkerParts } from '../../../scripts/worker-parts.ts'
import { quiet, stageAssets, type Workerd, type WorkerdOptions } from '../../../scripts/workerd.ts'
import { copyPrepared } from '../run/prepared.ts'

const run = promisify(execFile)

/** Main files of Workers, beside this one. */
export type TestWorker = 'suite-worker' | 'clocked-worker'

export type BundledWorkerOptions = Required<Pick<WorkerdOptions, 'variables' | 'onLog'>> & {
  /** Hyperdrive bindings: the connection string of each. */
  readonly hyperdrives?: Readonly<Record<string, string>>
}

/** Starts the Worker on a free port of 127.0.0.1; resolves when it responds. */
export async function startBundledWorker(
  entry: TestWorker,
  { variables, onLog, hyperdrives = {} }: BundledWorkerOptions,
): Promise<Workerd> {
  const home = await mkdtemp(join(tmpdir(), 'worker-'))
  await copyPrepared(entry, home, (empty) => bundle(entry, empty))
  const configured: { readonly assets: object } = JSON.parse(await readFile(join(home, CONFIGURED), 'utf8'))
  const assets = await stageAssets(variables.SERVICE_EXTENSIONS__PATH || 'extensions')
  const options = {
    ...configured,
    rootPath: home,
    modules: [entry, ...workerParts.map((part) => `parts/${part}`)].map((name) => ({
      type: 'ESModule',
      path: `${name}.js`,
    })),
    assets: { ...configured.assets, directory: assets.directory },
    bindings: { ...variables, LOCAL_PEER: HOST },
    hyperdrives,
    unsafeDirectSockets: [{ host: HOST, port: 0 }],
    handleStructuredLogs: onLog,
  } as V4MiniflareOptions
  const removeFiles = async () => {
    await assets.remove()
    await rm(home, { recursive: true, force: true })
  }

  const { result, release } = await tethered(() => start(options)).catch(async (cause: unknown) => {
    await removeFiles()
    throw cause
  })
  return {
    url: result.url,
    async close() {
      await result.worker.dispose()
      release()
      await removeFiles()
    },
  }
}

const HOST = '127.0.0.1'

async function start(options: V4MiniflareOptions) {
  const worker = new Miniflare(convertV4MiniflareOptions(options))
  try {
    const { origin: url } = await worker.unsafeGetDirectURL()
    await (await fetch(`${url}/api/system/live`)).arrayBuffer()
    return { worker, url }
  } catch (cause) {
    await worker.dispose()
    throw cause
  }
}

const root = join(import.meta.dirname, '../../..')
/** Beside the bundle: what wrangler.toml says of the Worker. */
const CONFIGURED = 'wrangler.json'

/** As `wrangler deploy` would upload it. */
async function bundle(entry: TestWorker, directory: string): Promise<void> {
  await writeWorkerParts()
  const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js')
  const parameters = ['deploy', join(import.meta.dirname, `${entry}.ts`), '--dry-run', '--outdir', directory]
  await run(process.execPath, [wrangler, ...parameters], { cwd: root, env: { ...process.env, ...quiet } })
  const { unstable_getMiniflareWorkerOptions: read } = await import('wrangler')
  await writeFile(join(directory, CONFIGURED), JSON.stringify(read(join(root, 'wrangler.toml')).workerOptions))
}
