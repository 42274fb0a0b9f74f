/**
 * What the model is to be: the file and the records of now → the records of then, with the place in the file of each.
 * Nothing of a database is known here; what a database refuses, the operations tell.
 */

import { junctionKey } from '../migration/many-to-many.ts'
import { byId, lookupOf } from '../model/lookup.ts'
import {
  type CollectionRecord,
  isSystemSource,
  type ModelRecords,
  type NamespaceRecord,
  type SourceRecord,
} from '../model/model.ts'
import { systemRecords } from '../model/system.ts'
import { didYouMean } from '../nearest.ts'
import type { Parts } from '../parts.ts'
import { type FileCollection, type FileField, type FileJunction, junctionSides, type ModelFile } from './file.ts'
import { createIds, type Ids, identify } from './identity.ts'
import { checkApiName, checkDbName } from './names.ts'
import { requireNear } from './operations/size.ts'
import { fileFault, within } from './reading.ts'
import type { CollectionEntry, MatchedCollection, Resolved } from './resolution.ts'
import { resolveFields } from './resolve-fields.ts'
import { ownNamespaceOf } from './sources.ts'

export type ResolveContext = {
  readonly workspace: string
  readonly newId: () => string
}

/** Throws 422 with the place of what cannot be. */
export function* resolveFile(file: ModelFile, records: ModelRecords, context: ResolveContext): Parts<Resolved> {
  const sources = resolveSources(file, records)
  const { collections } = file
  if (collections === undefined) return { records, places: new Map() }
  requireNear(file, records)
  const ids = createIds(file.ids, idsOf(records), context.newId)
  const entries = entriesOf(collections)
  const matched = yield* placeCollections(entries, records, { sources, ids, context })
  const { namespaces } = matched
  return yield* resolveFields(matched.collections, { records: { ...records, namespaces }, sources, ids })
}

/** The sources whose collections the file lists, by name. */
function resolveSources({ sources, ids }: ModelFile, records: ModelRecords): ReadonlyMap<string, SourceRecord> {
  const known = new Map(records.sources.map((source) => [source.apiName, source]))
  const named = new Map(records.sources.filter(isSystemSource).map((source) => [source.apiName, source]))
  for (const [name, provider] of sources ?? []) {
    const source = known.get(name)
    const place = within('model.sources', name)
    if (source === undefined) {
      throw fileFault(place, `is not a data source of this workspace${didYouMean(name, known.keys())}`)
    }
    if (source.provider !== provider) throw fileFault(place, `is ${source.provider} in this workspace`)
    const holder = records.sources.find(({ id }) => id === ids.get(`source ${name}`))
    if (holder !== undefined && holder !== source) {
      throw fileFault(`model.ids.source ${name}`, `is the id of the data source ${holder.apiName}`)
    }
    named.set(name, source)
  }
  return named
}

function idsOf(records: ModelRecords): ReadonlySet<string> {
  const builtIn = systemRecords('', '')
  const lists = (of: ModelRecords) => [
    of.sources,
    of.namespaces,
    of.collections,
    of.primitiveFields,
    of.relationFields,
    of.indexes,
  ]
  return new Set([...lists(records), ...lists(builtIn)].flatMap((list) => list.map(({ id }) => id)))
}

/** The collections of the file, and the junctions that it does not write as collections. */
function entriesOf(collections: ReadonlyMap<string, FileCollection>): readonly CollectionEntry[] {
  const entries = new Map<string, CollectionEntry>()
  for (const [name, file] of collections) {
    const place = within('model.collections', name)
    entries.set(name, { name, line: name, place, file, renamedFrom: file.renamedFrom })
  }
  for (const [collection, file] of collections) {
    const fields = new Map<string, FileField>(file.fields)
    for (const [field, junction] of file.fields) {
      if (junction.kind !== 'junction') continue
      const place = `${within('model.collections', collection)}.fields.${field}`
      const name = junction.through
      if (entries.has(name)) throw fileFault(`${place}.through`, `there is already a collection ${name}`)
      entries.set(name, {
        name,
        line: name,
        place,
        file: junctionOf(collection, file, junction),
        renamedFrom: undefined,
        of: { collection, field },
      })
      const { many, opposite } = junction
      const source = collections.get(many)?.source ?? file.source
      if (source !== file.source) throw fileFault(`${place}.many`, `${many} is in another source, ${source}`)
      const [near] = junctionSides(name, many === collection)
      fields.set(field, { kind: 'over', many, over: [near, 'to'], opposite, renamedFrom: undefined })
    }
    const entry = entries.get(collection)
    if (entry !== undefined) entries.set(collection, { ...entry, file: { ...file, fields } })
  }
  return [...entries.values()]
}

function junctionOf(
  collection: string,
  { source, namespace }: FileCollection,
  { many, through }: FileJunction,
): FileCollection {
  const relation = {
    kind: 'relation',
    isNullable: false,
    isUnique: false,
    onDelete: 'cascade',
    onUpdate: 'noAction',
    by: undefined,
    references: undefined,
    constraint: undefined,
    hasIndex: true,
    renamedFrom: undefined,
  } as const
  const [from, to] = junctionSides(through, many === collection)
  return {
    fields: new Map(
      Object.entries({
        from: { ...relation, to: collection, opposite: from },
        to: { ...relation, to: many, opposite: to },
      }),
    ),
    key: [...junctionKey],
    indexes: [],
    source,
    namespace,
    dbName: through,
    isReadOnly: false,
    hasHistory: false,
    renamedFrom: undefined,
  }
}

type Placing = {
  readonly sources: ReadonlyMap<string, SourceRecord>
  readonly ids: Ids
  readonly context: ResolveContext
}

function* placeCollections(
  entries: readonly CollectionEntry[],
  records: ModelRecords,
  { sources, ids, context }: Placing,
): Parts<{ readonly collections: readonly MatchedCollection[]; readonly namespaces: readonly NamespaceRecord[] }> {
  const managed = new Set([...sources.values()].map(({ id }) => id))
  const own = records.collections.filter(({ sourceId }) => managed.has(sourceId))
  const others = new Map(
    records.collections.filter(({ sourceId }) => !managed.has(sourceId)).map((record) => [record.apiName, record]),
  )
  const reserved = new Set(systemRecords('', '').collections.map(({ apiName }) => apiName))
  for (const { name, place } of entries) {
    if (reserved.has(name)) throw fileFault(place, 'is the name of a system collection')
    const other = others.get(name)
    if (other === undefined) continue
    const source = records.sources.find(({ id }) => id === other.sourceId)?.apiName
    throw fileFault(place, `is a collection of the data source ${source}, which model.sources does not name`)
  }
  const before = collectionsBefore(entries, own, { records, ids })
  const namespaces = [...records.namespaces]
  const collections: MatchedCollection[] = []
  for (const entry of entries) {
    yield
    const { file, name, place } = entry
    const source = sources.get(file.source)
    if (source === undefined) {
      const hint = didYouMean(file.source, sources.keys())
      throw fileFault(`${place}.source`, `is not among model.sources${hint}`)
    }
    const namespaceId = namespaceOf(entry, source, { namespaces, ids, workspace: context.workspace })
    const known = before.get(entry)
    const isSame =
      known?.sourceId === source.id &&
      isNamespace([known.namespaceId, namespaceId], file.namespace, source, records.namespaces)
    const kept = isSame ? known : undefined
    if (kept?.apiName !== name) checkApiName(name, place)
    if (kept?.dbName !== file.dbName) checkDbName(file.dbName, `${place}.dbName`)
    if (file.isReadOnly !== (kept?.isReadOnly ?? false)) {
      const reason = file.isReadOnly ? 'a read-only collection must be there, it is never made' : 'is read-only'
      throw fileFault(`${place}.readOnly`, reason)
    }
    const record: CollectionRecord =
      kept === undefined
        ? {
            id: ids.forNew(entry.line),
            sourceId: source.id,
            namespaceId,
            dbName: file.dbName,
            apiName: name,
            isReadOnly: false,
            isSystem: false,
            isView: false,
          }
        : kept.apiName === name && kept.dbName === file.dbName
          ? kept
          : { ...kept, apiName: name, dbName: file.dbName }
    collections.push({ entry, record: recording(record, file.hasHistory), before: kept })
  }
  return { collections, namespaces }
}

function recording(record: CollectionRecord, hasHistory: boolean): CollectionRecord {
  if ((record.hasHistory === true) === hasHistory) return record
  const { hasHistory: _, ...rest } = record
  return hasHistory ? { ...rest, hasHistory } : rest
}

/** The collection that each entry is now; a junction follows the collection and the relation that stand for it. */
function collectionsBefore(
  entries: readonly CollectionEntry[],
  own: readonly CollectionRecord[],
  { records, ids }: { readonly records: ModelRecords; readonly ids: Ids },
): ReadonlyMap<CollectionEntry, CollectionRecord> {
  const found = new Map<CollectionEntry, CollectionRecord>()
  const match = (wanted: readonly (CollectionEntry & { readonly entry: CollectionEntry })[]) => {
    const taken = new Set(found.values())
    const there = own.filter((record) => !taken.has(record))
    const named = there.map((record) => ({ id: record.id, name: record.apiName, record }))
    for (const [{ entry }, { record }] of identify(wanted, named, { ids, what: 'a collection' })) {
      found.set(entry, record)
    }
  }
  match(entries.filter(({ of }) => of === undefined).map((entry) => ({ ...entry, entry })))
  const { relationsOf, relations } = lookupOf(records)
  const owned = byId(own)
  const byName = new Map([...found].map(([{ name }, record]) => [name, record]))
  const junctions = entries.flatMap((entry) => {
    const { of } = entry
    if (of === undefined) return []
    const owner = byName.get(of.collection)?.id
    const id = ids.of(`${of.collection}.${of.field}`)
    const field = relationsOf(owner).find(
      (one) => one.isList && (one.id === id || (id === undefined && one.apiName === of.field)),
    )
    const near = relations.get(field?.through?.nearId ?? '') ?? field
    const renamedFrom = owned.get(near?.oppositeCollectionId ?? '')?.apiName
    return [{ ...entry, entry, renamedFrom }]
  })
  match(junctions)
  return found
}

type Namespaces = { readonly namespaces: NamespaceRecord[]; readonly ids: Ids; readonly workspace: string }

/** The id of the namespace of a collection, null for the source's own where that is none; adds one that is new. */
function namespaceOf(
  { file, place }: CollectionEntry,
  source: SourceRecord,
  { namespaces, ids, workspace }: Namespaces,
): string | null {
  const own = ownNamespaceOf(source, namespaces, workspace)
  const { namespace } = file
  if (namespace === undefined) return isSystemSource(source) ? (own?.id ?? null) : null
  const dbName = isSystemSource(source) ? `service_${workspace}_${namespace}` : namespace
  const found = namespaces.find((one) => one.sourceId === source.id && one.dbName === dbName)
  if (found?.isSystem) throw fileFault(`${place}.namespace`, 'is a namespace of the service')
  if (found !== undefined) return found.id
  checkDbName(dbName, `${place}.namespace`)
  const made = {
    id: ids.forNew(`namespace ${source.apiName} ${namespace}`),
    sourceId: source.id,
    dbName,
    isSystem: false,
  }
  namespaces.push(made)
  return made.id
}

/** Where a source has no namespace of its own that goes without saying, a collection of none stays where it is. */
function isNamespace(
  [before, after]: readonly [string | null, string | null],
  given: string | undefined,
  source: SourceRecord,
  namespaces: readonly NamespaceRecord[],
): boolean {
  if (before === after) return true
  if (isSystemSource(source)) return false
  const own = ownNamespaceOf(source, namespaces, undefined)?.id
  return own === undefined ? given === undefined : (before ?? own) === (after ?? own)
}
