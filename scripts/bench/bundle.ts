/** Bundles Workers as they are uploaded, minified, in a temporary folder. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { writeWorkerModules } from '../worker-modules.ts'
import { workerParts } from '../worker-parts.ts'

export type Bundle = {
  readonly modules: readonly { readonly name: string; readonly text: string }[]
  readonly compatibility: Compatibility
}

/** The settings of wrangler.toml; the bare Workers run with the same. */
export type Compatibility = { readonly date: string; readonly flags: readonly string[] }

const root = new URL('../../', import.meta.url).pathname
const run = promisify(execFile)

/** Bundles the Worker as `npm run deploy` uploads it. */
export function bundleOurs(): Promise<Bundle> {
  return inTemporaryFolder(async (folder) => {
    await writeWorkerModules({ entry: 'handlers/worker.ts', directory: folder, minify: true })
    return read(folder)
  })
}

/** `entry` is a module of this folder. */
export function bundleBare(entry: string): Promise<Bundle> {
  return inTemporaryFolder(async (folder) => {
    const { date, flags } = await readCompatibility()
    const config = join(folder, 'wrangler.json')
    const main = new URL(entry, import.meta.url).pathname
    const content = { name: 'bare', main, compatibility_date: date, compatibility_flags: flags }
    await writeFile(config, JSON.stringify(content))
    return bundle(folder, ['--config', config])
  })
}

export type BundleSize = {
  /** What a start runs. */
  readonly start: number
  /** It and what is loaded when it is first asked for, but for drivers. */
  readonly main: number
  readonly httpParts: number
  readonly tcpParts: number
}

/** In bytes, each module by gzip. */
export function gzipSize({ modules }: Bundle): BundleSize {
  const size = (wanted: typeof modules) => wanted.reduce((sum, { text }) => sum + gzipSync(text).length, 0)
  const parts = modules.filter(isDriver)
  return {
    start: size(modules.filter((one) => !isDriver(one) && !one.name.startsWith('parts/seldom-'))),
    main: size(modules.filter((one) => !isDriver(one))),
    httpParts: size(parts.filter((one) => !isTcpDriver(one))),
    tcpParts: size(parts.filter(isTcpDriver)),
  }
}

const drivers: ReadonlySet<string> = new Set(workerParts.map((part) => `parts/${part}.js`))

function isDriver({ name }: { readonly name: string }): boolean {
  return drivers.has(name)
}

function isTcpDriver({ name }: { readonly name: string }): boolean {
  return name === 'parts/postgres.js' || name === 'parts/mysql.js'
}

export async function readCompatibility(): Promise<Compatibility> {
  const text = await readFile(join(root, 'wrangler.toml'), 'utf8')
  const date = /^compatibility_date = "(.+)"$/m.exec(text)?.[1]
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(text)?.[1]
  if (date === undefined || flags === undefined) throw new Error('wrangler.toml names no compatibility date and flags')
  return { date, flags: JSON.parse(flags) as string[] }
}

async function bundle(folder: string, options: readonly string[]): Promise<Bundle> {
  const out = join(folder, 'out')
  const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js')
  const quiet = { WRANGLER_SEND_METRICS: 'false', WRANGLER_SEND_ERROR_REPORTS: 'false', WRANGLER_HIDE_BANNER: 'true' }
  const parameters = ['deploy', '--dry-run', '--minify', '--outdir', out, ...options]
  await run(process.execPath, [wrangler, ...parameters], { cwd: root, env: { ...process.env, ...quiet } })
  return read(out)
}

/** The main module comes first. */
async function read(folder: string): Promise<Bundle> {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.js'))
  const [main, parts] = [files.filter((name) => !name.includes('/')), files.filter((name) => name.includes('/'))]
  const modules = await Promise.all(
    [...main, ...parts].map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
  )
  return { modules, compatibility: await readCompatibility() }
}

async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-bundle-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
