/** Repeats writes that the database has rolled back in favour of others. */
import type { Plan, Step } from '../../core/plan/plan.ts'
import type { Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'

const MAX_ATTEMPTS = 5
/** Serialization failure and deadlock: the transaction was rolled back in favour of another, so it left no changes. */
const rolledBack: ReadonlySet<string> = new Set(['40001', '40P01'])

/** Repeats `work` while concurrent writes make it fail. */
export function retry<T>(
  work: () => Promise<T>,
  isPassing: (fault: SqlFault) => boolean,
  attempts = MAX_ATTEMPTS,
): Promise<T> {
  return work().catch((error: unknown) => {
    if (!(error instanceof SqlFault) || attempts === 1 || !isPassing(error)) throw error
    return retry(work, isPassing, attempts - 1)
  })
}

/** Whether the write may succeed when it is repeated; also where others have just added what it was to add once. */
export function isPassing(plans: readonly Plan[], dialect: Dialect): (fault: SqlFault) => boolean {
  return (fault) => {
    if (rolledBack.has(fault.state)) return true
    const addsOnce = plans.some((plan) => plan.kind === 'program' && plan.steps.some(isOnlyIfAbsent))
    return addsOnce && dialect.explain(fault)?.code === '1002'
  }
}

function isOnlyIfAbsent(step: Step): boolean {
  return step.kind === 'insert' && (step.unless !== undefined || step.absent !== undefined)
}
