/** A way to a database that takes time, as every way to another machine does: each byte arrives some milliseconds later. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Distance = { readonly url: string; close(): Promise<void> }

export async function openDistance(databaseUrl: string, milliseconds: number): Promise<Distance> {
  const far = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const there = connect(Number(far.port), far.hostname)
    for (const [from, to] of [
      [near, there],
      [there, near],
    ] as const) {
      sockets.add(from.setNoDelay())
      from.on('data', (chunk) => setTimeout(() => to.write(chunk), milliseconds))
      from.on('close', () => setTimeout(() => to.destroy(), milliseconds))
      from.on('error', () => to.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.toString(),
    async close() {
      for (const socket of sockets) socket.destroy()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}
