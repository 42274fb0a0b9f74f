/**
 * A way to a Postgres that stops in the middle of a write: it passes messages of the protocol one by one, and of the
 * next transaction, or statement that writes into a ledger alone, so many as a test says. What comes behind them reaches nobody, nor do the answers to them.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type CuttingProxy = {
  /** The address of the database by this way. */
  readonly url: string
  /** Cuts the next write, or what says `text`, after so many messages, `begin` aside; resolves when it has come to that. */
  cutAfter(messages: number, text?: string): Promise<void>
  /** Lets every transaction pass again. */
  calm(): void
  close(): Promise<void>
}

type Cut = { left: number; readonly text: string | undefined; readonly reached: () => void; owner: Socket | undefined }

export async function startCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let cut: Cut | undefined

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.setNoDelay(true)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    let isStarted = false
    let rest = Buffer.alloc(0)
    const isCut = () => cut?.owner === client && cut.left < 0
    upstream.on('data', (chunk: Buffer) => {
      if (!isCut()) client.write(chunk)
    })
    client.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        const typed = isStarted ? 1 : 0
        if (rest.length < 4 + typed) return
        const size = rest.readUInt32BE(typed) + typed
        if (rest.length < size) return
        const message = rest.subarray(0, size)
        rest = rest.subarray(size)
        isStarted = true
        pass(client, upstream, message)
      }
    })
  })

  function pass(client: Socket, upstream: Socket, message: Buffer): void {
    if (cut !== undefined && cut.owner === undefined) {
      const text = message.toString('latin1')
      if (/^Q.{4}begin\b/s.test(text)) {
        cut.owner = client
        upstream.write(message)
        return
      }
      if (/^P.*"ledger"/s.test(text) || (cut.text !== undefined && text.includes(cut.text))) cut.owner = client
    }
    if (cut?.owner !== client) {
      upstream.write(message)
      return
    }
    if (cut.left < 0) return
    cut.left -= 1
    if (cut.left >= 0) upstream.write(message)
    else cut.reached()
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.toString(),
    cutAfter(messages, text) {
      const { promise, resolve } = Promise.withResolvers<void>()
      cut = { left: messages, text, reached: resolve, owner: undefined }
      return promise
    },
    calm() {
      cut = undefined
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
