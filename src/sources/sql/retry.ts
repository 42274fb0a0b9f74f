/** Retries writes that failed because of concurrent writes and changed nothing; `repeat.ts` implements it (decision 074). */
import type { PrimitiveField } from '../../core/model/model.ts'
import type { Plan, Step } from '../../core/plan/plan.ts'
import { blockedCode } from '../../core/sql/database-error.ts'
import type { Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import type { Attempt, RetryDeps } from './repeat.ts'
import { wrapTransactions } from './wrap-transactions.ts'

export type Retry = <T>(attempt: Attempt<T>) => Promise<T>

export function createRetry(deps: RetryDeps): Retry {
  const { driver, dialect } = deps
  const { patience } = dialect.writeQueue
  const first = patience === undefined ? driver : { ...driver, batch: wrapTransactions(driver, [patience], []).batch }
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
    const onces = steps.filter((step) => step.kind === 'insert').filter(({ unless, unique }) => unless ?? unique)
    if (onces.length === 0) return undefined
    return onces.some((step) => isLookedBy(step, fault)) ? 'added' : 'perhaps'
  }
}

/** True if the violated index is the one by which the insert checks whether the row exists. */
function isLookedBy({ into, unless, unique }: Insert, { constraint = '' }: SqlFault): boolean {
  const fields = unless ?? unique ?? []
  // MySQL qualifies the constraint with its table.
  const name = constraint.slice(constraint.lastIndexOf('.') + 1)
  return into.collection.indexes.some((index) => {
    const isViolated = index.dbName === name || (index.kind === 'primary' && name === 'PRIMARY')
    return isViolated && isSameSet(index.fields, fields)
  })
}

type Insert = Extract<Step, { kind: 'insert' }>

function isSameSet(some: readonly PrimitiveField[], others: readonly PrimitiveField[]): boolean {
  return some.length === others.length && some.every((field) => others.includes(field))
}
