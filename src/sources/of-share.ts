/** A shared database with fair queueing by workspace (docs/decisions/037). */
import type { QueryContext, SqlDriver } from '../ports/database.ts'

/**
 * Returns the driver with all statements in `share`, so that work for one workspace does not delay others. Statements of the
 * service itself are included.
 */
export function ofShare(driver: SqlDriver, share: string): SqlDriver {
  const { stream, converse } = driver
  const within = (context: QueryContext = { isInternal: true }): QueryContext => ({ ...context, share })
  return {
    ...driver,
    query: (statement, context) => driver.query(statement, within(context)),
    batch: (statements, context) => driver.batch(statements, within(context)),
    ...(stream && { stream: (statement, context) => stream(statement, within(context)) }),
    ...(converse && { converse: (statements, context) => converse(statements, within(context)) }),
  }
}
