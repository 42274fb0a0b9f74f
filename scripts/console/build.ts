/**
 * `npm run build:console`: builds the console into dist/console. Starts and tests take a build that is kept below
 * node_modules/.cache for as long as its sources have the same content (decision 092).
 */
import { existsSync, readdirSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { InlineConfig } from 'vite'
import { cacheFolder, digestOf } from '../../src/platform/node/kept-file.ts'
import { documentation, documents } from './documentation.ts'

const root = join(import.meta.dirname, '../..')

const client = (file: string) => join(root, `packages/client/src/${file}.ts`)

/** What every visit needs: one file, beside the entry, which waits for it. */
function everyVisit(): RegExp {
  // Those that a file beside the languages joins load with their screen.
  const late = readdirSync(join(root, 'console/src/messages/en'))
    .filter((file) => existsSync(join(root, 'console/src/messages', file)))
    .map((file) => file.replace('.ts', ''))
  return new RegExp(
    [
      'node_modules|packages/client/src',
      'console/src/(styles/|ui/(?!table)|app/(?!help|palette-finds)|data/(?!sample|assistant))',
      `console/src/messages/(en(?!/(${late.join('|')}))|fault|messages)`,
      'console/src/screens/(entry|missing|page|new-workspace)',
    ].join('|'),
  )
}

const configOf = (): InlineConfig => ({
  root: join(root, 'console'),
  configFile: false,
  logLevel: 'error',
  plugins: [documentation(join(root, 'docs'))],
  resolve: {
    alias: [
      { find: /^governed-data-client$/, replacement: client('index') },
      { find: /^governed-data-client\/system$/, replacement: client('system') },
    ],
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  // A build that tests make is the one that is shipped.
  define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  css: { modules: { generateScopedName: '[local]-[hash:base64:5]' } },
  build: {
    target: ['chrome125', 'firefox147', 'safari26'],
    assetsDir: '-/assets',
    // Inlined they would be `data:`, which the policy of the page refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    emptyOutDir: true,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'base', test: everyVisit() }] } } },
  },
})

/** Where a build lies that comes without sources, as in an image. */
const shipped = join(root, 'dist/console')

/** Files and folders that a build is made of. */
const sources = [
  ...[
    'console',
    'packages/client/src',
    'package-lock.json',
    'scripts/console/build.ts',
    'scripts/console/documentation.ts',
  ],
  ...documents.map((name) => `docs/${name}.md`),
]

/**
 * The folder of the built console, which is built first where it is missing or older than its sources. Undefined where
 * it can neither be found nor built. Throws with the places of what is wrong in the sources.
 */
export async function consoleFolder(): Promise<string | undefined> {
  if (!existsSync(join(root, 'console'))) return existsSync(shipped) ? shipped : undefined
  const folder = join(cacheFolder('console'), (await sourcesDigest()).slice(0, 16))
  if (existsSync(folder)) return folder
  // Packages for development only are not there after `npm ci --omit=dev`.
  if (!existsSync(join(root, 'node_modules/vite'))) return existsSync(shipped) ? shipped : undefined
  await buildInto(folder)
  return folder
}

async function sourcesDigest(): Promise<string> {
  const files = (await Promise.all(sources.map(filesBelow))).flat().sort()
  const contents = await Promise.all(files.map((file) => readFile(join(root, file))))
  return digestOf(files.flatMap((file, index) => [file, contents[index] ?? '']))
}

async function filesBelow(path: string): Promise<readonly string[]> {
  if (/\.\w+$/.test(path)) return [path]
  const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
}

/** Others that build the same meanwhile see all of it or nothing. */
async function buildInto(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  const draft = await mkdtemp(`${folder}.`)
  try {
    const { build } = await import('vite')
    const config = configOf()
    await build({ ...config, build: { ...config.build, outDir: draft } })
    await rename(draft, folder).catch((cause) => {
      if (!existsSync(folder)) throw cause
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  await forgetOthers(folder)
}

/** Milliseconds after which a build of other sources is deleted; a running service has read it by then. */
const KEPT = 7 * 86_400_000

async function forgetOthers(kept: string): Promise<void> {
  const all = (await readdir(dirname(kept))).map((name) => join(dirname(kept), name)).filter((path) => path !== kept)
  for (const folder of all) {
    const { mtimeMs = 0 } = await stat(folder).catch(() => ({}) as { mtimeMs?: number })
    if (mtimeMs < Date.now() - KEPT) await rm(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const folder = await consoleFolder()
  if (folder === undefined) throw new Error('there are no sources of the console')
  await rm(shipped, { recursive: true, force: true })
  await cp(folder, shipped, { recursive: true })
  const names = await readdir(join(shipped, '-/assets'))
  console.log(`console → dist/console, ${names.length} files`)
}
