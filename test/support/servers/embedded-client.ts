/** What tests do with an embedded database beside running it: ask it directly, and look at the process of its engine. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { EmbeddedPostgres } from '../../../src/platform/node/embedded/postgres.ts'

export async function connectEmbedded({ connect }: EmbeddedPostgres): Promise<pg.Client> {
  const client = new pg.Client({ stream: connect, ssl: false })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Runs one statement on a connection of its own and returns its rows. */
export async function askEmbedded(embedded: EmbeddedPostgres, text: string): Promise<unknown[]> {
  const client = await connectEmbedded(embedded)
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** The id of the process of the engine that may write to this directory, or was the last one to; undefined without one. */
export async function engineOf(directory: string): Promise<number | undefined> {
  const lock = await readFile(join(directory, 'process.lock'), 'utf8').catch(() => '{}')
  return JSON.parse(lock).writer?.pid
}

/** Milliseconds that a process has computed; undefined when it has ended. */
export async function computedBy(pid: number): Promise<number | undefined> {
  const stat = await statOf(pid)
  return stat === undefined || stat.state === 'Z' ? undefined : (Number(stat.fields[10]) + Number(stat.fields[11])) * 10
}

/** Stops a process; from then on none of its threads runs, whatever it is told. */
export async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  while ((await statOf(pid))?.state !== 'T') await wait(5)
}

async function statOf(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return stat === '' ? undefined : { state, fields }
}

/** Bytes of memory that a process has. */
export async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}
