/** The laws of the port Observe: what every receiver takes, and what the logs of both platforms print of it. */
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { observeOnConsole } from '../../src/platform/log-lines.ts'
import { createBufferedLog } from '../../src/platform/node/observing/buffered-log.ts'
import { createMetrics } from '../../src/platform/node/observing/metrics.ts'
import { openTracing } from '../../src/platform/node/observing/tracing.ts'
import type { Observation, Observe } from '../../src/ports/observe.ts'

type Kind = Observation['kind']

const observations: { readonly [K in Kind]: Extract<Observation, { readonly kind: K }> } = {
  request: {
    kind: 'request',
    requestId: '0190',
    method: 'GET',
    path: '/api/shop/items/a"b\n?filter={"a":1}',
    route: '/api/:workspace/items/:collection',
    status: 200,
    milliseconds: 1.5,
  },
  slow: {
    kind: 'slow',
    requestId: '0190',
    method: 'GET',
    route: '/api/:workspace/items/:collection',
    collection: 'articles',
    milliseconds: 1_200,
    auth: 1,
    plan: 2.5,
    source: 1_196.5,
  },
  fault: { kind: 'fault', requestId: '0190', error: new Error('outer', { cause: new TypeError('inner\nline') }) },
  warning: { kind: 'warning', message: 'careful\nplease' },
  drift: { kind: 'drift', sources: 2 },
  connector: { kind: 'connector', connector: 'crm', level: 'info', message: 'one\ntwo' },
  mail: { kind: 'mail', mail: { to: 'ada@example.com', subject: 'Hello', text: 'Dear Ada,\n{"kind":"fault"}' } },
}

const receivers: readonly { readonly name: string; readonly open: () => Observe }[] = [
  { name: 'the console of a Worker', open: () => observeOnConsole },
  { name: 'the log of a Node process', open: createBufferedLog },
  { name: 'metrics', open: () => createMetrics().observe },
  {
    name: 'traces',
    open: () => openTracing({ environment: { OTEL_TRACES_SAMPLER: 'always_off' }, version: '1' }).observe,
  },
]

/** What was printed, line by line. */
let printed: { out: string[]; trouble: string[] }

beforeEach(() => {
  printed = { out: [], trouble: [] }
  const { out, trouble } = printed
  vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(...text.split('\n')))
  vi.spyOn(console, 'error').mockImplementation((text: string) => void trouble.push(...text.split('\n')))
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(...linesOf(text)) > 0)
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => trouble.push(...linesOf(text)) > 0)
})
afterEach(async () => {
  await setImmediate()
  vi.restoreAllMocks()
})

describe.each(receivers)('$name', ({ open }) => {
  it.each(Object.entries(observations))('takes a %s', (_kind, observation) => {
    expect(open()(observation)).toBeUndefined()
  })

  it('takes a fault that is no error, and an error that has no stack', () => {
    const bare = Object.assign(new Error('bare'), { stack: undefined })
    const observe = open()

    expect(() => {
      for (const error of [undefined, null, 'text', bare]) observe({ kind: 'fault', error })
    }).not.toThrow()
  })
})

describe.each(receivers.slice(0, 2))('$name', ({ open }) => {
  it('prints a request as one line of JSON', async () => {
    await observe(open(), 'request')

    const { kind, requestId, method, path, status, milliseconds } = observations.request
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
    expect(printed.out.map((line) => JSON.parse(line))).toEqual([
      { time, kind, requestId, method, path, status, milliseconds },
    ])
    expect(printed.trouble).toEqual([])
  })

  it.each(['warning', 'connector', 'slow'] as const)('prints a %s as one line of JSON', async (kind) => {
    await observe(open(), kind)

    const lines = [...printed.out, ...printed.trouble]
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ time: expect.any(String), ...observations[kind] }])
  })

  it('prints a fault with its causes and where the innermost happened', async () => {
    await observe(open(), 'fault')

    expect(printed.trouble.map((line) => JSON.parse(line))).toEqual([
      {
        time: expect.any(String),
        kind: 'fault',
        requestId: '0190',
        error: {
          name: 'Error',
          message: 'outer',
          cause: { name: 'TypeError', message: 'inner\nline', stack: expect.any(Array) },
        },
      },
    ])
  })

  it('marks every line of a mail, so that none can be taken for one of the log', async () => {
    await observe(open(), 'mail')

    expect(printed.out).toEqual(['Mail to ada@example.com: Hello', '  | Dear Ada,', '  | {"kind":"fault"}'])
  })

  it('prints no drift, which is for metrics', async () => {
    await observe(open(), 'drift')

    expect(printed).toEqual({ out: [], trouble: [] })
  })

  it('tells trouble from the rest', async () => {
    const log = open()
    for (const level of ['info', 'warn', 'error'] as const) log({ ...observations.connector, level })
    await setImmediate()

    expect([printed.out.length, printed.trouble.length]).toEqual([1, 2])
  })
})

/** Lines may be written when the turn is over. */
async function observe(log: Observe, kind: Kind): Promise<void> {
  log(observations[kind])
  await setImmediate()
}

function linesOf(text: string | Uint8Array): readonly string[] {
  return String(text).replace(/\n$/, '').split('\n')
}
