/**
 * Bundles a Worker as it is uploaded: its main file, which is all that a start runs, and below `parts` what loads apart,
 * that is the drivers of databases and what is behind an `import()` (decision 036). wrangler would put all but the drivers
 * into one module.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { minify as shorten } from 'rolldown/utils'
import { writeWorkerParts } from './worker-parts.ts'

export type WorkerModulesOptions = {
  /** Main file of the Worker, relative to the repository; its module has the same name. */
  readonly entry: string
  readonly directory: string
  readonly minify: boolean
}

const root = join(import.meta.dirname, '..')
/** What workerd runs. */
const TARGET = 'es2024'
/** One module: what most Workers never run. Each module more makes the Worker larger by half a KiB and up. */
const seldom = [
  'handlers/assistant/handlers.ts',
  'handlers/mcp/server.ts',
  'src/core/manifest/access-view.ts',
  'src/core/manifest/explanation.ts',
  'src/core/manifest/model-view.ts',
  'src/core/openapi.ts',
  'src/core/plan/aggregate.ts',
  'src/core/sql/read/aggregate.ts',
  'src/core/sql/checks/expression.ts',
  'src/core/sql/mysql/aggregates.ts',
  'src/core/sql/postgres/aggregates.ts',
  'src/platform/cloudflare/file-stores.ts',
  'src/services/accounts/device-codes.ts',
  'src/services/accounts/provider-protocol.ts',
  'src/services/assistant/assistant.ts',
  'src/services/data/item-batch.ts',
  'src/services/data/once/once.ts',
  'src/services/rights/model-file/use-cases.ts',
  'src/sources/once.ts',
  'src/sources/sql/estimate.ts',
  'src/sources/sql/failed-operation.ts',
  'src/sources/sql/repeat.ts',
]

/** Returns the files that the modules were made of, relative to the repository. Throws with the places of what is wrong. */
export async function writeWorkerModules(options: WorkerModulesOptions): Promise<readonly string[]> {
  const { entry, directory, minify } = options
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    minify,
    metafile: true,
    outdir: directory,
    entryNames: '[name]',
    chunkNames: 'parts/[name]-[hash]',
    format: 'esm',
    platform: 'browser',
    target: TARGET,
    conditions: ['workerd', 'worker', 'browser'],
    define: { 'navigator.userAgent': '"Cloudflare-Workers"', 'process.env.NODE_ENV': '"production"' },
    external: ['cloudflare:*', 'node:*'],
    plugins: [seldomAsOne(entry), driversBeside, withoutUnused],
    legalComments: 'none',
    logLevel: 'silent',
  })
  const inputs = [...Object.keys(metafile.inputs), ...(await writeWorkerParts(join(directory, 'parts')))]
  if (minify) await shortenAll(directory)
  return inputs
}

/** esbuild inlines little of what it minifies: Rolldown's minifier takes another 4 % of the compressed size. */
async function shortenAll(directory: string): Promise<void> {
  const names = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.js'))
  for (const name of names) {
    const file = join(directory, name)
    const { code, errors } = await shorten(name, await readFile(file, 'utf8'), {
      module: true,
      compress: { target: TARGET },
      mangle: { toplevel: true },
    })
    if (errors.length > 0) throw new Error(`${name} cannot be minified: ${errors[0]?.message}`)
    await writeFile(file, code)
  }
}

/**
 * The module also exports what `entry` does: esbuild then puts all that a start runs into one module that both share,
 * instead of two that name some hundred parts to each other.
 */
function seldomAsOne(entry: string): Plugin {
  return {
    name: 'seldom-as-one',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\.ts$/ }, ({ path, kind, resolveDir }) =>
        kind === 'dynamic-import' && seldom.includes(relative(root, join(resolveDir, path)))
          ? { path: 'seldom', namespace: 'as-one' }
          : undefined,
      )
      onLoad({ filter: /./, namespace: 'as-one' }, () => ({
        contents: [...seldom, entry].map((file) => `export * from './${file}'`).join('\n'),
        resolveDir: root,
      }))
    },
  }
}

/** Drivers lie beside the module that loads them: below `parts`, as everything but the exports of the main one. */
const driversBeside: Plugin = {
  name: 'drivers-beside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/parts\/\w+\.js$/ }, ({ path }) => ({ path: `./${basename(path)}`, external: true }))
  },
}

/** What packages load for functions that we never call: sub-applications, forms and HTML of hono, long tasks of MCP. */
const unused: Readonly<Record<string, string>> = {
  'hono/dist/utils/mount.js': 'export const createMountedRequest = undefined',
  'hono/dist/utils/body.js': 'export const parseBody = undefined',
  'hono/dist/utils/html.js': 'export const HtmlEscapedCallbackPhase = {}, resolveCallback = undefined',
  '@modelcontextprotocol/sdk/dist/esm/experimental/tasks/server.js': 'export class ExperimentalServerTasks {}',
}

const withoutUnused: Plugin = {
  name: 'without-unused',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/(hono\/dist\/utils|@modelcontextprotocol)\/.*\.js$/ }, ({ path }) => {
      const contents = unused[path.replace(/^.*node_modules\//, '')]
      return contents === undefined ? undefined : { contents }
    })
  },
}

if (import.meta.main) {
  // Where wrangler.toml looks for it.
  const directory = join(root, 'dist/worker')
  await rm(directory, { recursive: true, force: true })
  const entry = 'handlers/worker.ts'
  await writeWorkerModules({ entry, directory, minify: true })
  console.log(`${entry} → ${relative(root, join(directory, basename(entry, '.ts')))}.js`)
}
