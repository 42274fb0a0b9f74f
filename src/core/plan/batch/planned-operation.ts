/** What a batch knows of an operation beside its plan. */
import { all } from '../../query/filter.ts'
import type { Plan, PlannedOperation } from '../plan.ts'
import type { WriteRequest } from '../write.ts'
import type { Operation } from './operation.ts'

export function plannedOperation(
  plan: Plan,
  { kind, key, query }: Operation,
  { collection, read }: Pick<WriteRequest, 'collection' | 'read'>,
): PlannedOperation {
  const isKeyed = key !== undefined
  return {
    plan,
    collection,
    isOne: isKeyed && plan.kind !== 'program',
    isKeyed,
    answers: kind !== 'delete' ? 'items' : query.fields === undefined ? 'nothing' : 'deleted',
    readable: kind === 'read' ? read.access.rows : all,
  }
}
