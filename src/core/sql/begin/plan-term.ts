/**
 * The validity of a plan: a plan contains names of columns, and rights, of the versions that its request has read. A plan that
 * runs after a freed name may be reused could reach another field's column (docs/decisions/117).
 */
import { SqlFault } from '../fault.ts'

/** Milliseconds for which a freed name is not reused (docs/contract.md#migrations). */
export const NAMES_KEPT = 2_000

/**
 * Milliseconds after reading the versions for which a plan is used without a check. The rest of NAMES_KEPT is for the way to
 * the database, and for the commit of the migration that frees a name.
 */
export const PLANS_LAST = 1_500

/** The validity of a plan. */
export interface PlanTerm {
  /** True if the plan may not be used before `renew` has checked it. */
  isOver(): boolean
  /** Checks whether model and rights are still those of the plan; if so, the plan is valid again. */
  renew(): Promise<boolean>
}

/** State of work with an expired plan, which was rolled back or not begun. */
export const OUTDATED = 'SV117'

/** Called before sending or committing work of a plan: checks an expired plan again. Rejects with SqlFault OUTDATED. */
export function requireTerm(term: PlanTerm | undefined): Promise<void> {
  if (term?.isOver() !== true) return Promise.resolve()
  return term.renew().then(
    (isRenewed) => {
      if (!isRenewed) throw outdated(undefined)
    },
    (cause: unknown) => {
      throw outdated(cause)
    },
  )
}

/**
 * Returns the result of `work` if its plan is valid at the end. Otherwise rejects with SqlFault OUTDATED, also instead of an
 * error of `work`, which might be about another field's column. For work that changes nothing and may be repeated.
 */
export function withinTerm<T>(term: PlanTerm | undefined, work: Promise<T>): Promise<T> {
  if (term === undefined) return work
  return work.then(
    (value) => (term.isOver() ? requireTerm(term).then(() => value) : value),
    (error: unknown) =>
      requireTerm(term).then(() => {
        throw error
      }),
  )
}

function outdated(cause: unknown): SqlFault {
  return new SqlFault('the model or the rights have changed since this was planned', { state: OUTDATED, cause })
}

/** True if the error or one of its causes is OUTDATED. */
export function isOutdated(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (error instanceof SqlFault && error.state === OUTDATED) || isOutdated(error.cause)
}
