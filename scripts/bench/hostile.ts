/**
 * The largest and deepest requests that a client may send: the longest wait of /ping during one of them, and their
 * memory, on both platforms. Each is sent three times, to exclude other load on the machine.
 */
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { allHostile, type HostileRequest } from '../../test/support/data/hostile-requests.ts'
import { operationsOf } from '../../test/support/data/model-sketch.ts'
import type { Measured } from './figures.ts'
import type { Lab } from './lab.ts'
import { makeWorkspace } from './model.ts'
import type { Memory, OurQuestion } from './our-node.ts'

const WORKSPACE = 'hostile'
const ROUNDS = 3

type Target = { readonly port: number; readonly token: string; readonly sourceId: string; readonly agent: Agent }
type Worst = { readonly name: string; readonly value: number }

export async function measureHostile(lab: Lab, progress: (text: string) => void): Promise<readonly Measured[]> {
  const { api, token } = await lab.data()
  const { sourceId } = await makeWorkspace(api, WORKSPACE)
  const collections = {
    authors: { id: 'int64 = counted', name: 'string', detail: 'json?' },
    posts: { id: 'int64 = counted', title: 'string', authorId: 'int64?' },
  }
  const relations = ['posts.author(authorId) -> authors.posts']
  const operations = operationsOf({ collections, keys: {}, relations }, sourceId)
  await api('POST', `/api/${WORKSPACE}/schema/migrate`, { operations })
  await api('POST', `/api/${WORKSPACE}/items/authors`, [{ name: 'Ada' }])

  const { child, port } = await lab.ourNode()
  const ask = () => child.ask<Memory>({ kind: 'memory' } satisfies OurQuestion)
  const target = { token, sourceId, agent: new Agent({ keepAlive: true }) }
  await ping({ ...target, port })
  const memory = await mostMemory({ ...target, port }, ask)
  const onNode = await longestWait({ ...target, port }, (name) => progress(`Node: ${name}`))
  await child.close()
  const { ours, pid } = await lab.workerd()
  await ping({ ...target, port: ours })
  const memoryOfWorkerd = await mostMemory({ ...target, port: ours }, () => memoryOf(pid))
  const onWorkerd = await longestWait({ ...target, port: ours }, (name) => progress(`workerd: ${name}`))
  target.agent.destroy()
  const figure = (what: string, bound: number, value: number, unit: 'ms' | 'MB', detail: string): Measured => ({
    what,
    bound: { kind: 'atMost', value: bound },
    value,
    unit,
    detail,
  })
  return [
    figure('Hostile requests: longest wait of /ping, Node', 250, onNode.value, 'ms', onNode.name),
    figure('Hostile requests: longest wait of /ping, workerd', 250, onWorkerd.value, 'ms', onWorkerd.name),
    figure('Hostile requests: most memory of one, Node', 256, memory.value, 'MB', memory.name),
    figure('Hostile requests: most memory of one, workerd', 256, memoryOfWorkerd.value, 'MB', memoryOfWorkerd.name),
  ]
}

async function longestWait(target: Target, progress: (name: string) => void): Promise<Worst> {
  let longest: Worst = { name: '', value: 0 }
  for (const one of allHostile()) {
    progress(one.name)
    const rounds: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await waitBeside(target, one))
    const value = Math.min(...rounds)
    if (value > longest.value) longest = { name: one.name, value }
  }
  return longest
}

/** Returns the largest growth of the process; a request without a new peak took less than an earlier one. */
async function mostMemory(target: Target, ask: () => Promise<Memory>): Promise<Worst> {
  let most: Worst = { name: 'none brings a new peak', value: 0 }
  for (const one of allHostile()) {
    const before = await ask()
    await send(target, addressed(target, one))
    const { peak } = await ask()
    const value = (peak - before.resident) / 1e6
    if (peak > before.peak && value > most.value) most = { name: one.name, value }
  }
  return most
}

/** Reads the memory of another process from Linux. */
async function memoryOf(pid: number | undefined): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
  return { resident: bytes('VmRSS'), peak: bytes('VmHWM') }
}

function addressed({ sourceId }: Target, one: HostileRequest): HostileRequest {
  const path = one.path.startsWith('/api/') ? one.path : `/api/${WORKSPACE}${one.path}`
  const body = one.body?.replaceAll('SOURCE', sourceId)
  return { ...one, path, ...(body !== undefined && { body }) }
}

/** Returns the longest wait of a ping during one request. */
async function waitBeside(target: Target, one: HostileRequest): Promise<number> {
  let isAnswered = false
  let longest = 0
  const pinging = async () => {
    while (!isAnswered) {
      const start = performance.now()
      await ping(target)
      longest = Math.max(longest, performance.now() - start)
      await wait(2)
    }
  }
  const asking = pinging()
  await wait(10)
  try {
    await send(target, addressed(target, one))
  } finally {
    isAnswered = true
    await asking
  }
  return longest
}

function ping(target: Target): Promise<void> {
  return send(target, { name: 'ping', method: 'GET', path: '/ping' })
}

function send({ port, token, agent }: Target, { name, method, path, body }: HostileRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      Accept: 'application/json, text/event-stream',
      ...(body !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
      }),
    }
    const outgoing = request({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
      // A request beyond its time limit is answered 503.
      const isFault = (response.statusCode ?? 0) >= 500 && response.statusCode !== 503
      response.resume()
      response.on('end', () => (isFault ? reject(new Error(`${name} answers ${response.statusCode}`)) : resolve()))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
