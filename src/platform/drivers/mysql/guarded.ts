/**
 * Ends a connection of mysql2 where what the server sends makes it throw, or is more than one answer may have: that
 * happens in an event of the socket, so that it would end the process. A server from outside sends what it likes.
 */
import type { Duplex } from 'node:stream'
import { Connection } from 'mysql2'
import { MAX_RECEIVED, ROW_WEIGHT, tooLarge } from '../answer-bound.ts'

/** Missing in the types of `mysql2`. */
type Internals = { readonly stream: Duplex; readonly _command: unknown }

type PacketParser = { execute(chunk: Buffer): void; onPacket(packet: unknown): void }

function guarded(connection: Internals, parser: PacketParser): Pick<PacketParser, 'execute'> {
  let answered: unknown
  let received = 0
  const { onPacket } = parser
  const count = (bytes: number) => {
    if (connection._command !== answered) {
      answered = connection._command
      received = 0
    }
    received += bytes
    if (received > MAX_RECEIVED) throw tooLarge()
  }
  parser.onPacket = (packet) => {
    count(ROW_WEIGHT)
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
    Object.defineProperty(this, 'packetParser', { value: guarded(this, parser), writable: true })
  },
})
