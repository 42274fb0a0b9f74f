/** MySQL and MariaDB over TCP where a connection lives no longer than its request. */
import { createConnection, type PoolConnection } from 'mysql2/promise'
import type { Statement } from '../../../core/sql/statement.ts'
import type { ConversingDriver, Statements } from '../../../ports/database.ts'
import { createLending, type LendingOptions } from '../lending.ts'
import { isForCaller } from '../time-limit.ts'
import { createMysqlDriver, type Sessions } from './driver.ts'
import { CONNECT_LIMIT, connectionOptions, cutOff, type MysqlAddress, sessionSetup } from './session.ts'

export type PerRequestOptions = Pick<LendingOptions<unknown>, 'request'> & {
  readonly address: MysqlAddress
  /** In milliseconds, for statements with a client; 0 means no limit. */
  readonly timeLimit: number
  /** Whether sessions are shared by a pooler, so that settings end with a transaction. */
  readonly isPooled: boolean
}

export function openMysqlPerRequest({ address, timeLimit, request, isPooled }: PerRequestOptions): ConversingDriver {
  const limited = lendingOf(address, timeLimit, request)
  const unlimited = lendingOf(address, 0, request)
  const take: Sessions['take'] = (context) => (isForCaller(context) ? limited() : unlimited())
  const driver = createMysqlDriver({ sessions: { take, close: async () => {} }, address, timeLimit })
  return isPooled ? withSettings(driver, timeLimit) : driver
}

/** Sets up the session in each transaction; the isolation level is the server's. */
function withSettings({ converse, close }: ConversingDriver, timeLimit: number): ConversingDriver {
  const inTransaction: ConversingDriver['converse'] = async (statements, context) => {
    const [text = ''] = sessionSetup(isForCaller(context) ? timeLimit : 0)
    return (await converse(behind({ text, params: [] }, statements), context)).slice(1)
  }
  return {
    close,
    converse: inTransaction,
    batch: async (statements, context) => (statements.length === 0 ? [] : inTransaction(statements, context)),
    query: async (statement, context) => (await inTransaction([statement], context))[0] ?? [],
  }
}

async function* behind(first: Statement, rest: Statements): AsyncGenerator<Statement, void> {
  yield first
  yield* rest
}

/** Returns a function that opens a session, or takes one that the request has. */
function lendingOf(address: MysqlAddress, timeLimit: number, request: PerRequestOptions['request']) {
  const { take, giveBack } = createLending<PoolConnection>({
    request,
    isOpen: ({ connection }) => !isBroken(connection),
    // Without waiting: the request may be over before the server has said goodbye.
    close: (session) => void session.end().catch(ignore),
    isCrowded: (error) => error instanceof Error && 'errno' in error && tooMany.has(Number(error.errno)),
    async open() {
      const session = await createConnection(connectionOptions(address))
      const timer = setTimeout(() => cutOff(session), address.connectLimit ?? CONNECT_LIMIT)
      try {
        for (const text of sessionSetup(timeLimit)) await session.query(text)
      } catch (error) {
        session.destroy()
        throw error
      } finally {
        clearTimeout(timer)
      }
      const pooled: PoolConnection = Object.assign(session, { release: () => giveBack(pooled) }) as PoolConnection
      return pooled
    },
  })
  return take
}

/** The server, or the account, has as many connections as it may. */
const tooMany: ReadonlySet<number> = new Set([1040, 1203, 1226])

/** Missing in the types: the state after an error, or after the server has closed the connection. */
function isBroken(connection: unknown): boolean {
  const { _fatalError: fatal, _protocolError: closed, _closing: isClosing } = connection as Internals
  return Boolean(fatal ?? closed ?? isClosing)
}

type Internals = { readonly _fatalError?: unknown; readonly _protocolError?: unknown; readonly _closing?: boolean }

const ignore = () => {}
