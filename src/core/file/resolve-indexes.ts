/** The indexes of a collection of the file: its key, those that it lists, and those that its relations bring along. */
import { deriveIndexName } from '../migration/derive.ts'
import { containing, lookupOf } from '../model/lookup.ts'
import type { IndexKind, IndexRecord, ModelRecords, PrimitiveFieldRecord } from '../model/model.ts'
import { didYouMean } from '../nearest.ts'
import type { Parts } from '../parts.ts'
import type { Ids } from './identity.ts'
import { checkDbName } from './names.ts'
import { fileFault } from './reading.ts'
import type { ResolvedCollection } from './resolution.ts'
import type { Shapes } from './shapes.ts'
import { isIndexed } from './sources.ts'

export type IndexesContext = {
  readonly shapes: Shapes
  readonly records: ModelRecords
  readonly ids: Ids
  readonly places: Map<string, string>
}

type Wanted = {
  readonly kind: IndexKind
  readonly columns: readonly string[]
  readonly line: string
  readonly place: string
  /** Undefined for a key, whose name is the database's. */
  readonly dbName: string | undefined
}

export function* resolveIndexes(
  collection: ResolvedCollection,
  context: IndexesContext,
): Parts<readonly IndexRecord[]> {
  const { shape, record, fields } = collection
  const { records, ids, places } = context
  const wanted = yield* wantedIndexes(collection, context)
  const keyOf = (kind: IndexKind, fieldIds: readonly string[]) => `${kind} ${fieldIds.join()}`
  const there = lookupOf(records).indexesOf(shape.matched.before?.id)
  const free = Map.groupBy(there, ({ kind, fieldIds }) => keyOf(kind, fieldIds))
  const names = new Set<string>()
  const resolved: IndexRecord[] = []
  for (const { kind, columns, line, place, dbName } of wanted) {
    yield
    const fieldIds = columns.map((column) => fields.get(column)?.id ?? '')
    if (dbName !== undefined && names.has(dbName)) {
      throw fileFault(place, `its name ${dbName} is that of another index of ${record.apiName}: give it a dbName`)
    }
    if (dbName !== undefined) names.add(dbName)
    const alike = free.get(keyOf(kind, fieldIds)) ?? []
    const known = alike.find((one) => dbName === undefined || one.dbName === dbName)
    if (known !== undefined) alike.splice(alike.indexOf(known), 1)
    if (known === undefined && dbName !== undefined) checkDbName(dbName, place)
    const index = known ?? {
      id: ids.forNew(line),
      collectionId: record.id,
      dbName: dbName ?? deriveIndexName(record.dbName, { kind, columns: [] }, () => false),
      kind,
      fieldIds,
    }
    places.set(index.id, place)
    resolved.push(index)
  }
  return resolved
}

function* wantedIndexes(
  { shape, record, fields }: ResolvedCollection,
  { shapes, records }: IndexesContext,
): Parts<readonly Wanted[]> {
  const { entry } = shape.matched
  const { key, indexes } = entry.file
  const expanded = (names: readonly string[], place: string) => {
    const columns = shapes.expand(shape, names)
    const unknown = columns.find((column) => !fields.has(column))
    if (unknown === undefined) return columns
    const hint = didYouMean(unknown, [...entry.file.fields.keys(), ...fields.keys()])
    throw fileFault(place, `${unknown} is not a field of ${entry.name}${hint}`)
  }
  const nameOf = (kind: IndexKind, columns: readonly string[]) =>
    derivedName(
      record.dbName,
      kind,
      columns.flatMap((column) => fields.get(column) ?? []),
    )
  const wanted: Wanted[] = []
  if (key.length > 0) {
    const place = `${entry.place}.key`
    if (!shape.columns.has('id') && !shape.relations.has('id') && key.length === 1 && key[0] === 'id') {
      throw fileFault(place, 'there is no field id: name the fields of the key, or [] for none')
    }
    wanted.push({
      kind: 'primary',
      columns: expanded(key, place),
      line: `${entry.line}: key`,
      place,
      dbName: undefined,
    })
  }
  for (const [at, { isUnique, on, dbName }] of indexes.entries()) {
    yield
    const place = `${entry.place}.indexes[${at}]`
    const kind = isUnique ? 'unique' : 'normal'
    const columns = expanded(on, place)
    const line = `${entry.line}: ${isUnique ? 'unique ' : ''}${on.join(', ')}`
    wanted.push({ kind, columns, line, place, dbName: dbName ?? nameOf(kind, columns) })
  }
  if (!isIndexed(record, records.sources)) return wanted
  const listedBy = containing(wanted, ({ columns }) => columns)
  const made = new Set<string>()
  for (const relation of shape.relations.values()) {
    yield
    const { isUnique, hasIndex } = relation.file
    const columns = shapes.columnsOf(relation)
    const isCovered = listedBy(columns).some((index) => (isUnique ? isWithin(index, columns) : leads(index, columns)))
    const kind = isUnique ? 'unique' : 'normal'
    const key = `${kind} ${columns.join()}`
    if (isCovered || !hasIndex || made.has(key)) continue
    made.add(key)
    const dbName = nameOf(kind, columns)
    const line = `${entry.line}: ${isUnique ? 'unique ' : ''}${relation.name}`
    wanted.push({ kind, columns, line, place: relation.place, dbName })
  }
  return wanted
}

/** The name of an index that none is given for. */
export function derivedName(
  table: string,
  kind: IndexKind,
  fields: readonly Pick<PrimitiveFieldRecord, 'dbName'>[],
): string {
  return deriveIndexName(table, { kind, columns: fields.map(({ dbName }) => dbName) }, () => false)
}

type Covering = Pick<Wanted, 'kind' | 'columns'>

/** Whether the index begins with these columns, in whatever order, so that a relation over them needs no other. */
export function leads({ columns: own }: Covering, columns: readonly string[]): boolean {
  const first = own.slice(0, columns.length)
  return first.length === columns.length && columns.every((column) => first.includes(column))
}

/** Whether no two rows have the same values in all these columns. */
export function isWithin({ kind, columns: own }: Covering, columns: readonly string[]): boolean {
  return kind !== 'normal' && own.every((column) => columns.includes(column))
}
