/** Model → `ModelFile`: by name, and nothing that a reader of the file would make of the rest by itself. */

import { junctionKey } from '../../migration/many-to-many.ts'
import { byId, containing } from '../../model/lookup.ts'
import type {
  Collection,
  CollectionRecord,
  ConstraintRecord,
  Model,
  PrimitiveField,
  RelationField,
} from '../../model/model.ts'
import { isSystemSource } from '../../model/model.ts'
import type { Parts } from '../../parts.ts'
import { type FileCollection, type FileField, inOrder, junctionSides, type ModelFile } from '../file.ts'
import { ownNamespaceOf } from '../sources.ts'
import { onCircles } from './circles.ts'
import { exportField } from './field.ts'
import { exportIndexes, indexLine } from './indexes.ts'
import { exportRelation } from './relation.ts'

export type Exported = Required<Pick<ModelFile, 'sources' | 'collections' | 'ids'>>

/** Everything but roles and policies; `ids` has a line for each thing of the model. */
export function* exportModel(model: Model, workspace: string): Parts<Exported> {
  const own = [...model.collections.values()].filter(({ isSystem }) => !isSystem)
  const circular = yield* circularColumns(own)
  const byIds = byId(model.records.constraints)
  const constraints = new Map(
    model.records.relationFields.flatMap(({ id, constraintId }) => {
      const constraint = byIds.get(constraintId ?? '')
      return constraint === undefined ? [] : [[id, constraint] as const]
    }),
  )
  const context = { model, workspace, circular, constraints, records: byId(model.records.collections) }
  const drafts = new Map<string, Draft>()
  const over: RelationField[] = []
  for (const collection of own) {
    yield
    drafts.set(collection.id, draftOf(collection, context))
    for (const field of collection.relations) if (field.through !== undefined) over.push(field)
  }
  const relationsByNear = Map.groupBy(over, ({ through }) => through?.near)
  const junctions = new Map<string, Short>()
  for (const collection of own) {
    yield
    const short = junctionOf(collection, drafts, relationsByNear)
    if (short !== undefined) junctions.set(collection.id, short)
  }
  const shortAt = Map.groupBy(junctions.values(), ({ at }) => at)
  const opposites = new Set([...junctions.values()].map(({ opposite }) => opposite))
  const collections = new Map<string, FileCollection>()
  for (const [name, collection] of inOrder(own.map((one) => [one.apiName, one]))) {
    yield
    const draft = drafts.get(collection.id)
    if (draft === undefined || junctions.has(collection.id)) continue
    const fields = new Map<string, FileField>(draft.fields)
    for (const field of collection.relations) if (opposites.has(field)) fields.delete(field.apiName)
    for (const { name: field, field: junction } of shortAt.get(collection) ?? []) fields.set(field, junction)
    const { named: _, ...file } = draft
    collections.set(name, { ...file, fields: keyFirst(fields, draft.key) })
  }
  const { sources } = model.records
  return {
    sources: new Map(
      inOrder(sources.filter((source) => !isSystemSource(source)).map(({ apiName, provider }) => [apiName, provider])),
    ),
    collections,
    ids: new Map(inOrder(yield* linesOf(own, model, drafts))),
  }
}

type Draft = FileCollection & { readonly named: (fields: readonly PrimitiveField[]) => readonly string[] }

type DraftContext = {
  readonly model: Model
  readonly workspace: string
  readonly circular: ReadonlySet<string>
  /** By the ids of the relations that have them. */
  readonly constraints: ReadonlyMap<string, ConstraintRecord>
  readonly records: ReadonlyMap<string, CollectionRecord>
}

function draftOf(collection: Collection, { model, workspace, circular, constraints, records }: DraftContext): Draft {
  const { sources, namespaces } = model.records
  const source = model.sources.get(collection.sourceId)
  if (source === undefined) throw new Error(`the collection ${collection.apiName} has no source`)
  const forward = forwardRelations(collection)
  const implied = impliedColumns(collection, forward, circular)
  const { indexes, bare, named } = exportIndexes(collection, { forward, implied, sources })
  const fields: (readonly [string, FileField])[] = [
    ...collection.primitives
      .filter(({ id }) => !implied.has(id))
      .map((field) => [field.apiName, exportField(field)] as const),
    ...forward.map(
      (field) =>
        [
          field.apiName,
          exportRelation(field, { sources, hasIndex: !bare.has(field.id), ...constraintOf(constraints.get(field.id)) }),
        ] as const,
    ),
    ...collection.relations.flatMap((field) => {
      const { through, target } = field
      if (through === undefined || !isFirst(field)) return []
      const over = [through.near.apiName, through.far.apiName] as const
      const opposite = field.opposite?.apiName ?? collection.apiName
      return [[field.apiName, { kind: 'over', many: target.apiName, over, opposite, renamedFrom: undefined }] as const]
    }),
  ]
  const key = named(collection.primaryKey)
  const record = records.get(collection.id)
  const own = ownNamespaceOf(source, namespaces, workspace)
  const isOwn = record?.namespaceId == null || record.namespaceId === own?.id
  const prefix = `service_${workspace}_`
  const { schema = '' } = collection
  const isShort = isSystemSource(source) && schema.startsWith(prefix)
  return {
    fields: keyFirst(new Map(fields), key),
    key,
    indexes,
    source: source.apiName,
    namespace: isOwn ? undefined : isShort ? schema.slice(prefix.length) : schema,
    dbName: collection.dbName,
    isReadOnly: collection.isReadOnly,
    hasHistory: collection.hasHistory,
    renamedFrom: undefined,
    named,
  }
}

function constraintOf(constraint: ConstraintRecord | undefined) {
  const { onDelete = 'noAction', onUpdate = 'noAction', dbName = '' } = constraint ?? {}
  return { actions: { onDelete, onUpdate }, dbName }
}

/** A many-to-many field is written at one of its two sides: that of files at the other. */
function isFirst({ collection, apiName, opposite }: RelationField): boolean {
  if (opposite === undefined || opposite.collection.isSystem) return true
  const [own, other] = [`${collection.apiName}.${apiName}`, `${opposite.collection.apiName}.${opposite.apiName}`]
  return own <= other
}

function forwardRelations({ relations }: Collection): readonly RelationField[] {
  return inOrder(relations.filter(({ isForward }) => isForward).map((field) => [field.apiName, field])).map(
    ([, field]) => field,
  )
}

/** Ids of the columns that their one relation makes, just as they are. */
function impliedColumns(
  { primitives }: Collection,
  forward: readonly RelationField[],
  circular: ReadonlySet<string>,
): ReadonlySet<string> {
  const joiningBy = containing(forward, ({ joins }) => joins.map(({ own }) => own.id))
  const implied = primitives.filter((column) => {
    const [relation, ...others] = joiningBy([column.id])
    const join = relation?.joins.find(({ own }) => own.id === column.id)
    if (relation === undefined || join === undefined || others.length > 0) return false
    const { type, isList, isNullable, isReadOnly, defaultValue, dbName, apiName } = column
    const isMarked = relation.joins.some(({ own }) => own.isNullable)
    return (
      JSON.stringify(type) === JSON.stringify(join.other.type) &&
      !isList &&
      isNullable === isMarked &&
      !isReadOnly &&
      defaultValue === null &&
      dbName === apiName &&
      !circular.has(column.id)
    )
  })
  return new Set(implied.map(({ id }) => id))
}

/** Ids of the columns that refer to others, and these in turn to them: nothing would say their types. */
function* circularColumns(own: readonly Collection[]): Parts<ReadonlySet<string>> {
  const next = new Map<string, string[]>()
  for (const collection of own) {
    yield
    for (const { joins } of forwardRelations(collection)) {
      for (const { own: column, other } of joins) {
        const known = next.get(column.id)
        if (known === undefined) next.set(column.id, [other.id])
        else known.push(other.id)
      }
    }
  }
  return yield* onCircles(next)
}

function keyFirst(fields: ReadonlyMap<string, FileField>, key: readonly string[]): ReadonlyMap<string, FileField> {
  const first = key.flatMap((name) => {
    const field = fields.get(name)
    return field === undefined ? [] : [[name, field] as const]
  })
  return new Map([...first, ...inOrder([...fields].filter(([name]) => !key.includes(name)))])
}

type Short = {
  readonly at: Collection
  readonly name: string
  readonly field: FileField
  /** The field at the other side. */
  readonly opposite: RelationField
}

/** The field that stands for a junction of nothing but its two relations, over which it leads. */
function junctionOf(
  collection: Collection,
  drafts: ReadonlyMap<string, Draft>,
  relationsByNear: ReadonlyMap<RelationField | undefined, readonly RelationField[]>,
): Short | undefined {
  const draft = drafts.get(collection.id)
  const [from, to] = junctionKey.map((name) => collection.relations.find(({ apiName }) => apiName === name))
  if (draft === undefined || !from?.isForward || !to?.isForward || draft.fields.size !== 2) return undefined
  const at = drafts.get(from.target.id)
  const [fromFile, toFile] = junctionKey.map((side) => draft.fields.get(side))
  if (fromFile?.kind !== 'relation' || toFile?.kind !== 'relation' || at === undefined) return undefined
  const isPlain = [fromFile, toFile].every(
    (one) =>
      !one.isNullable &&
      !one.isUnique &&
      one.onDelete === 'cascade' &&
      one.onUpdate === 'noAction' &&
      one.by === undefined &&
      one.references === undefined &&
      one.constraint === undefined &&
      one.hasIndex,
  )
  const isWhole =
    isPlain &&
    draft.key.join() === junctionKey.join() &&
    draft.indexes.length === 0 &&
    draft.source === at.source &&
    draft.namespace === at.namespace &&
    draft.dbName === collection.apiName &&
    !draft.isReadOnly &&
    !draft.hasHistory &&
    !collection.isView
  const [over, ...others] = relationsByNear.get(from.opposite) ?? []
  const [back, ...more] = relationsByNear.get(to.opposite) ?? []
  const sides = junctionSides(collection.apiName, from.target === to.target)
  const isNamed = from.opposite?.apiName === sides[0] && to.opposite?.apiName === sides[1]
  // Another field over it, or a relation to it, needs it as a collection.
  const isAlone = others.length + more.length === 0 && collection.relations.every(({ isForward }) => isForward)
  if (!isWhole || !isNamed || !isAlone || over === undefined || back === undefined) return undefined
  const field = { kind: 'junction', many: toFile.to, through: collection.apiName, opposite: back.apiName } as const
  return { at: from.target, name: over.apiName, field, opposite: back }
}

function* linesOf(
  own: readonly Collection[],
  { records }: Model,
  drafts: ReadonlyMap<string, Draft>,
): Parts<readonly (readonly [string, string])[]> {
  const lines: (readonly [string, string])[] = records.sources
    .filter((source) => !isSystemSource(source))
    .map(({ apiName, id }) => [`source ${apiName}`, id] as const)
  for (const { apiName, id, primitives, relations, indexes } of own) {
    yield
    lines.push([apiName, id])
    for (const field of [...primitives, ...relations]) lines.push([`${apiName}.${field.apiName}`, field.id])
    const named = drafts.get(id)?.named
    for (const index of indexes) lines.push([indexLine(apiName, index.kind, named?.(index.fields) ?? []), index.id])
  }
  return [...new Map(lines.toReversed())]
}
