/**
 * A port of loopback for programs that have to be told theirs. It lies below those that systems give to whoever asks for
 * any, so that nobody gets it before the program listens, nor while the program is away and clients try to reach it:
 * a client that was given the port of its own destination would be connected to itself.
 */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

const FIRST = 10_000
const END = 32_768

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
