/**
 * Keeps the code of a bundled extension below node_modules/.cache and returns it for as long as every file that it was
 * made of has the same content, since to bundle takes longer than all else of an extension at a start. Only what is made
 * of the extension's own files and the connector kit is kept: where a package comes from depends on more than files.
 */
import { readdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { cacheFolder, changedSince, digestOf, readKept, writeKept } from '../kept-file.ts'

export type Bundle = {
  readonly code: string
  /** Files, relative to the folder. */
  readonly inputs: readonly string[]
}

type Kept = Bundle & { readonly digest: string }

const root = join(import.meta.dirname, '../../../..')
const ours = join(root, 'src') + sep

/** Every bundle depends on these: the version of the bundler, and how it is asked. */
const settings = [join(root, 'package.json'), join(import.meta.dirname, 'extension-bundler.ts')]

/** Throws what `make` throws; that is never kept. */
export async function keptBundle(folder: string, entry: string, make: () => Promise<Bundle>): Promise<string> {
  const file = keptAt(folder, entry)
  const kept = await readKept<Kept>(file)
  if (kept !== undefined && (await bundleDigest(folder, kept.inputs)) === kept.digest) return kept.code
  const startedAt = Date.now()
  const bundle = await make()
  await keep(file, { folder, bundle, startedAt }).catch(() => {
    // The next start bundles again: a file was removed meanwhile, or nothing may be written here.
  })
  return bundle.code
}

/** The file that is kept of it. */
export function keptAt(folder: string, entry: string): string {
  return join(cacheFolder('extensions'), `${digestOf([folder, entry])}.json`)
}

type Making = { readonly folder: string; readonly bundle: Bundle; readonly startedAt: number }

/** Milliseconds. */
const SETTLED = 60_000

/** Whoever works on a file will change it again, perhaps while it is bundled: a bundle of it is not kept. */
async function keep(file: string, { folder, bundle, startedAt }: Making): Promise<void> {
  const inputs = bundle.inputs.map((input) => join(folder, input))
  const isOwn = (path: string) =>
    path.startsWith(ours) || (path.startsWith(folder + sep) && !path.split(sep).includes('node_modules'))
  if ((await realpath(folder)) !== folder || !inputs.every(isOwn)) return
  const digest = await bundleDigest(folder, bundle.inputs)
  if (digest === undefined || (await changedSince(startedAt - SETTLED, inputs))) return
  await writeKept<Kept>(file, { ...bundle, digest })
}

/** Undefined if one of them is gone, or if a configuration names another file. */
async function bundleDigest(folder: string, inputs: readonly string[]): Promise<string | undefined> {
  const configured = await Promise.all(configurations(folder).map(configuration))
  if (configured.includes(undefined)) return undefined
  try {
    const files = [...settings, ...inputs.map((input) => join(folder, input))]
    const contents = await Promise.all(files.map((file) => readFile(file)))
    // A new file may be what an import means from now on.
    return digestOf([JSON.stringify(await filesBelow(folder)), ...contents, JSON.stringify(configured)])
  } catch {
    return undefined
  }
}

/** What the bundler looks for in the folder and in all above it. */
function configurations(folder: string): readonly string[] {
  const own = ['package.json', 'tsconfig.json'].map((name) => join(folder, name))
  return dirname(folder) === folder ? own : [...own, ...configurations(dirname(folder))]
}

/** Its content, empty where there is none; undefined if it names another file. */
async function configuration(file: string): Promise<string | undefined> {
  const content = await readFile(file, 'utf8').catch(() => '')
  return file.endsWith('tsconfig.json') && content.includes('"extends"') ? undefined : content
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.map(({ parentPath, name }) => relative(folder, resolve(parentPath, name))).sort()
}
