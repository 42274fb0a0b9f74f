/** Servers on loopback that answer what a test says, also what no honest server would; nothing that they do ends the test. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export type HostileServer = { readonly port: number; readonly close: () => Promise<void> }

export async function startHostile(serve: (socket: Socket) => void): Promise<HostileServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A message of the Postgres protocol, with a length of its own if one is given. */
export function message(type: string, body: Uint8Array | string = '', length = Buffer.byteLength(body) + 4): Buffer {
  const header = Buffer.alloc(5)
  header.write(type)
  header.writeUInt32BE(length, 1)
  return Buffer.concat([header, Buffer.from(body)])
}

const GREETING = [message('R', Buffer.alloc(4)), message('K', Buffer.alloc(8)), message('Z', 'I')]
const DONE = [message('C', 'SELECT 0\0'), message('Z', 'I')]

export type HostilePostgres = {
  /** What it says to whoever comes; by default that nobody needs a password. */
  readonly greeting?: readonly Buffer[]
  /** Called when a statement of the extended protocol, or a part of one, wants its answer, with whether it was parsed anew. */
  readonly answer?: (socket: Socket, isParsed: boolean) => void
}

/** Postgres as far as drivers notice, up to the first answer with rows. */
export function startHostilePostgres({ greeting = GREETING, answer }: HostilePostgres): Promise<HostileServer> {
  return startHostile((socket) => {
    let rest = Buffer.alloc(0)
    let isStarted = false
    let isParsed = false
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        const typed = isStarted ? 1 : 0
        const size = rest.length < 4 + typed ? Number.POSITIVE_INFINITY : rest.readUInt32BE(typed) + typed
        if (rest.length < size) return
        const type = isStarted ? String.fromCharCode(rest[0] ?? 0) : ''
        rest = rest.subarray(size)
        if (!isStarted) socket.write(Buffer.concat(greeting))
        isStarted = true
        if (type === 'Q') socket.write(Buffer.concat(DONE))
        if (type === 'P') isParsed = true
        if (type === 'S' || type === 'H') {
          answer?.(socket, isParsed)
          isParsed = false
        }
      }
    })
  })
}

/** Writes `chunk` again and again for as long as the other side reads; returns how many bytes it has taken. */
export function flood(socket: Socket, chunk: Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', write)
  write()
}
