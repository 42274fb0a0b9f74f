/** ConnectorHost on Node: the shared laws against real Deno processes, and what only a process can do wrong. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OnLogLine } from '../../src/platform/connectors/connector-log.ts'
import {
  createNodeConnectorHost,
  type NodeConnectorHost,
  type NodeConnectorHostDeps,
} from '../../src/platform/node/connectors/host.ts'
import type { ConnectorLine, ConnectorProgram, ConnectorReply } from '../../src/ports/connectors.ts'
import { createConnectorSessions } from '../../src/sources/connector/sessions.ts'
import { type RunningUpstream, startUpstream } from '../support/servers/upstream.ts'
import { describeConnectorHost } from './connector-host.ts'

const limits: NodeConnectorHostDeps = {
  timeLimit: 30_000,
  busyLimit: 10_000,
  idleLimit: 60_000,
  memoryLimit: 64,
  allowPrivate: true,
}
const hosts: NodeConnectorHost[] = []
let upstream: RunningUpstream

beforeAll(async () => {
  upstream = await startUpstream()
})

afterAll(async () => {
  await Promise.all(hosts.map((host) => host.close()))
  await upstream.close()
})

describeConnectorHost('Deno processes', (wished) => {
  const printed: ConnectorLine[] = []
  return { host: hostWith(wished, (line) => printed.push(line)), upstream, printed }
})

describe('connector host on Node: runaways', () => {
  it('ends an endless loop, and nothing but it', async () => {
    const looping = hostWith({ busyLimit: 5_000 }).open(program)
    const other = hostWith({}).open(program)
    await Promise.all([looping.call('setup'), other.call('setup')])

    const runaway = looping.call('query', { act: 'loop' })
    const meanwhile = await other.call('query', { act: 'answer' })

    expect(meanwhile).toEqual({ kind: 'value', value: 'answer' })
    expect(await runaway).toEqual({ kind: 'ended', reason: 'time' })
    expect(await looping.call('query', { act: 'answer' })).toEqual({ kind: 'value', value: 'answer' })
  })

  it.each(['heap', 'buffers', 'huge'])('bounds memory: %s', async (act) => {
    const session = hostWith({}).open(program)

    const reply = await session.call('query', { act })

    expect([{ kind: 'ended', reason: 'memory' }, REFUSED_BUFFER]).toContainEqual(reply)
    expect(await session.call('query', { act: 'answer' })).toEqual({ kind: 'value', value: 'answer' })
  })

  it('has no second thread to offer', async () => {
    const session = hostWith({}).open(program)

    const replies = [await session.call('query', { act: 'worker' }), await session.call('query', { act: 'thread' })]

    expect(replies.map(({ kind }) => kind)).not.toContain('value')
  })

  it('survives a connector that ends its process, and one that floods its output', async () => {
    const session = hostWith({}).open(program)

    expect(await session.call('query', { act: 'exit' })).toEqual({ kind: 'ended', reason: 'crash' })
    expect(await session.call('query', { act: 'flood' })).toEqual({ kind: 'ended', reason: 'memory' })
    expect(await session.call('query', { act: 'answer' })).toEqual({ kind: 'value', value: 'answer' })
  })

  it('fails no read of another account, and from then on nothing of another one', async () => {
    const host = hostWith({})
    let now = Date.now()
    const sessions = createConnectorSessions({
      shared: host.open(program),
      open: () => host.open(program),
      clock: { now: () => now, elapsed: () => now },
    })
    const call = (act: string, account: string, isRead: boolean) => sessions.call('query', { act }, { account, isRead })
    const all = () =>
      Promise.all([call('late', 'reader', true), call('late', 'writer', false), call('exit', 'runaway', true)])
    const [late, ended] = [
      { kind: 'value', value: 'late' },
      { kind: 'ended', reason: 'crash' },
    ]
    await call('answer', 'reader', true)
    const [[shared], before] = [await pids(call, ['reader', 'runaway']), await all()]
    const [apart, after] = [await pids(call, ['reader', 'reader', 'writer']), await all()]
    now += 600_000
    const [again] = await pids(call, ['reader'])

    expect(before).toEqual([late, ended, ended])
    expect(after).toEqual([late, late, ended])
    expect(apart[0]).toBe(apart[1])
    expect(new Set([shared, ...apart, again]).size).toBe(4)
    await sessions.close()
  })

  it('takes nothing that a connector prints for an answer', async () => {
    const session = hostWith({}).open(program)

    expect(await session.call('query', { act: 'forge' })).toEqual({ kind: 'value', value: 'real' })
    expect(await session.call('query', { act: 'tamper' })).toEqual({ kind: 'value', value: [] })
  })

  it('survives rejections and errors that nobody waits for', async () => {
    const session = hostWith({}).open(program)

    expect(await session.call('query', { act: 'float' })).toEqual({ kind: 'value', value: 'floated' })
    expect(await session.call('query', { act: 'answer' })).toEqual({ kind: 'value', value: 'answer' })
  })
})

describe('connector host on Node: how many processes', () => {
  const withPlaces = (total: number, perOwner: number, waitLimit = 60_000) => {
    const host = createNodeConnectorHost({ ...limits, slotLimits: { total, perOwner, waitLimit, queueLimit: 2 } })
    hosts.push(host)
    return (workspace: string) => host.open({ ...program, workspace })
  }

  it('ends an idle one of another workspace, which starts again when it is called', async () => {
    const open = withPlaces(1, 1)
    const [mine, theirs] = [open('mine'), open('theirs')]
    const [first = 0] = await mine.call('query', { act: 'pid' }).then(numbers)

    expect(await theirs.call('query', { act: 'answer' })).toEqual({ kind: 'value', value: 'answer' })
    await until(() => stateOf(first) === undefined)
    expect(await mine.call('query', { act: 'answer' })).toEqual({ kind: 'value', value: 'answer' })
  })

  it('lets calls of many sessions wait for their turn', async () => {
    const open = withPlaces(2, 1)
    const sessions = ['a', 'b', 'c', 'a', 'b', 'c'].map(open)

    const replies = await Promise.all(sessions.map((session) => session.call('query', { act: 'answer' })))

    expect(replies).toEqual(Array(6).fill({ kind: 'value', value: 'answer' }))
  })

  it('refuses who finds the line full, and harms nobody by it', async () => {
    const open = withPlaces(1, 1)
    const busy = open('mine')
    const running = busy.call('query', { act: 'wait' })
    const waiting = [open('mine'), open('mine')].map((session) => session.call('query', { act: 'answer' }))

    await expect(open('mine').call('query', { act: 'answer' })).rejects.toMatchObject({ kind: 'unavailable' })
    await busy.close()

    expect(await running).toEqual({ kind: 'ended', reason: 'crash' })
    expect(await Promise.all(waiting)).toEqual(Array(2).fill({ kind: 'value', value: 'answer' }))
  })
})

describe('connector host on Node: its processes', () => {
  it('lets nothing run between calls, and ends a process that is not called any more', async () => {
    const session = hostWith({ idleLimit: 200 }).open(program)
    await session.call('query', { act: 'spin' })
    const [pid = 0] = await session.call('query', { act: 'pid' }).then(numbers)

    await until(() => stateOf(pid) === 'T' || stateOf(pid) === undefined)
    await until(() => stateOf(pid) === undefined)

    expect(await session.call('query', { act: 'answer' })).toEqual({ kind: 'value', value: 'answer' })
  })

  it('wakes a stopped process for the next call', async () => {
    const session = hostWith({}).open(program)
    const [pid = 0] = await session.call('query', { act: 'pid' }).then(numbers)
    await until(() => stateOf(pid) === 'T')

    expect(await session.call('query', { act: 'pid' })).toEqual({ kind: 'value', value: [pid] })
  })

  it('leaves no process behind when it is closed', async () => {
    const host = hostWith({})
    const pids = await Promise.all(
      [host.open(program), host.open(program)].map((one) => one.call('query', { act: 'pid' })),
    )

    await host.close()

    expect(pids.flatMap(numbers).map(stateOf)).toEqual([undefined, undefined])
  })

  it('leaves no process behind when ours is killed', async () => {
    const holder = spawn(process.execPath, [join(import.meta.dirname, 'connector-host.holder.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(holder.stdout, 'data')
    const pid = Number(line)
    const session = sessionOf(pid)

    holder.kill('SIGKILL')

    await until(() => membersOf(session).length === 0)
  })

  it('answers calls in flight and serves the next ones when the process is killed from outside', async () => {
    const session = hostWith({}).open(program)
    const [pid = 0] = await session.call('query', { act: 'pid' }).then(numbers)
    const waiting = session.call('query', { act: 'wait' })

    process.kill(pid, 'SIGKILL')

    expect(await waiting).toEqual({ kind: 'ended', reason: 'crash' })
    expect(await session.call('query', { act: 'answer' })).toEqual({ kind: 'value', value: 'answer' })
  })
})

const REFUSED_BUFFER = { kind: 'error', message: 'Array buffer allocation failed', code: null, denied: false }

const program: ConnectorProgram = {
  id: 'acting',
  code: readFileSync(join(import.meta.dirname, 'connector-host.acting.js'), 'utf8'),
  grant: [],
  config: null,
}

function numbers(reply: ConnectorReply): readonly number[] {
  return reply.kind === 'value' && Array.isArray(reply.value) ? reply.value : []
}

/** R, S, T (stopped) …; undefined for a process that is gone, or dead and not yet reaped. */
function stateOf(pid: number): string | undefined {
  const state = statusOf(pid).match(/^State:\s+(\S)/m)?.[1]
  return state === 'Z' ? undefined : state
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

function sessionOf(pid: number): number {
  const [, , , session] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return Number(session)
}

/** Every connector process and its launcher have a session of their own. */
function membersOf(session: number): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && stateOf(pid) !== undefined && sessionOf(pid) === session)
}

async function until(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo).toBe(true)
}

/** The processes that answer these accounts. */
async function pids(
  call: (act: string, account: string, isRead: boolean) => Promise<ConnectorReply>,
  accounts: readonly string[],
): Promise<readonly string[]> {
  const replies = await Promise.all(accounts.map((account) => call('pid', account, true)))
  return replies.map((reply) => JSON.stringify(reply))
}

function hostWith(wished: Partial<NodeConnectorHostDeps>, onPrint?: OnLogLine): NodeConnectorHost {
  const host = createNodeConnectorHost({ ...limits, ...wished, ...(onPrint && { onPrint }) })
  hosts.push(host)
  return host
}
