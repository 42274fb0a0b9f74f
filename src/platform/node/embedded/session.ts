/**
 * One connection to the embedded engine: the server side of the Postgres protocol over an in-process stream. It takes
 * the engine's turn with its first message and gives it back when the server is idle outside a transaction. If the
 * stream closes or is silent for too long, its statement is ended and its transaction rolled back.
 * All connections share one server session: SET, LISTEN, temporary tables and session advisory locks are shared, so
 * they must not be used, and named prepared statements, which would outlive a turn, are refused.
 */
import { Duplex } from 'node:stream'

export type Engine = {
  /** Waits for the engine; it is exclusive until `done`. */
  readonly lock: () => Promise<EngineLock>
}

export type EngineLock = {
  /** Resolves when the engine can run statements; it may have to restart first. */
  readonly ready: () => Promise<void>
  readonly run: (messages: Uint8Array) => Promise<Buffer>
  /** Ends the running statement, which then rejects. */
  readonly end: () => void
  readonly done: () => void
}

export type SessionDeps = {
  readonly engine: Engine
  /** Maximum milliseconds that a connection may be silent during its turn. */
  readonly idleInTransaction: number
}

export function openSession(deps: SessionDeps): Duplex {
  const { engine, idleInTransaction } = deps
  let inbox: Buffer = Buffer.alloc(0)
  let started = false
  let batch: Buffer[] = []
  let refusal: Buffer | undefined
  let prepared = false
  let turn: EngineLock | undefined
  /** Undefined while no statement runs. */
  let startedAt: number | undefined
  let idleTimer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()

  const receive = async (chunk: Buffer): Promise<void> => {
    inbox = inbox.length === 0 ? chunk : Buffer.concat([inbox, chunk])
    for (;;) {
      const header = started ? 1 : 0
      if (stream.destroyed || inbox.length < header + 4) return
      const length = header + inbox.readUInt32BE(header)
      if (inbox.length < length) return
      const message = inbox.subarray(0, length)
      inbox = inbox.subarray(length)
      await (started ? take(message) : start(message))
    }
  }

  const start = (message: Buffer): void => {
    const request = message.readUInt32BE(4)
    if (request === sslRequest || request === gssRequest) stream.push('N')
    else if (request === cancelRequest) stream.destroy()
    else {
      started = true
      stream.push(greeting)
    }
  }

  const take = async (message: Buffer): Promise<void> => {
    const type = String.fromCharCode(message[0] ?? 0)
    if (type === 'X') return endStream()
    if (type === 'P' && message[5] !== 0) refusal = refuse('0A000', 'named statements are not supported here')
    if (type === 'P') prepared = true
    // The unnamed statement of an earlier turn may be another connection's by now.
    if (type === 'B' && !prepared) refusal = refuse('26000', 'the prepared statement has ended with its transaction')
    batch.push(message)
    if (!boundaries.includes(type)) return
    // After a refusal everything up to the Sync is skipped, as after any error of the extended protocol.
    if (refusal !== undefined && type !== 'S' && type !== 'Q') return
    await execute(refusal ?? Buffer.concat(batch))
  }

  const execute = async (messages: Buffer): Promise<void> => {
    batch = []
    refusal = undefined
    clearTimeout(idleTimer)
    turn ??= await engine.lock()
    if (stream.destroyed) return
    try {
      await turn.ready()
      startedAt = performance.now()
      const answer = await turn.run(messages).finally(() => {
        startedAt = undefined
      })
      stream.push(answer)
      if (transactionStatus(answer) === 'I') release()
      else idleTimer = setTimeout(expire, idleInTransaction)
    } catch (error) {
      release()
      stream.push(fatal('58000', error instanceof Error ? error.message : 'the embedded database failed'))
      endStream()
    }
  }

  const release = () => {
    turn?.done()
    turn = undefined
    prepared = false
  }

  const expire = () => {
    stream.push(fatal('25P03', 'the transaction was idle for too long'))
    endStream()
    setImmediate(() => stream.destroy())
  }

  const endStream = () => {
    if (!stream.readableEnded && !ended) stream.push(null)
    ended = true
  }
  let ended = false

  const abandon = async (): Promise<void> => {
    clearTimeout(idleTimer)
    if (turn === undefined) return
    await turn.run(Buffer.concat([sync, simpleQuery('rollback'), simpleQuery('discard all')])).catch(() => {})
    release()
  }

  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, callback) {
      working = receive(chunk).then(() => callback(), callback)
    },
    writev(chunks, callback) {
      working = receive(Buffer.concat(chunks.map(({ chunk }) => chunk))).then(() => callback(), callback)
    },
    final(callback) {
      endStream()
      callback()
    },
    destroy(error, callback) {
      // No client waits for the statement any more, but others wait for the engine.
      if (startedAt !== undefined) turn?.end()
      working.then(abandon).then(() => callback(error), callback)
    },
  })
  return Object.assign(asSocket(stream), {
    elapsed: () => (startedAt === undefined ? 0 : performance.now() - startedAt),
  })
}

/** Builds a Query message. */
export function simpleQuery(text: string): Buffer {
  return message('Q', Buffer.from(`${text}\0`))
}

const sslRequest = 80877103
const gssRequest = 80877104
const cancelRequest = 80877102

/** Query, Sync, Flush and function call: the messages after which a client waits. */
const boundaries = 'QSHF'
const sync = message('S', Buffer.alloc(0))

const parameters = {
  server_version: '18.0',
  server_encoding: 'UTF8',
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  integer_datetimes: 'on',
  standard_conforming_strings: 'on',
}

/** No password: only this process can reach the stream. */
const greeting = Buffer.concat([
  message('R', Buffer.alloc(4)),
  ...Object.entries(parameters).map(([name, value]) => message('S', Buffer.from(`${name}\0${value}\0`))),
  message('K', Buffer.alloc(8)),
  message('Z', Buffer.from('I')),
])

/** Raised by the engine itself, so that an open transaction fails too. */
function refuse(code: string, text: string): Buffer {
  return simpleQuery(`do $$ begin raise exception using errcode = '${code}', message = '${text}'; end $$`)
}

function fatal(code: string, text: string): Buffer {
  return message('E', Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`))
}

function message(type: string, body: Buffer): Buffer {
  const header = Buffer.alloc(5)
  header.write(type)
  header.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([header, body])
}

/** Reads the status from the final ReadyForQuery; undefined after a Flush, which has none. */
function transactionStatus(answer: Buffer): string | undefined {
  const ready = answer.subarray(-6)
  return ready.length === 6 && ready.toString('latin1', 0, 5) === 'Z\0\0\0\x05'
    ? ready.toString('latin1', 5)
    : undefined
}

/** Adds the socket methods that `pg` calls. */
function asSocket(stream: Duplex): Duplex {
  const same = () => stream
  const connect = () => {
    process.nextTick(() => stream.emit('connect'))
    return stream
  }
  return Object.assign(stream, { connect, setNoDelay: same, setKeepAlive: same, ref: same, unref: same })
}
