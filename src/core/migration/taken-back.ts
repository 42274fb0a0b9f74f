/**
 * Finds operations that a migration undoes itself. The model is the same before and after, so no rule on models sees them, but
 * they persist if the migration ends in between, and the database's answers reveal whether they were possible (decision 121).
 */
import type { ModelRecords } from '../model/model.ts'
import type { CollectionChange, Operation } from './operation.ts'

/** `what` is `made`, `deleted`, or the kind of a change. */
type Effect = { readonly id: string; readonly what: string }

/** Returns the first id that is changed twice alike, or made or changed but gone at the end, or changed and remade. */
export function takenBack(
  before: ModelRecords,
  after: ModelRecords,
  operations: readonly Operation[],
): string | undefined {
  const [had, has] = [idsOf(before), idsOf(after)]
  const effects = operations.flatMap(effectsOf)
  const known = new Set<string>()
  const ended = new Set(
    effects.flatMap(({ id, what }) => (what === 'deleted' || (what === 'made' && had.has(id)) ? [id] : [])),
  )
  for (const { id, what } of effects) {
    const effect = `${what} ${id}`
    if (known.has(effect)) return id
    known.add(effect)
    if (what === 'deleted') continue
    if (!has.has(id) || (what !== 'made' && ended.has(id))) return id
  }
  return undefined
}

function idsOf(records: ModelRecords): ReadonlySet<string> {
  return new Set(Object.values(records).flatMap((list) => list.map(({ id }) => id)))
}

function effectsOf(operation: Operation): readonly Effect[] {
  const made = (...ids: readonly string[]) => ids.map((id) => ({ id, what: 'made' }))
  const deleted = (...ids: readonly string[]) => ids.map((id) => ({ id, what: 'deleted' }))
  switch (operation.kind) {
    case 'createCollection':
      return [...made(operation.data.id), ...operation.data.operations.flatMap(({ data }) => made(data.id))]
    case 'updateCollection':
      return operation.data.operations.flatMap((change) => effectsOfChange(operation.data.id, change))
    case 'createRelationFieldPair': {
      const { firstField, secondField } = operation.data.data
      return made(firstField.id, secondField.id)
    }
    case 'createManyToManyFieldPair':
      return made(operation.data.firstField.id, operation.data.secondField.id)
    case 'updateRelationFieldPair': {
      const { firstFieldId, secondFieldId, operations } = operation.data
      return operations.flatMap(({ kind, data }) => {
        const ids = kind === 'changeApiName' ? [data.fieldId] : [firstFieldId, secondFieldId]
        return ids.map((id) => ({ id, what: kind }))
      })
    }
    case 'deleteRelationFieldPair':
      return deleted(operation.data.firstFieldId, operation.data.secondFieldId)
    case 'createNamespace':
      return made(operation.data.id)
    case 'deleteCollection':
    case 'deleteNamespace':
      return deleted(operation.data.id)
    case 'createIdempotencyLedger':
    case 'deleteIdempotencyLedger':
      return [{ id: operation.data.sourceId, what: 'ledger' }]
    default:
      return operation satisfies never
  }
}

function effectsOfChange(id: string, change: CollectionChange): readonly Effect[] {
  switch (change.kind) {
    case 'createPrimitiveField':
    case 'createIndex':
      return [{ id: change.data.id, what: 'made' }]
    case 'deletePrimitiveField':
    case 'deleteIndex':
      return [{ id: change.data.id, what: 'deleted' }]
    case 'updatePrimitiveField': {
      const { id: fieldId, operations } = change.data
      return operations.map(({ kind }) => ({ id: fieldId, what: kind }))
    }
    case 'changeApiName':
    case 'changeDbName':
    case 'changeHasHistory':
      return [{ id, what: change.kind }]
    default:
      return change satisfies never
  }
}
