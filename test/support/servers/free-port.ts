/**
 * A port of loopback for programs that have to be told theirs. It lies below those that systems give to whoever asks for
 * any, so that nobody gets it before the program listens, nor while the program is away and clients try to reach it:
 * a client that was given the port of its own destination would be connected to itself.
 */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { RUN_DIRECTORY } from '../run/run-directory.ts'

const FIRST = 10_000
const END = 32_768

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END)
    if ((await isFree(port)) && (await isDrawnFirst(port))) return port
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

/** In a run no port is given twice: whose it is may not listen yet, or be away. */
async function isDrawnFirst(port: number): Promise<boolean> {
  const directory = process.env[RUN_DIRECTORY]
  if (directory === undefined) return true
  try {
    await mkdir(join(directory, `port-${port}`))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}
