/**
 * A persistent pipelined client for single statements: one round trip each, without waiting for a free connection. It settles
 * what it is asked, gives back what has to be asked again, and ends what is late, or what nobody waits for.
 */
import { isOutdated } from '../../../core/sql/begin/plan-term.ts'
import { CANCELED, SqlFault, TIMED_OUT } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { QueryContext, SqlRow } from '../../../ports/database.ts'
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
import { startPace } from './pace.ts'
import { isStale, type Names } from './prepared.ts'
import { readText } from './text-read.ts'

export type PendingStatement = {
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

export type ReaderDeps = {
  /** Of all readers of a driver. */
  readonly shared: {
    options: PostgresOptions
    /** In milliseconds, whether or not the server applies it; 0 means none. */
    readonly timeLimit: number
    /** The shortest response time, since a new connection has none yet. */
    nearest: number
    readonly names: Names
  }
  readonly ask: (pending: PendingStatement) => void
  readonly onRoom: () => void
  /** Called when it can be asked nothing more. */
  readonly onGone: () => void
}

export type Reader = ReturnType<typeof openReader>

export function openReader(deps: ReaderDeps) {
  const { shared, ask: askAgain, onRoom, onGone } = deps
  const { options, timeLimit } = shared
  const client = makeClient(options)
  const pace = startPace()
  /** Unanswered statements, in order; the first is running. */
  const entries: Entry[] = []
  /** What was running at the last look. */
  let looked: Entry | undefined
  let lookedAt = 0
  /** What is asked before all others, where that has to be first. */
  let first: PendingStatement | undefined
  /** Whose writes it has, where no read is among what it was handed since it had nothing. */
  let writes: Pick<QueryContext, 'share'> | undefined
  /** Whether the running statement has taken long. */
  let isSilent = false
  let wasEnded = false
  let isReady = false
  let isRetired = false
  /** Whether statements of this event loop turn are buffered. */
  let isHolding = false

  const gone = () => {
    clearTimeout(timer)
    onGone()
  }

  /** Closes the client after its outstanding answers; a client that never connected has nothing to close. */
  const end = (): Promise<void> => {
    gone()
    return connecting.then(() => client.end()).catch(ignore)
  }

  const timer = setTimeout(() => (pace.load() === 0 ? end() : timer.refresh()), options.idle ?? idle).unref()
  client.on('error', gone)
  client.on('end', gone)
  const connecting = client.connect().then(
    () => {
      showFloatsExactly(client)
      isReady = true
    },
    (error) => {
      gone()
      const fault = postgresFault(error, unreachable)
      shared.options = withoutLimit(shared.options, fault) ?? shared.options
      throw fault
    },
  )
  connecting.catch(ignore)

  const ask = (pending: PendingStatement): void => {
    if (pending.isRead || pace.load() === 0) writes = pending.isRead ? undefined : { share: pending.context.share }
    pace.ask(performance.now())
    timer.refresh()
    if (isFirst(pending)) first = pending
    const entry: Entry = { pending, limited: shared.options, ended: undefined, isLeft: false, look: undefined }
    if (isReady) send(entry)
    else
      connecting
        .then(
          () => {
            if (pending.context.term?.isOver() !== true) return send(entry)
            giveBack()
            askAgain(pending)
          },
          (error) => failed(entry, error),
        )
        .catch(pending.reject)
  }

  const send = (entry: Entry): void => {
    const { pending } = entry
    entries.push(entry)
    read(pending).then(
      (rows) => {
        entries.shift()
        giveBack()
        if (!entry.isLeft) pending.resolve(rows)
      },
      (error) => {
        entries.shift()
        failed(entry, error)
      },
    )
  }

  const read = ({ statement, name }: PendingStatement): Promise<readonly SqlRow[]> => {
    writeTogether()
    if (name !== undefined) return readText(client, name, statement)
    return client.query<string[]>(textRequest(statement)).then(({ rows }) => rows)
  }

  /** Sends the statements of one event loop turn in one write, since a write costs more than a statement. */
  const writeTogether = () => {
    if (isHolding) return
    const write = holdWrites(client)
    isHolding = true
    setImmediate(() => {
      isHolding = false
      write()
    })
  }

  const failed = ({ pending, limited, ended, isLeft }: Entry, error: unknown): void => {
    const { name, statement } = pending
    const fault = postgresFault(error, lost)
    // Its end may be known later only.
    if (isLost(fault)) gone()
    // Before anything is asked again, which looks for room.
    const isMistaken = isMistakenlyCanceled(fault)
    giveBack()
    if (isLeft) return
    // What has lost its connection may have been written: it is not planned again.
    const isInDoubt = isLost(fault) && isOutdated(ended?.fault)
    if (ended !== undefined) pending.reject(isInDoubt ? fault : ended.fault)
    else if (name !== undefined && isStale(fault)) {
      // It was refused before it ran: the table has changed, or its preparation has failed.
      shared.names.refuse(statement.text, name)
      askAgain({ ...pending, name: undefined })
    } else if (isMistaken || limited !== shared.options) askAgain(pending)
    else pending.reject(fault)
  }

  /** Whether a cancel request for an earlier statement hit this one instead; it had no effect and may run again. */
  const isMistakenlyCanceled = ({ state }: SqlFault): boolean =>
    state === TIMED_OUT && wasEnded && (timeLimit === 0 || pace.silence(performance.now()) < timeLimit * 0.9)

  const giveBack = () => {
    pace.answer(performance.now())
    shared.nearest = Math.min(shared.nearest, pace.nearest())
    isSilent = false
    first = undefined
    if (isRetired && pace.load() === 0) void end()
    onRoom()
  }

  /** Ends the running statement where it is late, or nobody waits for it; on each connection only the first is running. */
  const look = (now: number) => {
    const [running] = entries
    const silence = pace.silence(now)
    // Only what was there at the last look: a busy process may have sent the rest a moment ago.
    if (running !== looked) {
      looked = running
      lookedAt = now
      return
    }
    // Silence counts from its call, which may have been long before the connection was there.
    const most = Math.min(silence, now - lookedAt + SILENT)
    if (running === undefined || most < Math.min(LONGEST_SILENCE, SILENT + 2 * shared.nearest)) return
    isSilent = true
    // An unreachable server cannot end the statement, so the connection is cut off.
    if (running.ended !== undefined && now - running.ended.at > GIVEN_UP) cutOff(client)
    if (running.ended !== undefined || silence < POLL_INTERVAL) return
    // A write may wait for a row that somebody holds for long.
    running.look ??= looksAt(running.pending.context.term, (fault) => {
      if (entries[0] === running && running.ended === undefined) endRunning(running, fault)
    })
    running.look()
    // The server counts from the turn of a statement.
    const hasWaited = now - silence - running.pending.calledAt > POLL_INTERVAL
    const margin = shared.options.timeLimit && !hasWaited ? MARGIN : 0
    const fault = running.isLeft ? left() : reasonToEnd(running.pending, { timeLimit, now, margin })
    if (fault !== undefined) endRunning(running, fault)
  }

  const endRunning = (running: Entry, fault: SqlFault) => {
    running.ended = { fault, at: performance.now() }
    wasEnded = true
    void cancelRunning(shared.options, client)
  }

  /** The reads behind a silent statement are asked once more, elsewhere, as far as there is room and time. */
  const overtake = (now: number, hasRoom: (pending: PendingStatement) => boolean) => {
    if (!isSilent) return
    for (const entry of entries.slice(1)) {
      const { pending } = entry
      if (!pending.isRead || entry.isLeft) continue
      const fault = reasonToEnd(pending, { timeLimit, now })
      if (fault === undefined && !hasRoom(pending)) continue
      entry.isLeft = true
      if (fault === undefined) askAgain(pending)
      else pending.reject(fault)
    }
  }

  return {
    load: pace.load,
    isFull: pace.isFull,
    ask,
    look,
    overtake,
    end,

    /** Whether it may be sent here now. Reads may follow whatever is not silent, since they are asked elsewhere if it takes long. */
    accepts(pending: PendingStatement): boolean {
      if (isSilent || pending.isRead || pace.load() === 0) return !isSilent
      return !isFirst(pending) && writes !== undefined && writes.share === pending.context.share
    },

    /** What keeps others from it: one that has to be first as soon as it is sent, if `isOfFirst`, everything else once it is silent. */
    holder: (isOfFirst: boolean): PendingStatement | undefined =>
      (isOfFirst ? first : undefined) ?? (isSilent ? entries[0]?.pending : undefined),

    /** Closes the client once it has nothing to answer. */
    retire(): void {
      isRetired = true
      if (pace.load() === 0) void end()
    },
  }
}

/** Whether it is sent only where nothing else runs. */
export function isFirst({ context: { term, mayFollow } }: PendingStatement): boolean {
  return term !== undefined && mayFollow !== true
}

/** The limit of a statement counts from its call, so that one that waited has less of it left. */
export function reasonToEnd(
  { context, calledAt }: PendingStatement,
  { timeLimit, now, margin = 0 }: { readonly timeLimit: number; readonly now: number; readonly margin?: number },
): SqlFault | undefined {
  const limit = limitOf(context, timeLimit)
  return abortReason(context, { elapsed: now - calledAt, timeLimit: limit && limit + margin })
}

type Entry = {
  readonly pending: PendingStatement
  /** The options when it was asked. */
  readonly limited: PostgresOptions
  /** Why it was ended. */
  ended: { readonly fault: SqlFault; readonly at: number } | undefined
  /** Whether its caller waits for another answer, or for none. */
  isLeft: boolean
  /** Looks whether its plan may be used still; there once it has taken long. */
  look: (() => void) | undefined
}

/** Extra milliseconds for the server to apply its own limit; milliseconds to wait for a cancelled statement. */
const MARGIN = 2_000
const GIVEN_UP = 10_000

/**
 * Milliseconds without an answer, beyond twice the way to the server, after which nobody waits behind a statement any more;
 * and in any case, also where no answer has shown the way yet.
 */
export const SILENT = 50
const LONGEST_SILENCE = 250

const left = () => new SqlFault('it was answered elsewhere', { state: CANCELED })
