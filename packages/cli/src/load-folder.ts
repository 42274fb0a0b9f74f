/**
 * Loads the items of a folder, a file for each collection, by their keys; so it can be run again. Collections come in the
 * order that their relations ask for.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ManifestText } from 'governed-data-client/generate'
import type { Connection } from './connection.ts'
import { Failure } from './failure.ts'
import { type Loadable, loadableOf, loadOrder } from './manifest.ts'
import { nearest } from './nearest.ts'
import { parseJson, readText } from './written-file.ts'

/** In one request, which is one transaction. */
const MOST_ITEMS = 500
const MOST_CHARACTERS = 1_000_000

type Item = Readonly<Record<string, unknown>>

/** `index`: where it is in its file. */
type Entry = { readonly index: number; readonly item: Item }

export type Loading = Pick<Connection, 'db' | 'must'> & {
  readonly folder: string
  /** Of the workspace, as it is now. */
  readonly manifest: ManifestText
  readonly progress: (text: string) => void
}

/** How many items there are of each collection. Throws where files do not fit, before anything is written. */
export async function loadFolder(loading: Loading): Promise<Readonly<Record<string, number>>> {
  const { folder, manifest, progress } = loading
  const files = await readFolder(folder)
  const collections = loadableOf(manifest)
  for (const [name, items] of files) requireFit(collections, name, items)
  const { turns, stuck } = loadOrder(collections, [...files.keys()])
  if (stuck.length > 0) {
    throw new Failure(`${stuck.join(' and ')} need each other`, { help: 'make a relation between them nullable' })
  }
  const write = async (name: string, entries: readonly Entry[], mayBeNew: boolean) => {
    let done = 0
    let isNew = mayBeNew
    for (const part of partsOf(entries)) {
      isNew = await writePart(loading, { name, part, key: collections.get(name)?.key ?? [], isNew })
      done += part.length
      // The last count is the result, or soon is.
      if (done < entries.length) progress(`${name}: ${done} of ${entries.length}`)
    }
  }
  for (const { collection, later } of turns) {
    await write(
      collection,
      entriesOf(files, collection).map(({ index, item }) => ({ index, item: without(item, later) })),
      true,
    )
  }
  for (const { collection, later } of turns) {
    const isLate = ({ item }: Entry) => later.some((name) => (item[name] ?? null) !== null)
    await write(collection, entriesOf(files, collection).filter(isLate), false)
  }
  return Object.fromEntries(turns.map(({ collection }) => [collection, files.get(collection)?.length ?? 0]))
}

async function readFolder(path: string): Promise<ReadonlyMap<string, readonly Item[]>> {
  const names = await readdir(path).catch(() => {
    throw new Failure(`${path} is no folder that can be read`)
  })
  const files = new Map<string, readonly Item[]>()
  for (const name of names.filter((name) => name.endsWith('.json')).sort()) {
    const content = parseJson(name, (await readText(join(path, name))) ?? '')
    if (!Array.isArray(content)) throw new Failure(`${name} must hold a list of items`)
    files.set(name.slice(0, -'.json'.length), content)
  }
  if (files.size === 0) throw new Failure(`${path} has no <collection>.json`)
  return files
}

function entriesOf(files: ReadonlyMap<string, readonly Item[]>, name: string): readonly Entry[] {
  return (files.get(name) ?? []).map((item, index) => ({ index, item }))
}

/** Before anything is written. */
function requireFit(collections: ReadonlyMap<string, Loadable>, name: string, items: readonly Item[]): void {
  const collection = collections.get(name)
  if (collection === undefined) {
    throw new Failure(`${name}.json: there is no collection ${name}${nearest(name, [...collections.keys()])}`)
  }
  const { key } = collection
  if (key.length === 0) throw new Failure(`${name}.json: ${name} has no key by which items could be known`)
  for (const [index, item] of items.entries()) {
    const place = `${name}.json: [${index}]`
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw new Failure(`${place} is no item`)
    const lacking = key.find((field) => (item[field] ?? null) === null)
    if (lacking !== undefined) {
      throw new Failure(`${place} lacks ${lacking}, a field of its key`, { help: 'items are known by their keys' })
    }
  }
}

/** What is sent in one request each. */
function* partsOf(entries: readonly Entry[]): Generator<readonly Entry[]> {
  let part: Entry[] = []
  let size = 0
  for (const entry of entries) {
    const length = JSON.stringify(entry.item).length
    if (part.length === MOST_ITEMS || (part.length > 0 && size + length > MOST_CHARACTERS)) {
      yield part
      part = []
      size = 0
    }
    part.push(entry)
    size += length
  }
  if (part.length > 0) yield part
}

type Part = {
  readonly name: string
  readonly part: readonly Entry[]
  readonly key: readonly string[]
  /** Nothing was there yet: creating takes a fraction of the time, and is refused as a whole where something is. */
  readonly isNew: boolean
}

/** Whether all of it was new. */
async function writePart({ db, must }: Loading, { name, part, key, isNew }: Part): Promise<boolean> {
  // An item that is nothing but its key has nothing to be changed.
  const isBare = part.every(({ item }) => Object.keys(item).every((field) => key.includes(field)))
  const conflict = { 'conflict[fields]': key.join(), 'conflict[do]': isBare ? 'ignore' : 'update' }
  const body = part.map(({ item }) => item)
  const send = (how: object) =>
    db.$request('POST', `items/${encodeURIComponent(name)}`, {
      query: { ...how, fields: key.join() },
      body,
      idempotencyKey: true,
    })
  try {
    if (isNew) {
      const created = await send({})
      if (created.ok) return true
      if (created.error.code !== NOT_UNIQUE) await must(created)
    }
    await must(send(conflict))
    return false
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    // The service counts from the first of the request, the reader from the first of the file.
    const message = cause.message.replace(
      /(?<=^|> )\[(\d+)\]/g,
      (_, index) => `[${part[Number(index)]?.index ?? index}]`,
    )
    throw new Failure(`${name}.json: ${message}`, {
      cause: cause.cause,
      help: cause.help ?? 'what is before it is written; mend it and run this again',
    })
  }
}

const NOT_UNIQUE = '1002'

function without(item: Item, names: readonly string[]): Item {
  return names.length === 0 ? item : Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)))
}
