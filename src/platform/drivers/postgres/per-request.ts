/**
 * Postgres over TCP where a connection lives no longer than its request. A statement has a connection to itself, so that
 * it can be cancelled; behind a pooler also a transaction, in which its settings hold.
 */
import type pg from 'pg'
import { BUSY, SqlFault } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../../ports/database.ts'
import { createLending, type LendingOptions } from '../lending.ts'
import { isForCaller, lendInTerm, withTimeLimit } from '../time-limit.ts'
import { runAlone } from './alone.ts'
import { cutOff, endWith } from './cancel.ts'
import {
  ignore,
  lost,
  makeClient,
  type PostgresOptions,
  postgresFault,
  showFloatsExactly,
  unreachable,
  withoutLimit,
} from './client.ts'
import { runConfirmed } from './confirmed.ts'
import { runBatch } from './transaction.ts'

export type PerRequestOptions = PostgresOptions & Pick<LendingOptions<unknown>, 'request'>

export function openPostgresPerRequest({ request, ...options }: PerRequestOptions): SqlDriver {
  const { timeLimit = 0 } = options
  const limited = lendingOf(options, request)
  const unlimited = lendingOf({ ...options, timeLimit: 0 }, request)
  async function queryInTransaction(
    statement: Statement,
    context: QueryContext | undefined,
  ): Promise<readonly SqlRow[]> {
    let running: pg.PoolClient | undefined
    const lend = async () => {
      running = await lendInTerm(unlimited, context)
      return running
    }
    const end = () => {
      if (running !== undefined) void endWith(options, running)
    }
    const work = runBatch(lend, options, { statements: [statement], context })
    // The transaction has the time limit; this ends it for who leaves.
    return (await withTimeLimit(work, { context, timeLimit: 0, end }))[0] ?? []
  }

  return {
    async query(statement, context) {
      if (options.isPooled) return queryInTransaction(statement, context)
      const client = await lendInTerm(isForCaller(context) ? limited : unlimited, context)
      return (await runAlone(client, options, { statement, context, timeLimit })).rows
    },
    batch(statements, context) {
      const lend = () => lendInTerm(unlimited, context)
      // By the way, so that a look before the commit costs no way to the server and back.
      return context?.term !== undefined && !options.isPooled
        ? runConfirmed(lend, options, { statements, context, nameOf: undefined })
        : runBatch(lend, options, { statements, context })
    },
    async close() {},
  }
}

/** Returns a function that connects a client, or takes one that the request has. */
function lendingOf(
  initialOptions: PostgresOptions,
  request: PerRequestOptions['request'],
): () => Promise<pg.PoolClient> {
  let options = initialOptions
  const { take, giveBack } = createLending<pg.PoolClient>({
    request,
    isOpen: (client) => client.getTransactionStatus() === 'I',
    close: (client) => void end(client),
    isCrowded: (error) => error instanceof SqlFault && error.state === BUSY,
    async open() {
      try {
        return await connect()
      } catch (error) {
        const unlimited = withoutLimit(options, postgresFault(error, lost))
        if (unlimited === undefined) throw postgresFault(error, unreachable)
        options = unlimited
        return connect()
      }
    },
  })

  async function connect(): Promise<pg.PoolClient> {
    const client = makeClient(options)
    await client.connect()
    if (!options.isPooled) showFloatsExactly(client)
    const release = (isBroken?: Error | boolean) => (isBroken ? cutOff(client) : giveBack(pooled))
    const pooled: pg.PoolClient = Object.assign(client, { release })
    return pooled
  }

  return take
}

async function end(client: pg.PoolClient): Promise<void> {
  await (client as unknown as pg.Client).end().catch(ignore)
}
