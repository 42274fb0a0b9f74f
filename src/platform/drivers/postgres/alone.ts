/** Runs one statement on a Postgres connection borrowed for it alone, so that it can be cancelled. */
import type pg from 'pg'
import type { Statement } from '../../../core/sql/statement.ts'
import type { QueryContext } from '../../../ports/database.ts'
import { isLost } from '../lost-connection.ts'
import { whileInTerm, withTimeLimit } from '../time-limit.ts'
import { cancelRunning, endWith } from './cancel.ts'
import { lost, type PostgresOptions, postgresFault, socketOf, type TextResult, textRequest } from './client.ts'

type SingleStatement = {
  readonly statement: Statement
  readonly context: QueryContext | undefined
  readonly timeLimit: number
}

/** Runs a statement on `client` and releases it. `options` are those that the client was created with. */
export async function runAlone(
  client: pg.PoolClient,
  options: PostgresOptions,
  { statement, context, timeLimit }: SingleStatement,
): Promise<TextResult> {
  let isEnded = false
  let isOver = false
  const end = () => {
    isEnded = true
    void endWith(options, client)
  }
  const cancel = () => {
    isEnded = true
    void cancelRunning(options, client)
  }
  const answer = client.query<string[]>(textRequest(statement)).catch((error: unknown) => {
    throw postgresFault(error, lost)
  })
  try {
    // An embedded database has no second session that could hold a row.
    const term = options.stream === undefined ? context?.term : undefined
    return await withTimeLimit(whileInTerm(answer, term, cancel), {
      context,
      timeLimit,
      elapsed: elapsedOf(client),
      end,
    })
  } catch (error) {
    const fault = postgresFault(error, lost)
    isOver = isLost(fault)
    throw fault
  } finally {
    client.release(isEnded || isOver || client.getTransactionStatus() !== 'I' || socketOf(client).destroyed)
  }
}

/** Time since the connection got its turn at the embedded database; undefined for other connections. */
function elapsedOf(client: pg.PoolClient): (() => number) | undefined {
  return (socketOf(client) as { readonly elapsed?: () => number }).elapsed
}
