/**
 * How long what was planned stands: a plan names columns, and holds rights, as of the versions that a request has seen. What is
 * begun later than the names of a database are kept from others might meet another's column by a name (docs/decisions/117).
 */
import { SqlFault } from './sql/fault.ts'

/** Milliseconds that a name is given to nothing else after it was given up (docs/contract.md#migrations). */
export const NAMES_KEPT = 2_000

/**
 * Milliseconds after the versions were read in which a statement may be begun. The rest of NAMES_KEPT is for its way to the
 * database, and for the commit of the migration that gives a name up.
 */
export const PLANS_STAND = 1_500

/** What the plan of a request rests on. */
export interface Standing {
  /** Whether nothing may be begun any more before `renew` has looked. */
  isOver(): boolean
  /** Looks whether model and rights are those of the plan still: where they are, it is not over. */
  renew(): Promise<boolean>
}

/** State of what was not begun, since its plan no longer stands. Nothing was sent. */
export const OUTDATED = 'SV117'

/** For whoever is about to send something: where `standing` is over, looks again. Throws SqlFault OUTDATED. */
export async function requireStanding(standing: Standing): Promise<void> {
  let cause: unknown
  try {
    if (await standing.renew()) return
  } catch (error) {
    cause = error
  }
  throw new SqlFault('the model or the rights have changed since this was planned', { state: OUTDATED, cause })
}

/** Whether the fault, or one that it is made of, is OUTDATED. */
export function isOutdated(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (error instanceof SqlFault && error.state === OUTDATED) || isOutdated(error.cause)
}
