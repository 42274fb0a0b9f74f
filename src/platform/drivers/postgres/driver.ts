/**
 * Postgres over TCP or any stream that speaks its protocol. Single statements run on the pipelined readers, large
 * results stream over a connection of their own, batches run on a pool.
 */
import type pg from 'pg'
import { requireTerm } from '../../../core/sql/begin/plan-term.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../../ports/database.ts'
import { isRead, readsAgain, untilStarted } from '../lost-connection.ts'
import { createSharedSlots, lendInSlot, type SharedSlots } from '../shared-slots.ts'
import { isForCaller, lendInTerm, type TimeLimit, withTimeLimit } from '../time-limit.ts'
import { runAlone } from './alone.ts'
import { endWith } from './cancel.ts'
import { CONNECT_LIMIT, lost, type PostgresOptions, postgresFault, withoutLimit } from './client.ts'
import { runConfirmed } from './confirmed.ts'
import { checkOut, openPool } from './pool.ts'
import { createPrepared, type NameOf } from './prepared.ts'
import { openReaders } from './readers.ts'
import { streamText } from './text-stream.ts'
import { runBatch } from './transaction.ts'

export function openPostgres(options: PostgresOptions): SqlDriver {
  const { stream, timeLimit = 0 } = options
  const own = { ...options, timeLimit: 0 }
  const pool = openPool(own)
  let large = openPool({ ...options, max: LARGE.most, pipeline: false })
  const readers = openReaders(options)
  const ownReaders = openReaders(own)
  const prepared = createPrepared()
  const patience = options.connectLimit ?? CONNECT_LIMIT
  const batches = createSharedSlots({ ...(stream === undefined ? BATCHES : EMBEDDED), patience })
  const results = createSharedSlots({ ...LARGE, patience })
  // An embedded database is ended by ending its connection, and a pooler may have sessions for a statement only.
  const confirms = stream === undefined && !options.isPooled ? true : undefined

  async function checkOutLarge(): Promise<pg.PoolClient> {
    try {
      return await checkOut(large)
    } catch (error) {
      const unlimited = withoutLimit(options, postgresFault(error, lost))
      if (unlimited === undefined) throw error
      large = openPool({ ...unlimited, max: LARGE.most, pipeline: false })
      return checkOut(large)
    }
  }

  /** After an embedded database was ended, nothing tells whether a write took effect, so writes are not ended. */
  const termsOf = (context: QueryContext | undefined) => ({
    context: stream !== undefined && context?.isWriting ? undefined : context,
    timeLimit,
  })

  /**
   * The embedded database runs one thing at a time, in the order of asking. Whoever asks it for versions while holding a
   * connection would wait for themselves.
   */
  async function lend(
    from: () => Promise<pg.PoolClient>,
    context: QueryContext | undefined,
    slots: SharedSlots,
  ): Promise<pg.PoolClient> {
    if (stream === undefined) return lendInTerm(() => inSlot(slots, context, from), context)
    return inSlot(slots, context, async () => {
      await requireTerm(context?.term)
      return from()
    })
  }

  // The embedded database has a single session, so sharing a connection gains nothing, and an unshared one can be
  // ended.
  async function queryAlone(statement: Statement, context: QueryContext | undefined): Promise<readonly SqlRow[]> {
    const isAside = stream === undefined && isForCaller(context)
    const client = await (isAside
      ? lend(checkOutLarge, context, results)
      : lend(() => checkOut(pool), context, batches))
    return (await runAlone(client, options, { statement, ...termsOf(context) })).rows
  }

  return readsAgain({
    query: (statement, context) => {
      if (stream !== undefined || statement.isLarge) return queryAlone(statement, context)
      const by = isForCaller(context) ? readers : ownReaders
      return by.query(statement, context ?? noClient, isRead(statement, context))
    },

    // Not for an embedded database: a connection held by one slow caller would block all others.
    ...(options.stream === undefined && {
      async stream(statement: Statement, context?: QueryContext) {
        const client = await inSlot(results, context, checkOutLarge)
        const limits = { ...termsOf(context), end: () => void endWith(options, client) }
        try {
          return faultsOf(await withTimeLimit(streamText(client, statement), limits), limits)
        } catch (error) {
          throw postgresFault(error, lost)
        }
      },
    }),

    ...(confirms && { confirms }),
    batch(statements, context) {
      const run = (nameOf?: NameOf) => {
        const checkOutClient = () => lend(() => checkOut(pool), context, batches)
        return untilStarted((onBegin) =>
          confirms && (context?.confirm || context?.term)
            ? runConfirmed(checkOutClient, options, { statements, context, nameOf, onBegin })
            : runBatch(checkOutClient, options, { statements, context, nameOf, onBegin }),
        )
      }
      // Names are for what requests send again and again, on connections that last.
      return !isForCaller(context) || stream !== undefined || options.isPooled ? run() : prepared.run(run)
    },

    async close() {
      await Promise.all([readers.close(), ownReaders.close(), pool.end(), large.end()])
    },
  })
}

const noClient: QueryContext = {}

/** Large results at a time; small ones never wait behind them. */
const LARGE = { most: 5, ofShare: 3, ofAccount: 2 }

/** Of the ten connections for transactions, those that callers have; the others are for the service itself. */
const BATCHES = { most: 8, ofShare: 5, ofAccount: 4 }

/** The same of the four connections to an embedded database, which runs one thing at a time: a workspace waits for itself. */
const EMBEDDED = { most: 3, ofShare: 1 }

/** Takes a slot of the caller's workspace, which is free again when the connection is released. */
async function inSlot(
  slots: SharedSlots,
  context: QueryContext | undefined,
  lend: () => Promise<pg.PoolClient>,
): Promise<pg.PoolClient> {
  if (!isForCaller(context) || context.share === undefined) return lend()
  return lendInSlot(slots, context, lend, ['release'])
}

/** Returns the same rows; errors become SqlFaults. */
function faultsOf(rows: AsyncIterator<SqlRow>, limits: TimeLimit): AsyncIterator<SqlRow> {
  return {
    ...rows,
    next: () =>
      withTimeLimit(rows.next(), limits).catch((error: unknown) => {
        throw postgresFault(error, lost)
      }),
  }
}
