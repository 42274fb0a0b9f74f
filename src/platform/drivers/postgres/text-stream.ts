/**
 * Streams the rows of one statement on a borrowed connection, read as the consumer takes them, so that a large result
 * is not held in memory. If a slow consumer holds the connection for too long, the remaining rows are buffered at once
 * and the connection is released.
 */
import type pg from 'pg'
import Cursor from 'pg-cursor'
import type { Statement } from '../../../core/sql/statement.ts'
import type { SqlRow } from '../../../ports/database.ts'

/** Maximum milliseconds that one consumer may hold the connection. */
const HOLD_LIMIT = 10_000

/** Resolves with the first row, or when there is none. Always releases `client`. Rejects with the errors of `pg`. */
export async function streamText(
  client: pg.PoolClient,
  { text, params }: Statement,
  holdLimit = HOLD_LIMIT,
): Promise<AsyncIterator<SqlRow>> {
  // What it waits for may never come then, since a cursor that is done hears of no errors.
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(ignore)
  const end = () => ended.reject(new Error('the connection has ended'))
  client.once('end', end)
  const cursor = client.query(new Cursor<SqlRow>(text, [...params], { rowMode: 'array' }))
  let ready: SqlRow[] = []
  let isOpen = true

  async function leave(fault?: unknown): Promise<void> {
    if (!isOpen) return
    isOpen = false
    clearTimeout(timer)
    const isSound = fault === undefined && (await Promise.race([cursor.close(), ended.promise]).then(yes, no))
    client.off('end', end)
    client.release(!isSound)
  }

  async function read(rows: number): Promise<void> {
    try {
      ready.push(...(await Promise.race([cursor.read(rows), ended.promise])))
    } catch (error) {
      await leave(error)
      throw error
    }
    if (ready.length === 0) await leave()
  }

  const timer = setTimeout(() => void read(ALL).then(() => leave(), ignore), holdLimit).unref()
  await read(1)

  return {
    async next() {
      if (ready.length === 0 && isOpen) await read(1)
      const value = ready.shift()
      return value === undefined ? { done: true, value } : { done: false, value }
    },
    async return() {
      ready = []
      await leave()
      return { done: true, value: undefined }
    },
  }
}

const ALL = 2 ** 31 - 1
const ignore = () => {}
const yes = () => true
const no = () => false
