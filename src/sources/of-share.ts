/** A database that workspaces share, as one of them uses it (docs/decisions/037). */
import type { QueryContext, SqlDriver } from '../ports/database.ts'

/**
 * Returns the driver for what is done for one workspace, or another who shall not hold up others: each of its statements is in
 * that share, those of the service itself too.
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
