/** The records of a relation of the file: both sides and what joins them. */
import { cutName } from '../migration/derive.ts'
import { manyToManyPair } from '../migration/many-to-many.ts'
import { lookupOf } from '../model/lookup.ts'
import type { Collection, ConstraintRecord, ModelRecords, RelationFieldRecord } from '../model/model.ts'
import { fileCollectionId } from '../model/presentation.ts'
import { didYouMean } from '../nearest.ts'
import type { Parts } from '../parts.ts'
import type { FileOver } from './file.ts'
import { type Ids, identify } from './identity.ts'
import { checkApiName } from './names.ts'
import { fileFault } from './reading.ts'
import type { CollectionShape, MatchedCollection, RelationShape, ResolvedCollection } from './resolution.ts'
import type { Shapes } from './shapes.ts'
import { isEnforced } from './sources.ts'

export type PairRecords = {
  readonly owner: RelationFieldRecord
  readonly opposite: RelationFieldRecord
  readonly constraint: ConstraintRecord
}

export type RelationContext = {
  readonly shapes: Shapes
  readonly collections: ReadonlyMap<CollectionShape, ResolvedCollection>
  readonly records: ModelRecords
  readonly ids: Ids
  /** The side with the key, as it is now. */
  readonly known: RelationFieldRecord | undefined
  /** The collections of now by their ids. */
  readonly built: ReadonlyMap<string, Collection>
}

export function resolveRelation(relation: RelationShape, context: RelationContext): PairRecords {
  const { shapes, collections, records, ids, known } = context
  const { file, place, name, owner } = relation
  const own = collections.get(owner)
  if (own === undefined) throw new Error(`the collection ${owner.matched.entry.name} is not resolved`)
  const far = targetOf(relation, context)
  const columns = shapes.columnsOf(relation).map((column) => own.fields.get(column))
  const mappings = shapes.referencedBy(relation).map((referenced, position) => ({
    constrainedFieldId: columns[position]?.id ?? '',
    referencedFieldId:
      far.fieldOf(referenced) ??
      refuse(`${place}.references`, `${referenced} is not a field of ${file.to}${didYouMean(referenced, far.names)}`),
  }))
  const isNullable = columns.some((column) => column?.isNullable === true)
  if (isNullable !== file.isNullable) {
    const names = columns.flatMap((column) => column?.apiName ?? []).join(', ')
    const reason = isNullable
      ? `must be ${file.to}?, since ${names} may be null`
      : `must be ${file.to}, since ${names} may not be null`
    throw fileFault(`${place}.to`, reason)
  }
  const isKept = isEnforced(own.record, far.record, records.sources)
  if (isKept && file.constraint === false) {
    throw fileFault(
      `${place}.constraint`,
      'must be a name: both collections are in one database, which keeps the relation',
    )
  }
  if (known?.apiName !== name) checkApiName(name, place)
  const before = opposingRecord(known, far.record.id, records)
  const owners = { id: known?.id ?? ids.forNew(`${owner.matched.entry.line}.${name}`) }
  const oppositeLine = `${far.record.apiName}.${file.opposite}`
  const isOppositeKnown = before !== undefined && (ids.of(oppositeLine) ?? before.id) === before.id
  const oppositeId = isOppositeKnown ? before.id : ids.forNew(oppositeLine)
  if (before?.apiName !== file.opposite) checkApiName(file.opposite, `${place}.opposite`)
  const was = lookupOf(records).constraints.get(known?.constraintId ?? '')
  const constraintId = was?.id ?? owners.id
  const derived = constraintName(
    own.record.dbName,
    columns.flatMap((column) => column?.dbName ?? []),
  )
  const constraint: ConstraintRecord = {
    id: constraintId,
    dbName: isKept ? file.constraint || derived : (was?.dbName ?? derived),
    onDelete: file.onDelete,
    onUpdate: file.onUpdate,
    mappings,
  }
  const after: RelationFieldRecord = {
    id: owners.id,
    collectionId: own.record.id,
    apiName: name,
    oppositeCollectionId: far.record.id,
    oppositeRelationFieldId: oppositeId,
    constraintId,
    isList: false,
    isNullable: isNullable || !isKept,
  }
  const opposite: RelationFieldRecord = {
    id: oppositeId,
    collectionId: far.record.id,
    apiName: file.opposite,
    oppositeCollectionId: own.record.id,
    oppositeRelationFieldId: owners.id,
    constraintId: null,
    isList: !file.isUnique,
    isNullable: file.isUnique,
  }
  return {
    owner: after,
    opposite,
    constraint: was !== undefined && isSameConstraint(was, constraint) ? was : constraint,
  }
}

/** Two relations are one where they join the same columns, in whatever order. */
export function isSameConstraint(one: ConstraintRecord, other: ConstraintRecord): boolean {
  const pairsOf = ({ mappings }: ConstraintRecord) =>
    mappings.map(({ constrainedFieldId, referencedFieldId }) => `${constrainedFieldId} ${referencedFieldId}`).sort()
  return (
    one.dbName === other.dbName &&
    one.onDelete === other.onDelete &&
    one.onUpdate === other.onUpdate &&
    pairsOf(one).join() === pairsOf(other).join()
  )
}

/** The name of a constraint that none is given for. */
export function constraintName(table: string, columns: readonly string[]): string {
  const suffix = '_fkey'
  const stem = cutName(`${table}_${columns.join('_')}${suffix}`)
  return stem.endsWith(suffix) ? stem : `${cutTo(stem, stem.length - suffix.length)}${suffix}`
}

function cutTo(text: string, length: number): string {
  return text
    .slice(0, length)
    .toWellFormed()
    .replace(/\ufffd$/, '')
}

type Far = {
  readonly record: Pick<Collection, 'id' | 'sourceId' | 'isView' | 'apiName'> & { readonly dbName: string }
  readonly names: Iterable<string>
  readonly fieldOf: (name: string) => string | undefined
}

function targetOf({ target }: RelationShape, { collections }: RelationContext): Far {
  if ('other' in target) {
    const { other } = target
    const fieldOf = (name: string) => other.primitives.find(({ apiName }) => apiName === name)?.id
    return { record: other, names: other.primitives.map(({ apiName }) => apiName), fieldOf }
  }
  const resolved = collections.get(target.shape)
  if (resolved === undefined) throw new Error(`the collection ${target.shape.matched.entry.name} is not resolved`)
  const { record, fields } = resolved
  return { record, names: fields.keys(), fieldOf: (name) => fields.get(name)?.id }
}

/** The other side of the relation that is there, where it leads to the same collection as that of the file. */
function opposingRecord(
  known: RelationFieldRecord | undefined,
  farId: string,
  records: ModelRecords,
): RelationFieldRecord | undefined {
  const opposite = lookupOf(records).relations.get(known?.oppositeRelationFieldId ?? '')
  return opposite?.collectionId === farId ? opposite : undefined
}

type Overs = {
  /** The collections of now by their ids. */
  readonly built: ReadonlyMap<string, Collection>
  readonly pairs: readonly PairRecords[]
  readonly records: ModelRecords
  readonly ids: Ids
  readonly claim: (collectionId: string, name: string, place: string) => void
}

/** The many-to-many fields over junctions that are collections themselves. */
export function* resolveManyToMany(
  matched: readonly MatchedCollection[],
  { built, pairs, records, ids, claim }: Overs,
): Parts<{ readonly records: readonly RelationFieldRecord[]; readonly places: ReadonlyMap<string, string> }> {
  const made: RelationFieldRecord[] = []
  const places = new Map<string, string>()
  const { relations, relationsOf } = lookupOf(records)
  const files = built.get(fileCollectionId)
  const names = new Map(matched.map(({ record, entry }) => [record.id, entry.name]))
  if (files !== undefined) names.set(files.id, files.apiName)
  const ways: Ways = {
    leadingTo: Map.groupBy(pairs, ({ opposite }) => opposite.collectionId),
    from: Map.groupBy(pairs, ({ owner }) => owner.collectionId),
    names,
  }
  for (const { entry, record, before } of matched) {
    yield
    const overs = [...entry.file.fields].flatMap(([name, field]) => (field.kind === 'over' ? [{ name, field }] : []))
    const there = relationsOf(before?.id).filter(({ through }) => through !== undefined)
    const wanted = overs.map(({ name, field }) => ({
      name,
      line: `${entry.line}.${name}`,
      renamedFrom: field.renamedFrom,
      field,
    }))
    const found = identify(
      wanted,
      there.map((one) => ({ id: one.id, name: one.apiName, one })),
      { ids, what: 'a many-to-many field' },
    )
    for (const want of wanted) {
      yield
      const place = `${entry.place}.fields.${want.name}`
      const { near, far, farId } = linksOf(want.field, [record.id, place], ways)
      const known = found.get(want)?.one
      const other = relations.get(known?.oppositeRelationFieldId ?? '')
      const opposite = other?.collectionId === farId ? other : undefined
      const own = { id: known?.id ?? ids.forNew(want.line), apiName: want.name }
      const farName = names.get(farId) ?? ''
      const theirs = {
        id: opposite?.id ?? ids.forNew(`${farName}.${want.field.opposite}`),
        apiName: want.field.opposite,
      }
      if (known?.apiName !== own.apiName) checkApiName(own.apiName, place)
      if (opposite?.apiName !== theirs.apiName) checkApiName(theirs.apiName, `${place}.opposite`)
      claim(record.id, own.apiName, place)
      claim(farId, theirs.apiName, `${place}.opposite`)
      made.push(
        ...manyToManyPair(
          [own, { near: near.opposite, far: near.owner }],
          [theirs, { near: far.opposite, far: far.owner }],
        ),
      )
      places.set(own.id, place)
      places.set(theirs.id, place)
    }
  }
  return { records: made, places }
}

/** The relations of the file by the ids of the collections at their ends, and the names of collections by theirs. */
type Ways = {
  readonly leadingTo: ReadonlyMap<string, readonly PairRecords[]>
  readonly from: ReadonlyMap<string, readonly PairRecords[]>
  readonly names: ReadonlyMap<string, string>
}

function linksOf(
  { over, many }: FileOver,
  [collectionId, place]: readonly [string, string],
  { leadingTo, from, names }: Ways,
) {
  const [nearName, farName] = over
  const leading = leadingTo.get(collectionId) ?? []
  const near =
    leading.find(({ opposite }) => opposite.apiName === nearName && opposite.isList) ??
    refuse(
      `${place}.over`,
      `${nearName} does not lead to the rows of a junction${didYouMean(
        nearName,
        leading.map(({ opposite }) => opposite.apiName),
      )}`,
    )
  const ways = (from.get(near.owner.collectionId) ?? []).filter(({ owner }) => owner.id !== near.owner.id)
  const far =
    ways.find(({ owner, opposite }) => owner.apiName === farName && opposite.isList) ??
    refuse(
      `${place}.over`,
      `${farName} is not another relation of the junction${didYouMean(
        farName,
        ways.map(({ owner }) => owner.apiName),
      )}`,
    )
  const { collectionId: farId } = far.opposite
  const target = names.get(farId)
  if (target !== many) throw fileFault(`${place}.many`, `${farName} leads to ${target ?? 'another collection'}`)
  return { near, far, farId }
}

function refuse(place: string, reason: string): never {
  throw fileFault(place, reason)
}
