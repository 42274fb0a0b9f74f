/**
 * Ends a connection of mysql2 where what the server sends makes it throw, or is more than an answer may have: that
 * happens in an event of the socket, so that it would end the process. A server from outside sends what it likes.
 */
import type { Duplex } from 'node:stream'
import { Connection } from 'mysql2'
import { TOO_LARGE } from '../../../core/sql/fault.ts'
import { MAX_RECEIVED, type Received, ROW_WEIGHT, tooLarge } from '../answer-bound.ts'

/** Missing in the types of `mysql2`. */
type Internals = {
  readonly stream: Duplex
  readonly _closing?: boolean
  readonly sequenceId: number
  protocolError: (message: string, code?: string) => void
  on(event: 'error', listener: () => void): void
}

type PacketParser = {
  readonly _reusablePacket: Packet
  execute(chunk: Buffer): void
  onPacket(packet: { readonly sequenceId: number }): void
}

type Packet = { readonly offset: number; readonly end: number } & {
  [name in (typeof NUMBERS)[number]]: (length: number, isBig: boolean) => unknown
}

/** What reads the digits of a number, for as long as the server says that it is. */
const NUMBERS = ['parseInt', 'parseIntNoBigCheck', 'parseFloat'] as const

/**
 * Packets of one connection whose number is not the next one. `mysql2` writes a line to stderr for each and reads on; servers and proxies do so
 * where they end an idle connection.
 */
const MOST_OUT_OF_ORDER = 8

const bounded = new WeakSet<Packet>()

function boundNumbers(packets: Packet): void {
  if (bounded.has(packets)) return
  bounded.add(packets)
  for (const name of NUMBERS) {
    const parse = packets[name]
    packets[name] = function (this: Packet, length, isBig) {
      if (this.offset + length > this.end) throw new Error('a number that is longer than its packet')
      return parse.call(this, length, isBig)
    }
  }
}

const receiving = new WeakMap<object, Received>()

/** What a connection of `mysql2` has received since `asOneAnswer` was last called. */
export function receivedBy(connection: object): Received {
  const known = receiving.get(connection) ?? { bytes: 0, isOne: false }
  receiving.set(connection, known)
  return known
}

function guarded(connection: Internals, parser: PacketParser): Pick<PacketParser, 'execute'> {
  const received = receivedBy(connection)
  boundNumbers(Object.getPrototypeOf(parser._reusablePacket))
  const { onPacket } = parser
  const count = (bytes: number) => {
    received.bytes += bytes
    // Promises of mysql2 reject with a copy, which keeps these members.
    if (received.bytes > MAX_RECEIVED) throw Object.assign(tooLarge(), { sqlState: TOO_LARGE, errno: 0 })
  }
  let outOfOrder = 0
  parser.onPacket = (packet) => {
    count(ROW_WEIGHT)
    if (packet.sequenceId !== connection.sequenceId) outOfOrder += 1
    if (outOfOrder > MOST_OUT_OF_ORDER) throw new Error('packets that are out of order')
    onPacket(packet)
  }
  return {
    execute(chunk) {
      try {
        count(chunk.length)
        parser.execute(chunk)
      } catch (error) {
        connection.stream.destroy(error as Error)
      }
    },
  }
}

// Neither pools nor TLS let anybody else come between: the parser is the one thing that all connections set, and read again
// with each chunk.
Object.defineProperty(Connection.prototype, 'packetParser', {
  configurable: true,
  set(this: Internals, parser: PacketParser) {
    // Statements reject when the connection breaks; without a listener the event would end the process.
    this.on('error', () => {})
    // It would tell the connection and forget the statement, which nobody would hear of again.
    this.protocolError = (message, code) => {
      if (!this._closing) throw Object.assign(new Error(message), code !== undefined && { code })
    }
    Object.defineProperty(this, 'packetParser', { value: guarded(this, parser), writable: true })
  },
})
