/**
 * Persistent pipelined clients for single statements: one round trip each, without waiting for a free connection.
 * Statements are prepared under names; reads do not wait behind a slow statement.
 */
import type pg from 'pg'
import { isOutdated, requireTerm } from '../../../core/sql/begin/plan-term.ts'
import { CANCELED, SqlFault, TIMED_OUT } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { QueryContext, SqlRow } from '../../../ports.ts'
import { isLost } from '../lost-connection.ts'
import { abortReason, limitOf, looksAt, POLL_INTERVAL } from '../time-limit.ts'
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
import { isStale, MAX_LENGTH } from './prepared.ts'
import { readText } from './text-read.ts'

/**
 * Opens clients on demand and replaces lost ones. Two share what is asked; where the first statement of one is silent, what
 * is asked then, and the reads behind it, go by further ones. If all are full, a statement waits for the first with room. What
 * is no read could not be taken back: it is sent where no other statement runs, or behind other writes of its share, unless its
 * plan has a term that it may not outlive behind others.
 */
export function openReaders(initialOptions: PostgresOptions) {
  const { timeLimit = 0 } = initialOptions
  let options = initialOptions
  const readers: (Reader | undefined)[] = Array(MAX_READERS).fill(undefined)
  /** Replaced clients with unanswered statements. */
  const leaving = new Set<Reader>()
  let waiting: Question[] = []
  /** Readers whose running statement has taken long. */
  let silent = 0
  /** The shortest response time of all, since a new connection has none yet. */
  let nearest = Number.POSITIVE_INFINITY
  const names = new Map<string, string>()
  let issued = 0
  let closed = false
  let watching: NodeJS.Timeout | undefined

  const query = (statement: Statement, context: QueryContext, isRead: boolean): Promise<readonly SqlRow[]> =>
    new Promise((resolve, reject) => {
      const name = nameOf(statement.text)
      ask({ statement, context, isRead, calledAt: performance.now(), name, resolve, reject })
    })

  const ask = (question: Question): void => {
    if (question.context.term?.isOver()) {
      askWithinTerm(question)
      return
    }
    try {
      const reader = waiting.length === 0 ? take(question) : undefined
      if (reader !== undefined) pass(reader, question)
      // If no other statement waits, `take` has just found no room.
      else if (waiting.push(question) > 1) handOut()
    } catch (error) {
      // The driver is closed, or not even a client could be created.
      question.reject(error)
    }
  }

  const askWithinTerm = (question: Question): void => {
    requireTerm(question.context.term).then(() => ask(question), question.reject)
  }

  const pass = (reader: Reader, question: Question): void => {
    const attempt = { reader, question, limited: options }
    if (reader.ready) send(attempt)
    else
      reader.connecting
        .then(
          () => send(attempt),
          (error) => failed(attempt, undefined, error),
        )
        .catch(question.reject)
  }

  const send = (attempt: Attempt): void => {
    const { reader, question } = attempt
    if (question.context.term?.isOver()) {
      // It has waited for its connection.
      giveBack(reader)
      askWithinTerm(question)
      return
    }
    const entry: Entry = { question, ended: undefined, isLeft: false, look: undefined }
    reader.entries.push(entry)
    read(reader, question).then(
      (rows) => {
        reader.entries.shift()
        giveBack(reader)
        if (!entry.isLeft) question.resolve(rows)
      },
      (error) => {
        reader.entries.shift()
        failed(attempt, entry, error)
      },
    )
  }

  const failed = ({ reader, question, limited }: Attempt, entry: Entry | undefined, error: unknown): void => {
    const { name, statement } = question
    const fault = postgresFault(error, lost)
    // Its end may be known later only.
    if (isLost(fault)) drop(reader)
    // Before anything is asked again, which looks for room.
    const isMistaken = isMistakenlyCanceled(reader, fault)
    giveBack(reader)
    if (entry?.isLeft) return
    // What has lost its connection may have been written: it is not planned again.
    const isInDoubt = isLost(fault) && isOutdated(entry?.ended?.fault)
    if (entry?.ended !== undefined) question.reject(isInDoubt ? fault : entry.ended.fault)
    else if (name !== undefined && isStale(fault)) {
      // It was refused before it ran: the table has changed, or its preparation has failed.
      if (names.get(statement.text) === name) forget()
      ask({ ...question, name: undefined })
    } else if (isMistaken || limited !== options) ask(question)
    else question.reject(fault)
  }

  /** Whether a cancel request for an earlier statement hit this one instead; it had no effect and may run again. */
  const isMistakenlyCanceled = ({ pace, wasEnded }: Reader, { state }: SqlFault): boolean =>
    state === TIMED_OUT && wasEnded && (timeLimit === 0 || pace.silence(performance.now()) < timeLimit * 0.9)

  const check = () => {
    const now = performance.now()
    const all = [...readers, ...leaving].filter((reader) => reader !== undefined)
    if (waiting.length === 0 && all.every(({ pace }) => pace.load() === 0)) {
      clearInterval(watching)
      watching = undefined
      return
    }
    for (const reader of all) checkFirst(reader, now)
    handOut()
    for (const reader of all) overtake(reader, now)
    waiting = waiting.filter((question) => {
      const fault = reasonToEnd(question, now, 0)
      if (fault !== undefined) question.reject(fault)
      return fault === undefined
    })
  }

  /** The limit of a statement counts from its call, so that one that waited has less of it left. */
  const reasonToEnd = ({ context, calledAt }: Question, now: number, margin: number): SqlFault | undefined => {
    const limit = limitOf(context, timeLimit)
    return abortReason(context, { elapsed: now - calledAt, timeLimit: limit && limit + margin })
  }

  /** Ends the running statement where it is late, or nobody waits for it; on each connection only the first is running. */
  const checkFirst = (reader: Reader, now: number) => {
    const [first] = reader.entries
    const silence = reader.pace.silence(now)
    // Only what was there at the last look: a busy process may have sent the rest a moment ago.
    if (first !== reader.looked) {
      reader.looked = first
      reader.lookedAt = now
      return
    }
    // Silence counts from its call, which may have been long before the connection was there.
    const most = Math.min(silence, now - reader.lookedAt + SILENT)
    if (first === undefined || most < Math.min(LONGEST_SILENCE, SILENT + 2 * nearest)) return
    if (!reader.isSilent) silent += 1
    reader.isSilent = true
    // An unreachable server cannot end the statement, so the connection is cut off.
    if (first.ended !== undefined && now - first.ended.at > GIVEN_UP) cutOff(reader.client)
    if (first.ended !== undefined || silence < POLL_INTERVAL) return
    // A write may wait for a row that somebody holds for long.
    first.look ??= looksAt(first.question.context.term, (fault) => {
      if (reader.entries[0] === first && first.ended === undefined) endFirst(reader, first, fault)
    })
    first.look()
    // The server counts from the turn of a statement.
    const hasWaited = now - silence - first.question.calledAt > POLL_INTERVAL
    const margin = options.timeLimit && !hasWaited ? MARGIN : 0
    const fault = first.isLeft ? left() : reasonToEnd(first.question, now, margin)
    if (fault !== undefined) endFirst(reader, first, fault)
  }

  const endFirst = (reader: Reader, first: Entry, fault: SqlFault) => {
    first.ended = { fault, at: performance.now() }
    reader.wasEnded = true
    void cancelRunning(options, reader.client)
  }

  /** The reads behind a silent statement are asked once more, elsewhere, as far as there is room and time. */
  const overtake = (reader: Reader, now: number) => {
    if (!reader.isSilent) return
    for (const entry of reader.entries.slice(1)) {
      const { question } = entry
      if (!question.isRead || entry.isLeft) continue
      const fault = reasonToEnd(question, now, 0)
      if (fault === undefined && pick(question) === undefined) continue
      entry.isLeft = true
      if (fault === undefined) ask(question)
      else question.reject(fault)
    }
  }

  const take = (question: Question): Reader | undefined => {
    if (closed) throw closedFault()
    const reader = pick(question)
    if (reader !== undefined && (question.isRead || reader.pace.load() === 0)) {
      reader.writes = question.isRead ? undefined : { share: question.context.share }
    }
    reader?.pace.ask(performance.now())
    reader?.timer.refresh()
    if (reader !== undefined && isFirst(question)) reader.first = question
    // After the answers that have come meanwhile, which would otherwise count as silence.
    watching ??= setInterval(() => setImmediate(check), SILENT).unref()
    return reader
  }

  /** In the order of their calls, but for those whose share is used up, or that wait for a client of their own. */
  const handOut = () => {
    /** Shares of what has to be first, and of the rest. */
    const usedUp = { first: new Set<string | undefined>(), rest: new Set<string | undefined>() }
    let isBusy = false
    for (let place = 0; place < waiting.length; ) {
      const question = waiting[place] as Question
      const { share, term } = question.context
      const alike = isFirst(question) ? usedUp.first : usedUp.rest
      try {
        const waits = alike.has(share) || (isBusy && !question.isRead)
        const isLate = !waits && term?.isOver() === true
        const reader = waits || isLate ? undefined : take(question)
        if (reader === undefined && !isLate) {
          if (isUsedUp(question)) alike.add(share)
          else if (question.isRead) return
          else isBusy = true
          place += 1
          continue
        }
        if (reader === undefined) askWithinTerm(question)
        else pass(reader, question)
      } catch (error) {
        // Not even a client could be created.
        question.reject(error)
      }
      waiting.splice(place, 1)
    }
  }

  /**
   * What has to be first keeps its client from others as soon as it is sent, everything else once it is silent. The last client is for
   * a share that keeps none.
   */
  const isUsedUp = (question: Question): boolean => {
    const { share } = question.context
    const isOfFirst = isFirst(question)
    if (share === undefined || (!isOfFirst && silent < MAX_HELD)) return false
    let [kept, own] = [0, 0]
    for (const one of readers) {
      const holder =
        (isOfFirst ? one?.first : undefined) ?? (one?.isSilent === true ? one.entries[0]?.question : undefined)
      if (holder === undefined) continue
      kept += 1
      if (holder.context.share === share) own += 1
    }
    // As many as are asked at once may be silent before that shows.
    return own >= MAX_HELD || (own > 0 && kept >= MAX_READERS - AT_ONCE)
  }

  const giveBack = (reader: Reader) => {
    reader.pace.answer(performance.now())
    nearest = Math.min(nearest, reader.pace.nearest())
    if (reader.isSilent) silent -= 1
    reader.isSilent = false
    reader.first = undefined
    if (reader.retired && reader.pace.load() === 0) {
      leaving.delete(reader)
      void end(reader)
    }
    if (waiting.length > 0) handOut()
  }

  /**
   * Returns that of the first two that are not silent, and that it may follow, which has the fewest unanswered statements; undefined
   * if there is none with room.
   */
  const pick = (question: Question): Reader | undefined => {
    if (isUsedUp(question)) return undefined
    let best: Reader | undefined
    let sharing = 0
    for (let slot = 0; slot < MAX_READERS && sharing < AT_ONCE; slot += 1) {
      const reader = readers[slot]
      if (reader !== undefined && (reader.isSilent || !hasPlaceFor(question, reader))) continue
      sharing += 1
      // Another connection is opened only for a statement that would queue behind another.
      if (reader === undefined) {
        if (best === undefined || best.pace.load() > 0) return open(slot)
        break
      }
      if (!reader.pace.isFull() && (best === undefined || reader.pace.load() < best.pace.load())) best = reader
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
    const state = {
      looked: undefined,
      first: undefined,
      writes: undefined,
      lookedAt: 0,
      ready: false,
      retired: false,
      isHolding: false,
      isSilent: false,
      wasEnded: false,
    }
    const reader: Reader = { client, connecting, timer, pace: startPace(), entries: [], ...state }
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

  /** A name lasts as long as its prepared statement; when there are too many, names and clients are replaced. Long texts have none. */
  const nameOf = (text: string): string | undefined => {
    if (text.length > MAX_LENGTH) return undefined
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
    clearInterval(watching)
    for (const { reject } of waiting.splice(0)) reject(closedFault())
    await Promise.all([...readers, ...leaving].map((reader) => reader && end(reader)))
  }

  return { query, close }
}

function read(reader: Reader, { statement, name }: Question): Promise<readonly SqlRow[]> {
  writeTogether(reader)
  if (name !== undefined) return readText(reader.client, name, statement)
  return reader.client.query<string[]>(textRequest(statement)).then(({ rows }) => rows)
}

/** Whether it is sent only where nothing else runs. */
function isFirst({ context: { term, mayFollow } }: Question): boolean {
  return term !== undefined && mayFollow !== true
}

/** Reads may follow whatever there is, since they are asked elsewhere if it takes long. */
function hasPlaceFor(question: Question, { pace, writes }: Reader): boolean {
  if (question.isRead || pace.load() === 0) return true
  return !isFirst(question) && writes !== undefined && writes.share === question.context.share
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

type Question = {
  readonly statement: Statement
  readonly context: QueryContext
  /** Whether it may be asked twice. */
  readonly isRead: boolean
  /** When it was called. */
  readonly calledAt: number
  /** Of its prepared statement, unless it goes without. */
  readonly name: string | undefined
  readonly resolve: (rows: readonly SqlRow[]) => void
  readonly reject: (error: unknown) => void
}

type Attempt = {
  readonly reader: Reader
  readonly question: Question
  /** The options when it was begun. */
  readonly limited: PostgresOptions
}

type Entry = {
  readonly question: Question
  /** Why it was ended. */
  ended: { readonly fault: SqlFault; readonly at: number } | undefined
  /** Whether its caller waits for another answer, or for none. */
  isLeft: boolean
  /** Looks whether its plan may be used still; there once it has taken long. */
  look: (() => void) | undefined
}

type Reader = {
  readonly client: pg.Client
  readonly connecting: Promise<void>
  readonly timer: NodeJS.Timeout
  readonly pace: Pace
  /** Unanswered statements, in order; the first is running. */
  readonly entries: Entry[]
  /** What was running at the last look. */
  looked: Entry | undefined
  /** What is asked before all others, where that has to be first. */
  first: Question | undefined
  /** Whose writes it has, where no read is among what it was handed since it had nothing. */
  writes: Pick<QueryContext, 'share'> | undefined
  lookedAt: number
  /** Whether the running statement has taken long. */
  isSilent: boolean
  wasEnded: boolean
  ready: boolean
  retired: boolean
  /** Whether statements of this event loop turn are buffered. */
  isHolding: boolean
}

/** Extra milliseconds for the server to apply its own limit; milliseconds to wait for a cancelled statement. */
const MARGIN = 2_000
const GIVEN_UP = 10_000

/**
 * Milliseconds without an answer, beyond twice the way to the server, after which nobody waits behind a statement any more;
 * and in any case, also where no answer has shown the way yet.
 */
const SILENT = 50
const LONGEST_SILENCE = 250

/** Clients that share what is asked, as long as they are not silent; how many there may be, and of how many one workspace's statements are the silent ones. */
const AT_ONCE = 2
const MAX_READERS = 10
const MAX_HELD = 5

const left = () => new SqlFault('it was answered elsewhere', { state: CANCELED })

const closedFault = () => new SqlFault('the driver is closed', { state: '08003' })

const maxNames = 1_000

/** Closes the client after its outstanding answers; a client that never connected has nothing to close. */
async function end({ client, connecting, timer }: Reader): Promise<void> {
  clearTimeout(timer)
  await connecting.then(() => client.end()).catch(ignore)
}
