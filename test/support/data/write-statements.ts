/** What a write of a route of its own asks of a database that keeps the slots. */
import type { Collection } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { alone } from '../../../src/core/plan/batch/planned-operation.ts'
import type { BatchPlan, WritePlan } from '../../../src/core/plan/plan.ts'
import { unbound } from '../../../src/core/query/placeholder.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import type { Statement } from '../../../src/core/sql/statement.ts'
import { compileBatch } from '../../../src/core/sql/write/batch.ts'

export function writeStatements(plan: WritePlan, dialect: Dialect): readonly Statement[] {
  return atOnce(compileBatch(aloneIn(plan), dialect)).statements(unbound)
}

/** The batch of a plan, whose first step tells the collection. */
export function aloneIn(plan: WritePlan): BatchPlan {
  return alone(plan, plan.kind === 'program' ? collectionOf(plan.steps[0]) : plan.collection)
}

function collectionOf(step: Extract<WritePlan, { kind: 'program' }>['steps'][number] | undefined): Collection {
  if (step === undefined) throw new Error('the program has no steps')
  return 'slot' in step ? step.slot.collection : step.into.collection
}
