/**
 * The rows of one statement on a connection lent for it, read as they are taken, so that neither a large answer nor what
 * is left of it fills the memory. A caller who reads slowly may keep the connection for some seconds; what is still to
 * come is then read at once, and the connection serves others.
 */
import type pg from 'pg'
import Cursor from 'pg-cursor'
import type { Statement } from '../../../core/sql/statement.ts'
import type { SqlRow } from '../../../ports.ts'

/** Milliseconds that one caller may keep others from the connection. */
const PATIENCE = 10_000

/** Resolves when the first row is there, or none is; `client` is released however this ends. Rejects with what `pg` says. */
export async function streamText(
  client: pg.PoolClient,
  { text, params }: Statement,
  patience = PATIENCE,
): Promise<AsyncIterator<SqlRow>> {
  // A client that breaks tells its statement; without a listener it would end the process.
  client.on('error', ignore)
  const cursor = client.query(new Cursor<SqlRow>(text, [...params], { rowMode: 'array' }))
  let ready: SqlRow[] = []
  let isOpen = true

  async function leave(fault?: unknown): Promise<void> {
    if (!isOpen) return
    isOpen = false
    clearTimeout(timer)
    const isSound = fault === undefined && (await cursor.close().then(yes, no))
    client.off('error', ignore)
    client.release(!isSound)
  }

  async function read(rows: number): Promise<void> {
    try {
      ready.push(...(await cursor.read(rows)))
    } catch (error) {
      await leave(error)
      throw error
    }
    if (ready.length === 0) await leave()
  }

  const timer = setTimeout(() => void read(ALL).then(() => leave(), ignore), patience).unref()
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
