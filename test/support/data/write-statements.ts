/** What a write of a route of its own asks of a database. */
import type { Collection } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { alone } from '../../../src/core/plan/batch/planned-operation.ts'
import type { BatchPlan, WritePlan } from '../../../src/core/plan/plan.ts'
import { unbound } from '../../../src/core/query/placeholder.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import type { SqlParam, Statement } from '../../../src/core/sql/statement.ts'
import { type CompiledForms, compileBatch, conversedBatch, noPlaces } from '../../../src/core/sql/write/batch.ts'

export function writeStatements(plan: WritePlan, dialect: Dialect, answer?: Answer): readonly Statement[] {
  const batch = aloneIn(plan)
  if (dialect.transaction === 'stepwise') return answeredStatements(batch, dialect, answer).statements
  return atOnce(compileBatch(batch, dialect)).statements(unbound)
}

/** Those of a transaction that goes stepwise, each answered by `answer`: otherwise as if there were a row for each of its parameters. */
export function answeredStatements(
  plan: BatchPlan,
  dialect: Dialect,
  answer: Answer = anyRows,
  forms: CompiledForms = new WeakMap(),
) {
  const places = noPlaces(plan)
  const statements: Statement[] = []
  for (const statement of conversedBatch(plan, dialect, { bindings: unbound, places, forms })) {
    if (statement === undefined) continue
    statements.push(statement)
    statement.onRows?.(answer(statement))
  }
  return { ...places, statements }
}

type Answer = (statement: Statement) => readonly (readonly SqlParam[])[]

const anyRows: Answer = ({ params }) => rowsOfOnes(Math.max(1, params.length))

export function rowsOfOnes(length: number): readonly (readonly SqlParam[])[] {
  return Array.from({ length }, () => Array(9).fill('1'))
}

/** The batch of a plan, whose first step tells the collection. */
export function aloneIn(plan: WritePlan): BatchPlan {
  return alone(plan, plan.kind === 'program' ? collectionOf(plan.steps[0]) : plan.collection)
}

function collectionOf(step: Extract<WritePlan, { kind: 'program' }>['steps'][number] | undefined): Collection {
  if (step === undefined) throw new Error('the program has no steps')
  return 'slot' in step ? step.slot.collection : step.into.collection
}
