/**
 * What takes a migration back (docs/contract.md#what-a-migration-does): the operations from its model to the one before, where
 * nothing that it leaves can be in their way, whatever rows there are.
 */
import { ServiceError } from '../../error.ts'
import { type Applied, applyOperations, type MigrationContext } from '../../migration/apply.ts'
import { initialOf } from '../../migration/lookups.ts'
import { madeBy } from '../../migration/named.ts'
import type { Operation } from '../../migration/operation.ts'
import { lookupOf } from '../../model/lookup.ts'
import type { ConstraintRecord, IndexRecord, ModelRecords, PrimitiveFieldRecord } from '../../model/model.ts'
import type { Parts } from '../../parts.ts'
import type { SourceChange } from '../../sql/ddl/change.ts'
import { fateOf } from '../field-fate.ts'
import { operationsBetween } from '../operations.ts'
import { sortedJson } from '../sorted-json.ts'
import { MAX_STEPS } from './size.ts'

export type Migrated = {
  readonly before: ModelRecords
  readonly after: ModelRecords
  readonly operations: readonly Operation[]
  /** Of all databases. */
  readonly changes: readonly SourceChange[]
}

/** `restoresData`: whether the rows are as before then, too, where nobody has written any in between. */
export type Inverse = { readonly operations: readonly Operation[]; readonly restoresData: boolean }

/** Undefined where the model cannot be had back, or where rows might keep it from that. */
export function* inverseOf(
  { before, after, operations, changes }: Migrated,
  context: MigrationContext,
): Parts<Inverse | undefined> {
  const { collections, fields, relations } = lookupOf(before)
  const made = madeBy(operations)
  // What is deleted and made again has other values under the same id, which may not become the former type.
  if ([...made].some((id) => collections.has(id) || fields.has(id))) return undefined
  const then = lookupOf(after)
  const isOneSided = before.relationFields.some(
    ({ id, through, oppositeRelationFieldId }) =>
      !then.relations.has(id) && through === undefined && !relations.has(oppositeRelationFieldId ?? ''),
  )
  // MariaDB and MySQL have rules of their own for a column that begins to count.
  const isCounting = before.primitiveFields.some((field) => {
    const now = then.fields.get(field.id)
    return now !== undefined && isCounted(field) && !isCounted(now)
  })
  if (isOneSided || isCounting) return undefined
  const anew = madeAnew(before, after)
  if (before.indexes.some((index) => mayDouble(index, anew)) || isHindered(before, anew)) return undefined
  const back = [...(yield* operationsBetween(after, before)), ...placesBetween(after, before)]
  if (back.length > MAX_STEPS) return undefined
  const applied = yield* appliedTo(after, back, context)
  if (applied === undefined || !isSame(applied.records, before)) return undefined
  return { operations: back, restoresData: anew.all.size === 0 && changes.every(keepsValues) }
}

/** Schemas and ledgers, which model files do not have. */
function placesBetween(before: ModelRecords, after: ModelRecords): readonly Operation[] {
  const stay = new Set(after.namespaces.map(({ id }) => id))
  const then = new Map(after.sources.map((source) => [source.id, source.ledgerSchema]))
  const gone = before.namespaces.filter(({ id }) => !stay.has(id))
  const ledgers = before.sources.filter(({ id, ledgerSchema }) => then.has(id) && then.get(id) !== ledgerSchema)
  return [
    ...gone.map(({ id }): Operation => ({ kind: 'deleteNamespace', data: { id } })),
    ...ledgers.map(({ id, ledgerSchema }): Operation => {
      const kind = ledgerSchema === undefined ? 'createIdempotencyLedger' : 'deleteIdempotencyLedger'
      return { kind, data: { sourceId: id } }
    }),
  ]
}

/** By id: the columns that the way back makes with no values but those of new items. */
type Anew = {
  readonly all: ReadonlyMap<string, PrimitiveFieldRecord>
  /** Those of collections that stay, and so may have rows. */
  readonly filled: ReadonlyMap<string, PrimitiveFieldRecord>
}

function madeAnew(before: ModelRecords, after: ModelRecords): Anew {
  const { fields, collections } = lookupOf(after)
  const all = before.primitiveFields.filter((field) => {
    const then = fields.get(field.id)
    return then === undefined || fateOf(then, field) === 'lost'
  })
  const filled = all.filter(({ collectionId }) => collections.has(collectionId))
  const byIds = (list: typeof all) => new Map(list.map((field) => [field.id, field]))
  return { all: byIds(all), filled: byIds(filled) }
}

/** Whether several rows may get one value in a column that is made anew. */
function mayDouble({ kind, fieldIds }: IndexRecord, { filled }: Anew): boolean {
  return kind !== 'normal' && fieldIds.some((id) => isAlike(filled.get(id)))
}

/** Whether every row gets the same value. */
function isAlike(field: PrimitiveFieldRecord | undefined): boolean {
  if (field === undefined || field.isNullable || isCounted(field)) return false
  return initialOf(field)?.kind !== 'uuid'
}

/** A column of rows that there are needs values, and what refers to something needs that to be there. */
function isHindered({ primitiveFields, constraints }: ModelRecords, anew: Anew): boolean {
  const { all, filled } = anew
  const isValueless = (field: PrimitiveFieldRecord) =>
    !field.isNullable && !isCounted(field) && initialOf(field) === undefined
  const isEmpty = new Set(primitiveFields.flatMap(({ id }) => (all.has(id) && !filled.has(id) ? [id] : [])))
  const mayBeLost = ({ mappings }: ConstraintRecord) => {
    if (mappings.some(({ constrainedFieldId: id }) => isEmpty.has(id) || filled.get(id)?.isNullable)) return false
    return mappings.some(
      ({ constrainedFieldId, referencedFieldId }) => all.has(constrainedFieldId) || all.has(referencedFieldId),
    )
  }
  return [...filled.values()].some(isValueless) || constraints.some(mayBeLost)
}

function isCounted({ defaultValue }: PrimitiveFieldRecord): boolean {
  return defaultValue?.source === 'connectorManaged' && defaultValue.isAutoincrement === true
}

function* appliedTo(
  records: ModelRecords,
  operations: readonly Operation[],
  context: MigrationContext,
): Parts<Applied | undefined> {
  try {
    return yield* applyOperations(records, operations, context)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

/** But for the order in which things were made. */
function isSame(one: ModelRecords, other: ModelRecords): boolean {
  const kinds = Object.keys(other) as (keyof ModelRecords)[]
  return kinds.every((kind) => {
    const known = new Map<string, object>(one[kind].map((record) => [record.id, record]))
    const isKnown = (record: { readonly id: string }) => {
      const found = known.get(record.id)
      return found === record || (found !== undefined && sortedJson(found) === sortedJson(record))
    }
    return known.size === other[kind].length && other[kind].every(isKnown)
  })
}

/** Texts become other types, and shorter texts, by rules that forget how they were written. */
function keepsValues({ change }: SourceChange): boolean {
  if (change.kind === 'dropTable' || change.kind === 'dropColumn') return false
  if (change.kind === 'endHistory') return !change.isDropped
  if (change.kind !== 'changeColumnType' || change.from.name !== 'string') return true
  const { type } = change.column
  if (type.name !== 'string') return false
  if (type.params.length === 'unlimited') return true
  return change.from.params.length === 'fixed' && change.from.params.value <= type.params.value
}
