/** What becomes of relations between two states of a model, as operations of a migration. */
import type { Operation } from '../migration/operation.ts'
import { byId, lookupOf } from '../model/lookup.ts'
import type { ConstraintRecord, IndexRecord, ModelRecords, RelationFieldRecord } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { fateOf } from './field-fate.ts'
import { renameOrder, temporaryName } from './rename-order.ts'

export type PairChanges = {
  /** Before all else. */
  readonly unlink: readonly Operation[]
  /** Names that relations give up, before fields take them. */
  readonly detach: readonly Operation[]
  readonly updates: readonly Operation[]
  /** Behind all else. */
  readonly link: readonly Operation[]
}

type Pair = {
  readonly owner: RelationFieldRecord
  readonly opposite: RelationFieldRecord | undefined
  readonly constraint: ConstraintRecord
}

export function* pairChanges(before: ModelRecords, after: ModelRecords): Parts<PairChanges> {
  const [was, is] = [yield* pairsOf(before), yield* pairsOf(after)]
  const relinked = new Set<string>()
  for (const [id, pair] of was) {
    yield
    const next = is.get(id)
    if (next !== undefined && isRelinked([pair, next], before, after)) relinked.add(id)
  }
  const isKept = (id: string) => was.has(id) && is.has(id) && !relinked.has(id)
  const keptSides = new Set(
    [...was].flatMap(([id, { owner, opposite }]) => (isKept(id) ? [owner.id, opposite?.id ?? ''] : [])),
  )
  yield
  const [overBefore, over] = [oversOf(before), oversOf(after)]
  const then = lookupOf(after).relations
  const isOverKept = (record: RelationFieldRecord) => {
    const next = then.get(record.id)
    const isKeptThrough =
      record.through !== undefined && [record.through.nearId, record.through.farId].every((id) => keptSides.has(id))
    return isKeptThrough && JSON.stringify(next?.through) === JSON.stringify(record.through)
  }
  const keptOvers = new Set(
    overBefore.filter((pair) => pair.every(isOverKept)).flatMap((pair) => pair.map(({ id }) => id)),
  )
  const stays = new Set([...keptSides, ...keptOvers])
  const renames = yield* relationRenames(before, after, stays)
  const isDropped = (pair: readonly RelationFieldRecord[]) => pair.some(({ id }) => !keptOvers.has(id))
  return {
    unlink: [
      ...overBefore.filter(isDropped).map(([first, second]) => deletePair(first, second)),
      ...[...was].flatMap(([id, { owner, opposite }]) => (isKept(id) ? [] : [deletePair(owner, opposite)])),
    ],
    detach: renames.detach,
    updates: [
      ...renames.updates,
      ...[...is].flatMap(([id, pair]) => {
        const old = was.get(id)
        return old === undefined || !isKept(id) ? [] : changedActions(old, pair)
      }),
    ],
    link: [
      ...[...is].flatMap(([id, pair]) => (isKept(id) ? [] : [createPair(pair)])),
      ...over.filter(isDropped).map(([first, second]) => createOver(first, second)),
    ],
  }
}

function* pairsOf(records: ModelRecords): Parts<ReadonlyMap<string, Pair>> {
  const { relations, constraints } = lookupOf(records)
  const pairs = new Map<string, Pair>()
  for (const owner of records.relationFields) {
    yield
    const constraint = constraints.get(owner.constraintId ?? '')
    if (constraint === undefined) continue
    pairs.set(owner.id, { owner, constraint, opposite: relations.get(owner.oppositeRelationFieldId ?? '') })
  }
  return pairs
}

type Over = readonly [RelationFieldRecord, RelationFieldRecord]

/** Each many-to-many pair once. */
function oversOf(records: ModelRecords): readonly Over[] {
  const { relations } = lookupOf(records)
  const seen = new Set<RelationFieldRecord>()
  return records.relationFields.flatMap((first): readonly Over[] => {
    seen.add(first)
    const second = relations.get(first.oppositeRelationFieldId ?? '')
    if (first.through === undefined || second === undefined) return []
    return seen.has(second) ? [] : [[first, second]]
  })
}

/** Whether a relation cannot stay while its columns, its keys or its constraint change. */
function isRelinked([was, is]: readonly [Pair, Pair], before: ModelRecords, after: ModelRecords): boolean {
  if (joinsOf(was) !== joinsOf(is) || was.constraint.dbName !== is.constraint.dbName) return true
  if (was.owner.collectionId !== is.owner.collectionId || was.opposite?.id !== is.opposite?.id) return true
  if (was.opposite?.isList !== is.opposite?.isList || was.owner.oppositeCollectionId !== is.owner.oppositeCollectionId)
    return true
  const [now, then] = [lookupOf(before), lookupOf(after)]
  const { mappings } = was.constraint
  const ids = mappings.flatMap(({ constrainedFieldId, referencedFieldId }) => [constrainedFieldId, referencedFieldId])
  const isRetyped = (id: string) => {
    const [field, next] = [now.fields.get(id), then.fields.get(id)]
    return field === undefined || next === undefined || fateOf(field, next) !== 'kept'
  }
  if (ids.some(isRetyped)) return true
  const referenced = mappings.map(({ referencedFieldId }) => referencedFieldId)
  const constrained = mappings.map(({ constrainedFieldId }) => constrainedFieldId)
  const candidates = now.indexesBy(ids)
  const isSteady = (serves: (index: IndexRecord) => boolean) => {
    const serving = candidates.filter(serves)
    return serving.length === 0 || serving.some(({ id }) => then.indexes.has(id))
  }
  const isKey = ({ kind, fieldIds }: IndexRecord) =>
    kind !== 'normal' && fieldIds.length === referenced.length && fieldIds.every((id) => referenced.includes(id))
  const isUnique = ({ kind, fieldIds }: IndexRecord) =>
    kind !== 'normal' && fieldIds.every((id) => constrained.includes(id))
  // MySQL and MariaDB keep an index as long as a constraint has no other that begins with its columns.
  const leads = ({ fieldIds }: IndexRecord) =>
    constrained.every((id) => fieldIds.slice(0, constrained.length).includes(id))
  return !isSteady(isKey) || !isSteady(leads) || (was.opposite?.isList === false && !isSteady(isUnique))
}

function joinsOf({ constraint }: Pair): string {
  return constraint.mappings
    .map(({ constrainedFieldId, referencedFieldId }) => `${constrainedFieldId} ${referencedFieldId}`)
    .sort()
    .join()
}

/** A name that a field of the collection takes, or that goes round in a circle, is given up first. */
function* relationRenames(
  before: ModelRecords,
  after: ModelRecords,
  stays: ReadonlySet<string>,
): Parts<Pick<PairChanges, 'detach' | 'updates'>> {
  const then = lookupOf(after).relations
  const detach: Operation[] = []
  const updates: Operation[] = []
  const kept = before.relationFields.filter(({ id }) => stays.has(id))
  for (const [collectionId, own] of Map.groupBy(kept, (one) => one.collectionId)) {
    yield
    const states = [lookupOf(before), lookupOf(after)]
    const fields = new Set(
      lookupOf(after)
        .fieldsOf(collectionId)
        .map(({ apiName }) => apiName),
    )
    const taken = new Set(
      states.flatMap(({ fieldsOf, relationsOf }) =>
        [...fieldsOf(collectionId), ...relationsOf(collectionId)].map(({ apiName }) => apiName),
      ),
    )
    const byIds = byId(own)
    const names = new Map(own.map(({ id, apiName }) => [id, apiName]))
    const moved = own.filter(({ id, apiName }) => then.get(id)?.apiName !== apiName)
    for (const record of moved) {
      if (!fields.has(record.apiName)) continue
      const to = temporaryName(record.apiName, taken)
      taken.add(to)
      names.set(record.id, to)
      detach.push(renamed(record, to))
    }
    const steps = renameOrder(
      own.map(({ id }) => ({ key: id, from: names.get(id) ?? '', to: then.get(id)?.apiName ?? '' })),
      taken,
    )
    for (const { key, to } of steps) {
      const record = byIds.get(key)
      if (record !== undefined) updates.push(renamed(record, to))
    }
  }
  return { detach, updates }
}

function renamed({ id, oppositeRelationFieldId }: RelationFieldRecord, apiName: string): Operation {
  const change = { kind: 'changeApiName', data: { fieldId: id, apiName } } as const
  return {
    kind: 'updateRelationFieldPair',
    data: { firstFieldId: id, secondFieldId: oppositeRelationFieldId ?? '', operations: [change] },
  }
}

function changedActions({ constraint: was }: Pair, { owner, opposite, constraint }: Pair): readonly Operation[] {
  const { onDelete, onUpdate } = constraint
  if (was.onDelete === onDelete && was.onUpdate === onUpdate) return []
  const change = { kind: 'changeReferentialActions', data: { onDelete, onUpdate } } as const
  const data = { firstFieldId: owner.id, secondFieldId: opposite?.id ?? '', operations: [change] }
  return [{ kind: 'updateRelationFieldPair', data }]
}

function deletePair(first: RelationFieldRecord, second: RelationFieldRecord | undefined): Operation {
  return {
    kind: 'deleteRelationFieldPair',
    data: { firstFieldId: first.id, secondFieldId: second?.id ?? '' },
  }
}

function createPair({ owner, opposite, constraint }: Pair): Operation {
  const { mappings, dbName, onDelete, onUpdate } = constraint
  const side = (record: RelationFieldRecord, isConstrained: boolean) => ({
    id: record.id,
    apiName: record.apiName,
    isList: record.isList,
    isConstrained,
    collectionId: record.collectionId,
    fieldIds: mappings.map((one) => (isConstrained ? one.constrainedFieldId : one.referencedFieldId)),
  })
  if (opposite === undefined) throw new Error(`the relation ${owner.apiName} has no other side`)
  return {
    kind: 'createRelationFieldPair',
    data: {
      kind: 'single',
      data: {
        relationName: dbName,
        onDelete,
        onUpdate,
        firstField: side(owner, true),
        secondField: side(opposite, false),
      },
    },
  }
}

function createOver(first: RelationFieldRecord, second: RelationFieldRecord): Operation {
  const side = ({ id, apiName, through }: RelationFieldRecord) => ({
    id,
    apiName,
    throughFieldId: through?.nearId ?? '',
  })
  return { kind: 'createManyToManyFieldPair', data: { firstField: side(first), secondField: side(second) } }
}
