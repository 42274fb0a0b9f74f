/**
 * Connections that end while nobody uses them: a database restarts, or a proxy closes what was idle. Whoever sends on one
 * before its end is known is not refused for it, where nothing can have been written (decision 104).
 */
import { SqlFault } from '../../core/sql/fault.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { pause } from '../../ports/clock.ts'
import type { QueryContext, SqlDriver } from '../../ports/database.ts'
import { isInternal } from './time-limit.ts'

/**
 * Runs reads once more where their connection was lost soon. Not oftener, since a read may be what ends the database, and
 * not later, since somebody may have ended just that read.
 */
export function readsAgain<Driver extends SqlDriver>(driver: Driver): Driver {
  const { query, stream } = driver
  return {
    ...driver,
    query: (statement, context) =>
      isRead(statement, context) ? readAgain(() => query(statement, context)) : query(statement, context),
    ...(stream && { stream: (statement, context) => readAgain(() => stream(statement, context)) }),
  }
}

const readAgain = <T>(read: () => Promise<T>): Promise<T> => again(2, read, (elapsed) => elapsed < SOON)

/** What is internal is read if it begins as a read does; a `with` may write. */
export function isRead({ text }: Statement, context: QueryContext | undefined): boolean {
  return isInternal(context) ? /^\s*select\b/i.test(text) : context.isWriting !== true
}

/**
 * Runs a transaction, which calls `onBegin` when the server has begun it. Where the connection is lost before, the
 * transaction runs again on another one, since nothing of it has run.
 */
export function untilStarted<T>(transaction: (onBegin: () => void) => Promise<T>): Promise<T> {
  let hasStarted = false
  const onBegin = () => {
    hasStarted = true
  }
  return again(
    3,
    () => transaction(onBegin),
    () => !hasStarted,
  )
}

async function again<T>(attempts: number, work: () => Promise<T>, isAllowed: (elapsed: number) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts || !isLost(error) || !isAllowed(performance.now() - start)) throw error
    }
    // Others that ended with it are noticed meanwhile, and not lent again.
    await pause(PAUSE)
  }
}

/** In milliseconds: how soon a read has to be lost, and the pause before it runs again. */
const SOON = 5_000
const PAUSE = 10

/** Whether the fault says that its connection has ended, or will at once. */
export function isLost(error: unknown): boolean {
  return error instanceof SqlFault && (lostStates.has(error.state) || lostNumbers.has(error.errno ?? 0))
}

/** PostgreSQL: the connection broke; an administrator ended it. Not `57P02`, a crash. */
const lostStates = new Set(['08006', '57P01'])

/** MySQL and MariaDB: the server shuts down; the connection was killed; it was idle for too long. */
const lostNumbers = new Set([1053, 1927, 4031])
