/**
 * `npm run packages:publish [-- --dry-run]`: packs the client and the command line, tries both in an empty folder, and
 * publishes what the registry does not have yet, with a statement of where it was built. So a run that broke off is run again.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

/** In this order: the command line depends on the client. */
const folders = ['packages/client', 'packages/cli'] as const

type Manifest = {
  readonly name: string
  readonly version: string
  readonly repository?: unknown
  readonly dependencies?: Readonly<Record<string, string>>
}

const isDryRun = process.argv.includes('--dry-run')

try {
  const manifests = await Promise.all(folders.map(readManifest))
  await requireClean()
  requireOneVersion(manifests)
  if (!isDryRun) await requireRelease(manifests)
  await publish(manifests)
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause)
  process.exitCode = 1
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as Manifest
}

/** What is published is what is committed. */
async function requireClean(): Promise<void> {
  const { stdout } = await run('git', ['status', '--porcelain'], { cwd: root })
  if (stdout !== '') throw new Error(`Commit first, these files differ:\n${stdout.trimEnd()}`)
}

function requireOneVersion(manifests: readonly Manifest[]): void {
  const versions = new Map(manifests.map(({ name, version }) => [name, version]))
  const [version] = versions.values()
  for (const { name, version: own, dependencies = {} } of manifests) {
    if (own !== version)
      throw new Error(`${name} is ${own}, but ${manifests[0]?.name} is ${version}: release them together`)
    for (const [dependency, wanted] of Object.entries(dependencies)) {
      if (wanted !== versions.get(dependency))
        throw new Error(`${name} depends on ${dependency} ${wanted}, not ${version}`)
    }
  }
}

/** A registry that states where a package was built compares that with its repository; the tag is what one finds there. */
async function requireRelease(manifests: readonly Manifest[]): Promise<void> {
  for (const { name, repository } of manifests) {
    if (repository === undefined)
      throw new Error(`${name} does not say its repository in package.json, which provenance takes`)
  }
  const tag = `v${manifests[0]?.version}`
  const { stdout } = await run('git', ['tag', '--points-at', 'HEAD'], { cwd: root })
  if (!stdout.split('\n').includes(tag)) throw new Error(`This commit has no tag ${tag}`)
}

async function publish(manifests: readonly Manifest[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'packages-'))
  try {
    const tarballs = await pack(directory, manifests)
    await tryOut(join(directory, 'tried'), tarballs, manifests)
    for (const [index, { name, version }] of manifests.entries()) {
      if (await isPublished(`${name}@${version}`)) {
        console.log(`${name} ${version} is published already`)
        continue
      }
      const flags = isDryRun ? ['--dry-run'] : ['--provenance']
      await npm(['publish', tarballs[index] ?? '', '--access', 'public', ...flags], directory)
      console.log(isDryRun ? `${name} ${version} would be published` : `${name} ${version} is published`)
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Answers the tarballs, in the order of the packages. */
async function pack(directory: string, manifests: readonly Manifest[]): Promise<readonly string[]> {
  await npm(['pack', ...folders.flatMap((folder) => ['--workspace', folder]), '--pack-destination', directory], root)
  const names = await readdir(directory)
  return manifests.map(({ name, version }) => {
    const found = names.find((file) => file === `${name}-${version}.tgz`)
    if (found === undefined) throw new Error(`npm has not packed ${name}`)
    return join(directory, found)
  })
}

/** In an empty folder, without anything of this repository. */
async function tryOut(folder: string, tarballs: readonly string[], manifests: readonly Manifest[]): Promise<void> {
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  await npm(['install', '--offline', '--no-audit', '--no-fund', ...tarballs], folder)
  const { stdout } = await run(join(folder, 'node_modules/.bin/governed'), ['--version'], { cwd: folder })
  const version = stdout.trim()
  if (version !== manifests[0]?.version) throw new Error(`governed --version says ${version}`)
  const entries = ['governed-data-client', 'governed-data-client/generate', 'governed-data-client/system']
  const imports = entries.map((entry) => `await import('${entry}')`).join('; ')
  await run(process.execPath, ['--input-type=module', '--eval', imports], { cwd: folder })
}

async function isPublished(name: string): Promise<boolean> {
  try {
    const { stdout } = await npm(['view', name, 'version'], root)
    return stdout.trim() !== ''
  } catch (cause) {
    if (/E404/.test(String((cause as { readonly stderr?: string }).stderr))) return false
    throw cause
  }
}

function npm(parameters: readonly string[], cwd: string) {
  return run('npm', [...parameters], { cwd })
}
