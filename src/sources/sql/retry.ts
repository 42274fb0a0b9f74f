/** Repeats writes that others were in the way of and that left nothing; how, `repeat.ts` knows (decision 074). */
import type { PrimitiveField } from '../../core/model/model.ts'
import type { Plan, Step } from '../../core/plan/plan.ts'
import { blockedCode } from '../../core/sql/database-error.ts'
import type { Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { around } from './around.ts'
import type { Attempt, RetryDeps } from './attempt.ts'

export type Retry = <T>(attempt: Attempt<T>) => Promise<T>

export function createRetry(deps: RetryDeps): Retry {
  const { driver, dialect } = deps
  const { patience } = dialect.writeQueue
  const first = patience === undefined ? driver : { ...driver, batch: around(driver, [patience], []).batch }
  return (attempt) =>
    attempt.run(first).catch(async (error: unknown) => {
      const cause = error instanceof SqlFault ? attempt.passing(error) : undefined
      if (cause === undefined) throw error
      const { repeat } = await import('./repeat.ts')
      return repeat(deps, attempt, cause)
    })
}

export function passingCause(plans: readonly Plan[], dialect: Dialect): Attempt<unknown>['passing'] {
  return (fault) => {
    const code = dialect.explain(fault)?.code
    if (code === blockedCode) return 'blocked'
    const steps = code === '1002' ? plans.flatMap((plan) => (plan.kind === 'program' ? plan.steps : [])) : []
    return steps.some((step) => addsOnce(step, fault)) ? 'added' : undefined
  }
}

/** Whether the violated index is the one that tells of a row whether it is there already. */
function addsOnce(step: Step, { constraint = '' }: SqlFault): boolean {
  const fields = step.kind === 'insert' ? (step.unless ?? step.unique) : undefined
  if (step.kind !== 'insert' || fields === undefined) return false
  // MySQL qualifies it with its table.
  const name = constraint.slice(constraint.lastIndexOf('.') + 1)
  const { indexes } = step.into.collection
  return indexes.some((index) => {
    const isViolated = index.dbName === name || (index.kind === 'primary' && name === 'PRIMARY')
    return isViolated && isSameSet(index.fields, fields)
  })
}

function isSameSet(some: readonly PrimitiveField[], others: readonly PrimitiveField[]): boolean {
  return some.length === others.length && some.every((field) => others.includes(field))
}
