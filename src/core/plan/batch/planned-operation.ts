/** The properties of a batch's operation besides its plan. */
import type { Collection } from '../../model/model.ts'
import { all } from '../../query/filter.ts'
import { type Bindings, unbound } from '../../query/placeholder.ts'
import type { BatchPlan, OperationValues, Plan, PlannedOperation } from '../plan.ts'
import type { WriteRequest } from '../write.ts'
import type { Operation } from './operation.ts'

export function plannedOperation(
  plan: Plan,
  { kind, key, query }: Operation,
  { collection, read }: Pick<WriteRequest, 'collection' | 'read'>,
): PlannedOperation {
  return {
    plan,
    collection,
    isOne: key !== undefined,
    answers: kind !== 'delete' ? 'items' : query.fields === undefined ? 'nothing' : 'deleted',
    readable: kind === 'read' ? read.access.rows : all,
  }
}

/** A batch of a single operation that the caller did not send as a batch. */
export function alone(plan: Plan, collection: Collection, own: Partial<PlannedOperation> = {}): BatchPlan {
  const operation = { plan, collection, isOne: false, answers: 'items', readable: all, ...own } as const
  return { kind: 'batch', operations: [operation], values: [undefined], isAlone: true }
}

/** Bindings of one operation: `values` are its own; everything else comes from `bindings`, which all share. */
export function operationBindings(bindings: Bindings, index: number, values: OperationValues | undefined): Bindings {
  return (placeholder) => {
    if (placeholder.kind === 'operation') return String(index)
    if (values === undefined) return bindings(placeholder)
    switch (placeholder.kind) {
      case 'key':
        return values.key[placeholder.index] ?? unbound(placeholder)
      case 'itemValue': {
        const value = values.item[placeholder.index]
        return value === undefined ? unbound(placeholder) : value
      }
      default:
        return bindings(placeholder)
    }
  }
}
