/**
 * The drivers of Workers for databases over TCP, run by workerd, as drivers of this process: each statement or batch is a
 * request to a Worker that opens the part (decision 055).
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareIsolate } from '../../../scripts/bench/isolate.ts'
import { writeWorkerParts } from '../../../scripts/worker-parts.ts'
import { SqlFault, type SqlFaultDetail } from '../../../src/core/sql/fault.ts'
import type { Statement } from '../../../src/core/sql/statement.ts'
import type { TcpAddress } from '../../../src/platform/cloudflare/parts/tcp-address.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../../src/ports/database.ts'

export type WorkerDrivers = {
  open(address: TcpAddress, timeLimit?: number): SqlDriver
  close(): Promise<void>
}

/** TLS connections trust certificates of `authority`. */
export async function startWorkerDrivers(part: 'postgres' | 'mysql', authority?: string): Promise<WorkerDrivers> {
  const directory = await mkdtemp(join(tmpdir(), 'parts-'))
  await writeWorkerParts(directory)
  const text = await readFile(join(directory, `${part}.js`), 'utf8')
  await rm(directory, { recursive: true })
  const compatibility = { date: '2026-10-01', flags: ['nodejs_compat'] }
  const modules = [
    { name: 'worker.js', text: worker },
    { name: 'part.js', text },
  ]
  const prepared = await prepareIsolate({
    bundle: { modules, compatibility },
    ...(authority !== undefined && { authority }),
  })
  const isolate = await prepared.start()
  const ask = async (path: string, body: object): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${isolate.port}/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`the Worker failed with ${response.status}: ${await response.text()}`)
    return (await response.json()) as Answer
  }
  return {
    open: (address, timeLimit = 0) => openRemote(ask, { address, timeLimit }),
    async close() {
      await isolate.close()
      await prepared.remove()
    },
  }
}

type Answer =
  | { readonly answers: readonly (readonly SqlRow[])[] }
  | { readonly fault: SqlFaultDetail & { readonly name: string; readonly message: string; readonly because: string } }

type Ask = (path: string, body: object) => Promise<Answer>

let lastId = 0

function openRemote(ask: Ask, options: { readonly address: TcpAddress; readonly timeLimit: number }): SqlDriver {
  const running = new Set<Promise<unknown>>()

  async function run(kind: 'query' | 'batch', statements: readonly Statement[], context: QueryContext | undefined) {
    const id = lastId++
    const isLeft = context?.isDisconnected
    const watch = setInterval(() => {
      if (isLeft?.()) void ask('leave', { id })
    }, 50)
    const answering = ask('ask', {
      ...options,
      kind,
      statements,
      id,
      context: context && { ...context, isLeft: !!isLeft },
    })
    running.add(answering)
    try {
      const answer = await answering
      if ('answers' in answer) return answer.answers
      const { name, message, because, ...detail } = answer.fault
      const cause = new Error(because)
      throw name === 'SqlFault' ? new SqlFault(message, { ...detail, cause }) : new Error(message, { cause })
    } finally {
      clearInterval(watch)
      running.delete(answering)
    }
  }

  return {
    query: async (statement, context) => (await run('query', [statement], context))[0] ?? [],
    batch: (statements, context) => run('batch', statements, context),
    async close() {
      await Promise.allSettled([...running])
    },
  }
}

const worker = `
import { openPart } from './part.js'
const gone = new Set()
export default {
  async fetch(request) {
    const { address, timeLimit, kind, statements, id, context } = await request.json()
    if (request.url.endsWith('/leave')) {
      gone.add(id)
      return Response.json({ answers: [] })
    }
    const ending = new Set()
    const driver = openPart({ address, timeLimit, request: () => ending })
    const served = context && { isWriting: context.isWriting, ...(context.isLeft && { isDisconnected: () => gone.has(id) }) }
    try {
      const answers = kind === 'batch' ? await driver.batch(statements, served) : [await driver.query(statements[0], served)]
      return Response.json({ answers })
    } catch (error) {
      const { name, message, cause, ...detail } = error
      return Response.json({ fault: { ...detail, name: error.name, message: error.message, because: String(error.cause?.message) } })
    } finally {
      for (const end of ending) end()
    }
  },
}`
