/** Why a batch of the system database failed, by the SQLSTATE of its fault. */
import { SqlFault } from '../core/sql/fault.ts'

/** A name is taken: a unique constraint, or a schema that is there. */
export function isDuplicate(cause: unknown): boolean {
  return hasState(cause, ['23505', '42P06'])
}

/** Something that it refers to is gone, or something refers to what it deletes. */
export function breaksReference(cause: unknown): boolean {
  return hasState(cause, ['23503'])
}

/** There would be more rows than the trigger that names this constraint lets there be. */
export function breaksLimit(cause: unknown, constraint: string): boolean {
  return hasState(cause, ['23514']) && (cause as SqlFault).constraint === constraint
}

/** A row that it requires is not there: such a statement divides by the number of them. */
export function isUnmet(cause: unknown): boolean {
  return hasState(cause, ['22012'])
}

/** It was based on outdated facts, so that reading them again and starting anew may succeed. */
export function isOutOfDate(cause: unknown): boolean {
  return isUnmet(cause) || hasState(cause, ['40P01'])
}

/** Somebody else holds what it would not wait for. */
export function isHeld(cause: unknown): boolean {
  return hasState(cause, ['55P03'])
}

function hasState(cause: unknown, states: readonly string[]): boolean {
  return cause instanceof SqlFault && states.includes(cause.state)
}
