/**
 * Loads the folder of installed extensions into a ConnectorCatalog. Every subfolder with a package.json is an
 * extension. An unusable one is listed with its place and reason, and never prevents the others or the service from
 * starting.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { BrokenExtension, ConnectorCatalog, InstalledConnector } from '../../../ports/connectors.ts'
import type { Observe } from '../../../ports/observe.ts'
import { type ManifestEntry, parseManifest } from '../../connectors/manifest.ts'
import { bundleExtension } from './extension-bundler.ts'

export type Extensions = {
  readonly installed: readonly InstalledConnector[]
  readonly broken: readonly BrokenExtension[]
}

export type OpenCatalog = ConnectorCatalog & { readonly close: () => void }

export type CatalogOptions = {
  readonly path: string
  /** Whether the folder is watched for changes. */
  readonly autoReload: boolean
  readonly observe: Observe
}

/** Resolves when everything is loaded. */
export async function openNodeCatalog({ path, autoReload, observe }: CatalogOptions): Promise<OpenCatalog> {
  let last = await fingerprint(path)
  let current = await loadExtensions(path)
  let isChecking = false
  logExtensions(current, observe)

  /**
   * Polls the files: file system notifications miss changes in a folder that is just being created. Several writes may
   * cause several loads.
   */
  async function checkForChanges(): Promise<void> {
    const now = await fingerprint(path)
    if (now === last) return
    last = now
    current = await loadExtensions(path)
    logExtensions(current, observe)
  }

  async function follow(): Promise<void> {
    if (isChecking) return
    isChecking = true
    await checkForChanges().catch((error: unknown) => observe({ kind: 'fault', error }))
    isChecking = false
  }

  const timer = autoReload ? setInterval(() => void follow(), LOOK_EVERY).unref() : undefined
  return {
    installed: () => current.installed,
    broken: () => current.broken,
    close: () => clearInterval(timer),
  }
}

const LOOK_EVERY = 500

/** Places are relative to the parent of `path`. */
export async function loadExtensions(path: string): Promise<Extensions> {
  const installed = new Map<string, InstalledConnector>()
  const broken: BrokenExtension[] = []
  for (const name of await extensionFolders(path)) {
    const place = `${basename(resolve(path))}/${name}`
    for (const result of await loadFolder(join(resolve(path), name), place)) {
      if ('reason' in result) broken.push(result)
      else if (installed.has(result.id)) {
        broken.push({ location: `${place}/package.json`, reason: `the id ${result.id} is taken by another extension` })
      } else installed.set(result.id, result)
    }
  }
  return { installed: [...installed.values()].sort((one, other) => (one.id < other.id ? -1 : 1)), broken }
}

/** Sorted, so that of two extensions with one id the same one always wins. */
async function extensionFolders(path: string): Promise<readonly string[]> {
  const names = await readdir(path).catch(() => [])
  const folders = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(path, name)).catch(() => undefined)
      return found?.isDirectory() && !name.startsWith('.') && name !== 'node_modules' ? [name] : []
    }),
  )
  return folders.flat().sort()
}

async function loadFolder(folder: string, place: string): Promise<readonly (InstalledConnector | BrokenExtension)[]> {
  const manifest = `${place}/package.json`
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined)
  if (text === undefined) return [{ location: manifest, reason: 'is missing' }]
  const reading = parseManifest(text)
  if (reading.kind === 'invalid') {
    return reading.faults.map((fault) => ({
      location: fault.place === '' ? manifest : `${manifest}: ${fault.place}`,
      reason: fault.reason,
    }))
  }
  return Promise.all(reading.entries.map((entry) => loadEntry(entry, folder, place)))
}

async function loadEntry(
  { id, name, entry, engine }: ManifestEntry,
  folder: string,
  place: string,
): Promise<InstalledConnector | BrokenExtension> {
  const bundling = await bundleExtension(folder, entry)
  if (bundling.kind === 'failed') {
    return { location: `${place}/${bundling.place.replace(/^\.\//, '')}`, reason: bundling.reason }
  }
  const { code } = bundling
  const { permissions } = engine
  const revision = createHash('sha256')
    .update(JSON.stringify([id, name, permissions, code]))
    .digest('hex')
  return { id, name, permissions, code, revision }
}

function logExtensions({ broken }: Extensions, observe: Observe): void {
  for (const { location, reason } of broken) observe({ kind: 'warning', message: `extension ${location} ${reason}` })
}

/** Names, sizes and times of all files outside node_modules. */
async function fingerprint(path: string): Promise<string> {
  const folders = await extensionFolders(path)
  return JSON.stringify(await Promise.all(folders.map((name) => stamps(join(path, name)))))
}

async function stamps(folder: string): Promise<readonly unknown[]> {
  const entries = await readdir(folder).catch(() => [])
  const own = entries.filter((name) => !name.startsWith('.') && name !== 'node_modules').sort()
  return Promise.all(
    own.map(async (name) => {
      const file = join(folder, name)
      const found = await stat(file).catch(() => undefined)
      return [file, found?.isDirectory() ? await stamps(file) : [found?.mtimeMs, found?.size]]
    }),
  )
}
