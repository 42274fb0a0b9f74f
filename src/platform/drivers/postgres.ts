/**
 * Postgres over TCP, or over any stream that speaks its protocol. A statement that stands alone goes through the held
 * readers, a large one streams over a connection of its own, and batches go through a pool.
 */
import type pg from 'pg'
import type { Statement } from '../../core/sql/statement.ts'
import type { SqlDriver, SqlRow } from '../../ports.ts'
import {
  holdWrites,
  ignore,
  lost,
  openPool,
  type PostgresOptions,
  postgresFault,
  type TextResult,
  textRequest,
  unreachable,
} from './postgres-client.ts'
import { openReaders } from './postgres-readers.ts'
import { streamText } from './text-stream.ts'

export function openPostgres(options: PostgresOptions): SqlDriver {
  const pool = openPool(options)
  const large = openPool({ ...options, max: LARGE_AT_ONCE, pipeline: false })
  const readers = openReaders(options)

  async function queryLarge(statement: Statement): Promise<readonly SqlRow[]> {
    try {
      return (await large.query<string[]>(textRequest(statement))).rows
    } catch (error) {
      throw postgresFault(error, lost)
    }
  }

  return {
    query: (statement) => (statement.isLarge ? queryLarge(statement) : readers.query(statement)),

    // A connection that is kept while a caller reads would keep all others from a database that has only one.
    ...(options.stream === undefined && {
      async stream(statement: Statement) {
        const client = await lend(large)
        try {
          return faultsOf(await streamText(client, statement))
        } catch (error) {
          throw postgresFault(error, lost)
        }
      },
    }),

    async batch(statements) {
      if (statements.length === 0) return []
      const results = await runTransaction(pool, 'begin', statements)
      return results.map((result) => result.rows)
    },

    async close() {
      await Promise.all([readers.close(), pool.end(), large.end()])
    },
  }
}

/** Large answers in memory at one time; nothing small ever waits behind one. */
const LARGE_AT_ONCE = 2

/** The same rows; what breaks while they come is a SqlFault. */
function faultsOf(rows: AsyncIterator<SqlRow>): AsyncIterator<SqlRow> {
  return {
    ...rows,
    next: () =>
      rows.next().catch((error: unknown) => {
        throw postgresFault(error, lost)
      }),
  }
}

/** Runs statements between `begin` and commit; all or nothing. */
export async function runTransaction(
  pool: pg.Pool,
  begin: string,
  statements: readonly Statement[],
): Promise<readonly TextResult[]> {
  const client = await lend(pool)
  // A client that breaks while it is lent out tells its statements; without a listener it would end the process.
  client.on('error', ignore)
  try {
    // Only the begin is waited for: without it the rest would run outside of a transaction. After a failure the
    // server refuses the statements that were already sent, and the commit of a failed transaction is a rollback.
    await client.query(begin)
    const write = holdWrites(client)
    const sent = statements.map((statement) => client.query<string[]>(textRequest(statement)))
    const commit = client.query('commit')
    write()
    const settled = await Promise.allSettled([...sent, commit])
    const failed = settled.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return await Promise.all(sent)
  } catch (error) {
    throw postgresFault(error, lost)
  } finally {
    client.off('error', ignore)
    // Anything but idle means that the transaction's end is unknown: the server rolls it back with the connection.
    client.release(client.getTransactionStatus() !== 'I')
  }
}

async function lend(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw postgresFault(error, unreachable)
  }
}
