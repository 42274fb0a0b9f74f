/** A write that may be run again, and why (decision 074). */
import type { Dialect } from '../../core/sql/dialect.ts'
import type { SqlFault } from '../../core/sql/fault.ts'
import type { SqlDriver } from '../../ports.ts'

export type RetryDeps = { readonly driver: SqlDriver; readonly dialect: Dialect }

export type Attempt<T> = {
  /** Runs the write by a driver that may add statements of its own to the transaction. */
  readonly run: (driver: SqlDriver) => Promise<T>
  /** Why the write may succeed when it is repeated; undefined for a fault that is its answer. */
  readonly passing: (fault: SqlFault) => PassingCause | undefined
}

/**
 * `blocked`: ended in favour of others. `added`: others have just added what it was to add once. `perhaps`: the violated
 * index is another, which the database may have checked first.
 */
export type PassingCause = 'blocked' | 'added' | 'perhaps'
