/**
 * Pipelined clients for single statements, opened on demand; lost ones are replaced. Two share what is asked; where the first
 * statement of one is silent, what is asked then, and the reads behind it, go by further ones. If all are full, a statement waits
 * for the first with room. What is no read could not be taken back: it is sent where no other statement runs, or behind other
 * writes of its share, unless its plan has a term that it may not outlive behind others.
 */
import { requireTerm } from '../../../core/sql/begin/plan-term.ts'
import { SqlFault } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { QueryContext, SqlRow } from '../../../ports/database.ts'
import type { PostgresOptions } from './client.ts'
import { createNames } from './prepared.ts'
import { openReader, type PendingStatement, type Reader, reasonToEnd, SILENT } from './reader.ts'
import { placeFor, type Refusal } from './shares.ts'
import { startLine } from './waiting-line.ts'

/** Statements are prepared under names; reads do not wait behind a slow statement. */
export function openReaders(options: PostgresOptions) {
  const { timeLimit = 0 } = options
  const readers: (Reader | undefined)[] = []
  /** Replaced clients with unanswered statements. */
  const leaving = new Set<Reader>()
  let closed = false
  let watching: NodeJS.Timeout | undefined

  const names = createNames(() => {
    for (const reader of readers.splice(0)) {
      if (reader === undefined) continue
      leaving.add(reader)
      reader.retire()
    }
  })
  const shared = { options, timeLimit, nearest: Number.POSITIVE_INFINITY, names }

  const query = (statement: Statement, context: QueryContext, isRead: boolean): Promise<readonly SqlRow[]> =>
    new Promise((resolve, reject) => {
      const name = names.of(statement.text)
      ask({ statement, context, isRead, calledAt: performance.now(), name, resolve, reject })
    })

  const ask = (pending: PendingStatement): void => {
    const { term } = pending.context
    if (term?.isOver()) requireTerm(term).then(() => ask(pending), pending.reject)
    else line.join(pending)
  }

  /** Says why it waits. */
  const pass = (pending: PendingStatement): Refusal | undefined => {
    try {
      if (closed) throw closedFault()
      const place = placeFor(pending, readers)
      // After the answers that have come meanwhile, which would otherwise count as silence.
      watching ??= setInterval(() => setImmediate(check), SILENT).unref()
      if (typeof place === 'string') return place
      readers[place] ??= open()
      readers[place].ask(pending)
    } catch (error) {
      // The driver is closed, or not even a client could be created.
      pending.reject(error)
    }
    return undefined
  }

  const line = startLine((pending) => {
    if (pending.context.term?.isOver() !== true) return pass(pending)
    // It has waited in line.
    ask(pending)
    return undefined
  })

  const open = (): Reader => {
    const onGone = () => {
      leaving.delete(reader)
      const place = readers.indexOf(reader)
      if (place >= 0) readers[place] = undefined
    }
    const reader = openReader({ shared, ask, onRoom: line.handOut, onGone })
    return reader
  }

  const check = () => {
    const now = performance.now()
    const all = [...readers, ...leaving].filter((reader) => reader !== undefined)
    if (line.isEmpty() && all.every(({ load }) => load() === 0)) {
      clearInterval(watching)
      watching = undefined
      return
    }
    for (const reader of all) reader.look(now)
    line.handOut()
    for (const reader of all) reader.overtake(now, (pending) => typeof placeFor(pending, readers) === 'number')
    line.end((pending) => reasonToEnd(pending, { timeLimit, now }))
  }

  const close = async () => {
    closed = true
    clearInterval(watching)
    line.end(closedFault)
    await Promise.all([...readers, ...leaving].map((reader) => reader?.end()))
  }

  return { query, close }
}

const closedFault = () => new SqlFault('the driver is closed', { state: '08003' })
