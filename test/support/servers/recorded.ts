/** Conversations with a real server, said again by one that changes what it says at random. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { startHostile } from './hostile-server.ts'

/** What a server said, each time after it had heard so many bytes. */
export type Conversation = readonly { readonly after: number; readonly bytes: Buffer }[]

/** Returns what the server at `port` says on each connection that `work` makes to the port it gets. */
export async function record(port: number, work: (port: number) => Promise<unknown>): Promise<readonly Conversation[]> {
  const conversations: { after: number; bytes: Buffer }[][] = []
  const server = createServer((client) => {
    const turns: { after: number; bytes: Buffer }[] = []
    conversations.push(turns)
    let received = 0
    const upstream = connect(port, '127.0.0.1')
    client.on('data', (chunk) => {
      received += chunk.length
      upstream.write(chunk)
    })
    upstream.on('data', (bytes) => {
      turns.push({ after: received, bytes })
      client.write(bytes)
    })
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  await work((server.address() as AddressInfo).port)
  server.close()
  return conversations.filter((turns) => turns.length > 0)
}

/** Says all turns before the one that is changed in their time; then it and the others at once, and nothing more. */
export type Changed = { readonly turn: number; readonly bytes: Buffer }

export type Replay = {
  readonly port: number
  /** What is said from now on; connections beyond those recorded have the last. */
  say(conversations: readonly Conversation[], changed: Changed): void
  readonly close: () => Promise<void>
}

export async function startReplay(): Promise<Replay> {
  let conversations: readonly Conversation[] = []
  let changed: Changed = { turn: 0, bytes: Buffer.alloc(0) }
  let connections = 0
  const { port, close } = await startHostile((socket) => {
    const turns = conversations[Math.min(connections, conversations.length - 1)] ?? []
    const { turn, bytes } = changed
    const last = Math.min(turn, turns.length - 1)
    connections += 1
    let received = 0
    let next = 0
    const speak = () => {
      for (; next < last && received >= (turns[next]?.after ?? 0); next += 1) socket.write(turns[next]?.bytes ?? '')
      if (next !== last || received < (turns[last]?.after ?? 0)) return
      next += 1
      socket.end(Buffer.concat([bytes, ...turns.slice(last + 1).map((one) => one.bytes)]))
    }
    socket.on('data', (chunk) => {
      received += chunk.length
      speak()
    })
    speak()
  })
  return {
    port,
    close,
    say(all, one) {
      conversations = all
      changed = one
      connections = 0
    },
  }
}
