/** The indexes of a collection that the file lists: all but its key and what its relations bring along. */
import { containing } from '../../model/lookup.ts'
import type { Collection, Index, IndexKind, PrimitiveField, RelationField, SourceRecord } from '../../model/model.ts'
import { type FileIndex, inOrder } from '../file.ts'
import { derivedName, isWithin, leads } from '../resolve-indexes.ts'
import { isIndexed } from '../sources.ts'
import { relationColumns } from './relation.ts'

export type ExportedIndexes = {
  readonly indexes: readonly FileIndex[]
  /** Ids of the relations that have no index though they would get one. */
  readonly bare: ReadonlySet<string>
  /** The shortest names that stand for these columns: relations for those that they make. */
  readonly named: (fields: readonly PrimitiveField[]) => readonly string[]
}

export type IndexExport = {
  /** Its relations with a key, by name. */
  readonly forward: readonly RelationField[]
  /** Ids of the columns that relations make. */
  readonly implied: ReadonlySet<string>
  readonly sources: readonly SourceRecord[]
}

export function exportIndexes(collection: Collection, { forward, implied, sources }: IndexExport): ExportedIndexes {
  const byFirst = Map.groupBy(forward, (relation) => relationColumns(relation)[0]?.id)
  const named = (fields: readonly PrimitiveField[]) => namesFor(fields, byFirst, implied)
  const others = collection.indexes.filter(({ kind }) => kind !== 'primary')
  const having = containing(collection.indexes, ({ fields }) => fields.map(({ id }) => id))
  const own = new Map<RelationField, Index>()
  if (isIndexed(collection, sources)) {
    for (const relation of forward) {
      const columns = relationColumns(relation).map(({ id }) => id)
      const found = having(columns).find((index) => isOwn(index, relation, collection))
      if (found !== undefined) own.set(relation, found)
    }
  }
  const unlisted = new Set(own.values())
  /** What a listed index covers needs no other; one that is there all the same is listed, and may cover the next. */
  const isCovered = (relation: RelationField) => {
    const columns = relationColumns(relation).map(({ id }) => id)
    return having(columns).some((index) => !unlisted.has(index) && covers(index, columns, relation))
  }
  for (let before = -1; before !== unlisted.size; ) {
    before = unlisted.size
    for (const [relation, index] of own) if (isCovered(relation)) unlisted.delete(index)
  }
  const listed = others.filter((index) => !unlisted.has(index))
  const isBare = (relation: RelationField) =>
    isIndexed(collection, sources) && !isCovered(relation) && !unlisted.has(own.get(relation) as Index)
  const indexes = listed.map(({ kind, dbName, fields }): FileIndex => {
    const isDerived = dbName === derivedName(collection.dbName, kind, fields)
    return { isUnique: kind === 'unique', on: named(fields), dbName: isDerived ? undefined : dbName }
  })
  const textOf = ({ isUnique, on, dbName = '' }: FileIndex) => `${isUnique ? 'unique ' : ''}${on.join(', ')} ${dbName}`
  const ordered = inOrder(indexes.map((index) => [textOf(index), index]))
  return {
    indexes: ordered.map(([, index]) => index),
    bare: new Set(forward.filter(isBare).map(({ id }) => id)),
    named,
  }
}

/** The line of `ids` about an index. */
export function indexLine(collection: string, kind: IndexKind, names: readonly string[]): string {
  return `${collection}: ${kind === 'primary' ? 'key' : `${kind === 'unique' ? 'unique ' : ''}${names.join(', ')}`}`
}

function isOwn({ kind, fields, dbName }: Index, relation: RelationField, collection: Collection): boolean {
  const columns = relationColumns(relation)
  return (
    kind === (isOneToOne(relation) ? 'unique' : 'normal') &&
    fields.length === columns.length &&
    fields.every(({ id }, at) => id === columns[at]?.id) &&
    dbName === derivedName(collection.dbName, kind, fields)
  )
}

function covers({ kind, fields }: Index, columns: readonly string[], relation: RelationField): boolean {
  const index = { kind, columns: fields.map(({ id }) => id) }
  return isOneToOne(relation) ? isWithin(index, columns) : leads(index, columns)
}

function isOneToOne({ opposite }: RelationField): boolean {
  return opposite?.isList === false
}

function namesFor(
  fields: readonly PrimitiveField[],
  byFirst: ReadonlyMap<string | undefined, readonly RelationField[]>,
  implied: ReadonlySet<string>,
): readonly string[] {
  const names: string[] = []
  let at = 0
  while (at < fields.length) {
    const relation = byFirst.get(fields[at]?.id)?.find((one) => {
      const columns = relationColumns(one)
      return columns.every(({ id }, offset) => implied.has(id) && fields[at + offset]?.id === id)
    })
    names.push(relation?.apiName ?? fields[at]?.apiName ?? '')
    at += relation === undefined ? 1 : relationColumns(relation).length
  }
  return names
}
