/**
 * How long a plan may be used: it names columns, and holds rights, as of the versions that its request has seen. What runs
 * later than the names of a database are kept from others might meet another's column by a name (docs/decisions/117).
 */
import { SqlFault } from '../fault.ts'

/** Milliseconds that a name is given to nothing else after it was given up (docs/contract.md#migrations). */
export const NAMES_KEPT = 2_000

/**
 * Milliseconds after the versions were read in which a plan is used without another look. The rest of NAMES_KEPT is for the way
 * to the database, and for the commit of the migration that gives a name up.
 */
export const PLANS_LAST = 1_500

/** The time of a plan. */
export interface PlanTerm {
  /** Whether the plan may not be used any more before `renew` has looked. */
  isOver(): boolean
  /** Looks whether model and rights are those of the plan still: where they are, it is not over. */
  renew(): Promise<boolean>
}

/** State of what was done with a plan whose term is over, or was not begun: nothing of it is left. */
export const OUTDATED = 'SV117'

/** For whoever is about to send, or to commit, by a plan: where its term is over, looks again. Rejects with SqlFault OUTDATED. */
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
 * Returns what `work` brings, if its plan may be used at its end still. Rejects with SqlFault OUTDATED otherwise, also in place
 * of what `work` throws, which might tell of another's column. For work that leaves nothing, which may be done once more.
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

/** Whether the fault, or one that it is made of, is OUTDATED. */
export function isOutdated(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (error instanceof SqlFault && error.state === OUTDATED) || isOutdated(error.cause)
}
