/**
 * Persistent pipelined clients for single statements: one round trip each, without waiting for a free connection.
 * Statements are prepared under names; a client blocked by a slow statement is replaced.
 */
import type pg from 'pg'
import { SqlFault, TIMED_OUT } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { QueryContext, SqlRow } from '../../../ports.ts'
import { isLost } from '../lost-connection.ts'
import { abortReason, limitOf, POLL_INTERVAL } from '../time-limit.ts'
import { cancelRunning, cutOff } from './cancel.ts'
import {
  holdWrites,
  idle,
  ignore,
  lost,
  makeClient,
  type PostgresOptions,
  postgresFault,
  showFloatsExactly,
  textRequest,
  unreachable,
  withoutLimit,
} from './client.ts'
import { type Pace, startPace } from './pace.ts'
import { isStale } from './prepared.ts'
import { readText } from './text-read.ts'

/** Opens clients on demand and replaces lost ones. If all are full, a statement waits for the first with room. */
export function openReaders(asked: PostgresOptions) {
  const { timeLimit = 0 } = asked
  let options = asked
  const readers: (Reader | undefined)[] = [undefined, undefined]
  /** Replaced clients with unanswered statements. */
  const leaving = new Set<Reader>()
  const waiting: PromiseWithResolvers<Reader>[] = []
  const names = new Map<string, string>()
  let issued = 0
  let closed = false
  let watching: NodeJS.Timeout | undefined

  const query = (statement: Statement, context: QueryContext): Promise<readonly SqlRow[]> =>
    ask(statement, context, nameOf(statement.text))

  const ask = async (
    statement: Statement,
    context: QueryContext,
    name: string | undefined,
  ): Promise<readonly SqlRow[]> => {
    const reader = (waiting.length === 0 ? take() : undefined) ?? (await inTurn())
    const limited = options
    let number = 0
    let again = name
    try {
      if (!reader.ready) await reader.connecting
      number = reader.contexts.push(context) + reader.answered
      return await send(reader, statement, name)
    } catch (error) {
      const fault = postgresFault(error, lost)
      // Its end may be known later only.
      if (isLost(fault)) drop(reader)
      const ended = reader.endings.get(number)
      if (ended !== undefined) throw ended.fault
      if (name !== undefined && isStale(fault)) {
        // It was refused before it ran: the table has changed, or its preparation has failed.
        if (names.get(statement.text) === name) forget()
        again = undefined
      } else if (!isMistakenlyCanceled(reader, fault) && limited === options) throw fault
    } finally {
      if (number > 0) {
        reader.endings.delete(number)
        reader.contexts.shift()
        reader.answered += 1
      }
      giveBack(reader)
    }
    return ask(statement, context, again)
  }

  /** Whether a cancel request for an earlier statement hit this one instead; it had no effect and may run again. */
  const isMistakenlyCanceled = ({ pace, wasEnded }: Reader, { state }: SqlFault): boolean =>
    state === TIMED_OUT && wasEnded && (timeLimit === 0 || pace.silence(performance.now()) < timeLimit * 0.9)

  /** Ends statements that are late or whose client has disconnected; on each connection only the first is running. */
  const check = () => {
    const now = performance.now()
    const all = [...readers, ...leaving].filter((reader) => reader !== undefined)
    if (all.length === 0) {
      clearInterval(watching)
      watching = undefined
    }
    for (const reader of all) {
      const [context] = reader.contexts
      const elapsed = reader.pace.silence(now)
      if (context === undefined || elapsed < POLL_INTERVAL) continue
      const number = reader.answered + 1
      const ended = reader.endings.get(number)
      // An unreachable server cannot end the statement, so the connection is cut off.
      if (ended !== undefined && now - ended.at > GIVEN_UP) cutOff(reader.client)
      const margin = options.timeLimit ? MARGIN : 0
      const limit = limitOf(context, timeLimit)
      const fault = abortReason(context, { elapsed, timeLimit: limit && limit + margin })
      if (fault === undefined || ended !== undefined) continue
      reader.endings.set(number, { fault, at: now })
      reader.wasEnded = true
      void cancelRunning(options, reader.client)
    }
  }

  const take = (): Reader | undefined => {
    if (closed) throw closedFault()
    const reader = pick()
    reader?.pace.ask(performance.now())
    reader?.timer.refresh()
    return reader
  }

  const inTurn = (): Promise<Reader> => {
    const turn = Promise.withResolvers<Reader>()
    // If no other statement waits, `take` has just found no room.
    if (waiting.push(turn) > 1) handOut()
    else watch.refresh()
    return turn.promise
  }

  const handOut = () => {
    for (let turn = waiting[0]; turn !== undefined; turn = waiting[0]) {
      try {
        const reader = take()
        if (reader === undefined) return
        turn.resolve(reader)
      } catch (error) {
        // Not even a client could be created.
        turn.reject(error)
      }
      waiting.shift()
    }
  }

  /** Room appears with an answer or when a connection is found stuck; the timer finds that without new statements. */
  const watch = setTimeout(() => {
    handOut()
    if (waiting.length > 0) watch.refresh()
  }, STUCK_AFTER).unref()

  const giveBack = (reader: Reader) => {
    reader.pace.answer(performance.now())
    if (reader.retired && reader.pace.load() === 0) {
      leaving.delete(reader)
      void end(reader)
    }
    handOut()
  }

  /** Returns the reader with the fewest unanswered statements; undefined if all are full. */
  const pick = (): Reader | undefined => {
    let best: Reader | undefined
    for (let slot = 0; slot < readers.length; slot += 1) {
      if (leaving.size < maxLeaving && isStuck(readers[slot])) retire(slot)
      const reader = readers[slot]
      // A second connection is opened only for a statement that would queue behind another on the first.
      if (reader === undefined) {
        if (best?.pace.load() !== 0) best = open(slot)
      } else if (!reader.pace.isFull() && (best === undefined || reader.pace.load() < best.pace.load())) best = reader
    }
    return best
  }

  const drop = (reader: Reader) => {
    clearTimeout(reader.timer)
    const slot = readers.indexOf(reader)
    if (slot >= 0) readers[slot] = undefined
  }

  const open = (slot: number): Reader => {
    const client = makeClient(options)
    client.on('error', () => drop(reader))
    client.on('end', () => drop(reader))
    const connecting = client.connect().then(
      () => {
        showFloatsExactly(client)
        reader.ready = true
      },
      (error) => {
        drop(reader)
        const fault = postgresFault(error, unreachable)
        options = withoutLimit(options, fault) ?? options
        throw fault
      },
    )
    connecting.catch(ignore)
    const timer = setTimeout(
      () => (reader.pace.load() === 0 ? retire(slot) : timer.refresh()),
      options.idle ?? idle,
    ).unref()
    const state = { ready: false, retired: false, isHolding: false, answered: 0, wasEnded: false }
    const reader: Reader = { client, connecting, timer, pace: startPace(), contexts: [], endings: new Map(), ...state }
    watching ??= setInterval(check, POLL_INTERVAL).unref()
    readers[slot] = reader
    return reader
  }

  const retire = (slot: number) => {
    const reader = readers[slot]
    readers[slot] = undefined
    if (reader === undefined) return
    reader.retired = true
    if (reader.pace.load() === 0) void end(reader)
    else leaving.add(reader)
  }

  /** A name lasts as long as its prepared statement; when there are too many, names and clients are replaced. */
  const nameOf = (text: string): string => {
    const known = names.get(text)
    if (known !== undefined) return known
    if (names.size >= maxNames) forget()
    issued += 1
    const name = `s${issued}`
    names.set(text, name)
    return name
  }

  const forget = () => {
    names.clear()
    readers.forEach((_, slot) => {
      retire(slot)
    })
  }

  const close = async () => {
    closed = true
    clearTimeout(watch)
    clearInterval(watching)
    for (const turn of waiting.splice(0)) turn.reject(closedFault())
    await Promise.all([...readers, ...leaving].map((reader) => reader && end(reader)))
  }

  return { query, close }
}

function send(reader: Reader, statement: Statement, name: string | undefined): Promise<readonly SqlRow[]> {
  writeTogether(reader)
  if (name !== undefined) return readText(reader.client, name, statement)
  return reader.client.query<string[]>(textRequest(statement)).then(({ rows }) => rows)
}

/** Sends the statements of one event loop turn in one write, since a write costs more than a statement. */
function writeTogether(reader: Reader): void {
  if (reader.isHolding) return
  const write = holdWrites(reader.client)
  reader.isHolding = true
  setImmediate(() => {
    reader.isHolding = false
    write()
  })
}

type Reader = {
  readonly client: pg.Client
  readonly connecting: Promise<void>
  readonly timer: NodeJS.Timeout
  readonly pace: Pace
  /** The contexts of unanswered statements, in order; the first statement is running. */
  readonly contexts: QueryContext[]
  /** Why statements were ended, by their number; numbers count from 1 in the order of sending. */
  readonly endings: Map<number, { readonly fault: SqlFault; readonly at: number }>
  answered: number
  wasEnded: boolean
  ready: boolean
  retired: boolean
  /** Whether statements of this event loop turn are buffered. */
  isHolding: boolean
}

/** Extra milliseconds for the server to apply its own limit; milliseconds to wait for a cancelled statement. */
const MARGIN = 2_000
const GIVEN_UP = 10_000

/** Milliseconds without an answer after which a client is replaced, and how many replaced ones may remain. */
const STUCK_AFTER = 250
const maxLeaving = 8

function isStuck(reader: Reader | undefined): boolean {
  return reader?.ready === true && reader.pace.load() > 0 && reader.pace.silence(performance.now()) > STUCK_AFTER
}

const closedFault = () => new SqlFault('the driver is closed', { state: '08003' })

const maxNames = 1_000

/** Closes the client after its outstanding answers; a client that never connected has nothing to close. */
async function end({ client, connecting, timer }: Reader): Promise<void> {
  clearTimeout(timer)
  await connecting.then(() => client.end()).catch(ignore)
}
