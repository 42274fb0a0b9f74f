/**
 * A way to a database that falls silent: nothing comes from it on a connection where a client has said one of some texts.
 * Or it loses answers.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type SilentProxy = {
  readonly port: number
  /** Whoever says one of `texts` hears nothing from then on. */
  silenceAt(...texts: readonly string[]): void
  /** What says `text` ends its connection, and is not heard; until it is told another text, or none. */
  loseAnswer(text?: string): void
  /** Connections that are open and hear nothing. */
  silent(): number
  close(): Promise<void>
}

export async function startSilentProxy(target: { readonly host: string; readonly port: number }): Promise<SilentProxy> {
  const sockets = new Set<Socket>()
  const silent = new Set<Socket>()
  let silencing: readonly string[] = []
  let losing: string | undefined

  const server = createServer((client) => {
    const upstream = connect(target.port, target.host)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        silent.delete(one)
        other.destroy()
      })
    }
    client.on('data', (chunk: Buffer) => {
      if (silencing.some((text) => chunk.includes(text))) silent.add(client)
      if (!silent.has(client)) upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (losing !== undefined && chunk.includes(losing)) client.destroy()
      else if (!silent.has(client)) client.write(chunk)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    silenceAt(...texts) {
      silencing = texts
    },
    loseAnswer(text) {
      losing = text
    },
    silent: () => silent.size,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
