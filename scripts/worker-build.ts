/**
 * The Worker as it is uploaded, minified or not. A build is kept below node_modules/.cache and returned again for as
 * long as every file that it was made of has the same content, since making it takes longer than all else of a start.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { cacheFolder, changedSince, digestOf, readKept, writeKept } from '../src/platform/node/kept-file.ts'
import { writeWorkerModules } from './worker-modules.ts'

export type WorkerBuild = {
  /** What wrangler.toml says of the Worker, as options of Miniflare. */
  readonly configured: { readonly assets: object; readonly compatibilityDate?: string }
  /** The main module is the first. */
  readonly modules: readonly { readonly type: 'ESModule'; readonly path: string; readonly contents: string }[]
}

type Kept = { readonly inputs: readonly string[]; readonly digest: string; readonly build: WorkerBuild }

const root = join(import.meta.dirname, '..')

/** Whatever the main file is, its build depends on these. */
const settings = [
  'wrangler.toml',
  'tsconfig.json',
  'package.json',
  'node_modules/.package-lock.json',
  'scripts/worker-build.ts',
  'scripts/worker-modules.ts',
  'scripts/worker-parts.ts',
]

export type WorkerBuildOptions = {
  /** The main file, relative to the repository. */
  readonly entry: string
  /** As it is uploaded; otherwise stack traces can be read. */
  readonly minify: boolean
}

/** Throws with the places of what is wrong where it cannot be built. */
export async function buildWorker(options: WorkerBuildOptions): Promise<WorkerBuild> {
  const { entry, minify } = options
  const name = `${entry.replaceAll(/\W+/g, '-')}${minify ? '.min' : ''}.json`
  const file = join(cacheFolder('worker'), name)
  const kept = await readKept<Kept>(file)
  if (kept !== undefined && (await buildDigest(kept.inputs)) === kept.digest) return kept.build
  const startedAt = Date.now()
  const { build, inputs } = await make(options)
  await keep(file, { build, inputs, startedAt })
  return build
}

/** Undefined if one of them is gone. */
async function buildDigest(inputs: readonly string[]): Promise<string | undefined> {
  try {
    return digestOf(await Promise.all(inputs.map((input) => readFile(join(root, input)))))
  } catch {
    return undefined
  }
}

type Made = { readonly build: WorkerBuild; readonly inputs: readonly string[] }

async function make(options: WorkerBuildOptions): Promise<Made> {
  const directory = await mkdtemp(join(tmpdir(), 'worker-'))
  try {
    const [configured, inputs] = await Promise.all([readConfiguration(), bundle(options, directory)])
    const main = `${basename(options.entry, '.ts')}.js`
    const parts = (await readdir(join(directory, 'parts'))).map((name) => `parts/${name}`)
    const modules = [main, ...parts.sort()].map(async (path) => {
      return { type: 'ESModule', path, contents: await readFile(join(directory, path), 'utf8') } as const
    })
    return {
      build: { configured, modules: await Promise.all(modules) },
      // The others are modules that stand for those of packages.
      inputs: [...new Set([...settings, ...inputs])].filter((input) => existsSync(join(root, input))),
    }
  } finally {
    await rm(directory, { recursive: true })
  }
}

function bundle(options: WorkerBuildOptions, directory: string): Promise<readonly string[]> {
  return writeWorkerModules({ ...options, directory }).catch((cause: Error) => {
    throw new Error(`the Worker cannot be built:\n${cause.message}`, { cause })
  })
}

async function readConfiguration(): Promise<WorkerBuild['configured']> {
  Object.assign(process.env, quiet)
  const { unstable_getMiniflareWorkerOptions: read } = await import('wrangler')
  return JSON.parse(JSON.stringify(read(join(root, 'wrangler.toml')).workerOptions))
}

/** A file that changed while it was built may be in the build as it was before, so that such a build is not kept. */
async function keep(file: string, { build, inputs, startedAt }: Made & { readonly startedAt: number }): Promise<void> {
  try {
    const digest = await buildDigest(inputs)
    const files = inputs.map((input) => join(root, input))
    if (digest === undefined || (await changedSince(startedAt, files))) return
    await writeKept<Kept>(file, { inputs, digest, build })
  } catch {
    // The next start builds again: a file was removed meanwhile, or nothing may be written here.
  }
}

const quiet = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  // Without a table of the parts that load apart.
  WRANGLER_LOG: 'error',
}
