/** The held connections of the Postgres driver: a statement that takes its time, or waits for a lock, is waited for alone. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { QueryContext, SqlDriver } from '../../src/ports/database.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let server: Awaited<ReturnType<typeof startPostgres>>
let other: pg.Client
/** Sees what the others do; a session inside a transaction would see what it saw first. */
let watcher: pg.Client
let driver: SqlDriver

beforeAll(async () => {
  server = await startPostgres()
  other = new pg.Client({ connectionString: server.url })
  watcher = new pg.Client({ connectionString: server.url })
  await Promise.all([other.connect(), watcher.connect()])
  await other.query('create table counters (id int primary key, n int); insert into counters values (1, 0), (2, 0)')
})

beforeEach(() => {
  driver = openPostgres({ connectionString: server.url })
})

afterEach(() => driver.close())

afterAll(async () => {
  await Promise.all([other?.end(), watcher?.end()])
  await server?.close()
})

it('answers others while two statements take their time', async () => {
  const release = await hold()
  const slow = [1, 2].map((number) => driver.query(untilReleased(number)))
  await heldUp(2)

  const quick = await meanwhile(Array.from({ length: 40 }, (_, n) => driver.query(statement(`select ${n}::text`))))
  await release()

  expect(quick).toEqual(Array.from({ length: 40 }, (_, n) => [[String(n)]]))
  expect(await Promise.all(slow)).toEqual([[['1']], [['2']]])
})

it('answers others while statements wait for a lock', async () => {
  await other.query('begin; update counters set n = n + 1')
  const blocked = [1, 2].map((id) =>
    driver.query(statement(`update counters set n = n + 1 where id = ${id} returning n`)),
  )
  await heldUp(2)

  const sum = await meanwhile([driver.query(statement('select sum(n)::text from counters'))])
  await other.query('commit')

  expect(sum).toEqual([[['0']]])
  expect(await Promise.all(blocked)).toEqual([[['2']], [['2']]])
})

it('answers those who wait in line for them, though nobody comes after', async () => {
  // What takes its time shows a connection how few it can be handed.
  for (let round = 0; round < 24; round += 1)
    await Promise.all(Array.from({ length: 8 }, () => driver.query(statement('select pg_sleep(0.02)'))))
  const release = await hold()
  const slow = Array.from({ length: 8 }, (_, number) => driver.query(untilReleased(number)))

  const quick = await meanwhile(Array.from({ length: 4 }, (_, n) => driver.query(statement(`select ${n}::text`))))
  await release()

  expect(quick).toEqual(Array.from({ length: 4 }, (_, n) => [[String(n)]]))
  expect(await Promise.all(slow)).toEqual(slow.map((_, number) => [[String(number)]]))
})

it('has reads that stand behind a slow statement answered elsewhere, and writes behind none', async () => {
  const release = await hold()
  const slow = [1, 2].map((number) => driver.query(untilReleased(number)))
  const write = driver.query(statement('update counters set n = n where id = 1 returning id'))
  const reads = Array.from({ length: 8 }, (_, n) => driver.query(statement(`select ${n}::text`)))
  const quick = await meanwhile([write, ...reads])
  await release()

  expect(quick).toEqual([[['1']], ...reads.map((_, n) => [[String(n)]])])
  expect(await Promise.all(slow)).toEqual([[['1']], [['2']]])
})

it('has writes follow those of their share alone', async () => {
  await other.query('begin; update counters set n = n where id = 1')
  const update = (id: number) => statement(`update counters set n = n where id = ${id} returning id`)
  const blocked = driver.query(update(1), { isWriting: true, share: 'a' })
  const reads = Array.from({ length: 8 }, (_, n) => driver.query(statement(`select ${n}::text`)))
  const behind = driver.query(update(2), { isWriting: true, share: 'a' })
  const free = await meanwhile([driver.query(update(2), { isWriting: true, share: 'b' }), ...reads])
  await other.query('commit')

  expect(free).toEqual([[['2']], ...reads.map((_, n) => [[String(n)]])])
  expect(await Promise.all([blocked, behind])).toEqual([[['1']], [['2']]])
})

it('counts the limit of a read from its call, also behind many', async () => {
  const limit = 500
  const limited = openPostgres({ connectionString: server.url, timeLimit: limit })
  const patient = openPostgres({ connectionString: server.url, timeLimit: 12 * limit })
  const release = await hold()
  try {
    const all = Array.from({ length: 40 }, (_, number) => limited.query(untilReleased(number), {}))
    // In the order of their turns the last would be ten times as late as the first.
    const first = await Promise.race([Promise.allSettled(all), patient.query(untilReleased(40), {})])

    expect(first).toEqual(all.map(() => ({ status: 'rejected', reason: expect.objectContaining({ state: '57014' }) })))
  } finally {
    await release()
    await Promise.all([limited.close(), patient.close()])
  }
})

it('leaves room for others where one has many slow statements', async () => {
  const release = await hold()
  const slow = Array.from({ length: 14 }, (_, number) => driver.query(untilReleased(number), { share: 'a' }))
  await heldUp(5)

  const theirs = driver.query(statement('select 1::text'), { share: 'b' })
  const write = driver.query(statement('update counters set n = n where id = 1 returning id'), {
    ...{ share: 'b', isWriting: true },
  })
  const others = await meanwhile([theirs, write])
  const held = await connections()
  await release()

  expect(others).toEqual([[['1']], [['1']]])
  expect(held).toBeLessThan(9)
  expect(await Promise.all(slow)).toEqual(slow.map((_, number) => [[String(number)]]))
})

it('leaves room for another account of a share where one has many slow statements', async () => {
  const release = await hold()
  const slow = Array.from({ length: 14 }, (_, number) =>
    driver.query(untilReleased(number), { share: 'a', account: 'many' }),
  )
  await heldUp(5)

  const other = { share: 'a', account: 'other' }
  const theirs = await meanwhile(Array.from({ length: 20 }, () => driver.query(statement('select 1::text'), other)))
  await release()

  expect(theirs).toEqual(Array.from({ length: 20 }, () => [['1']]))
  expect(await Promise.all(slow)).toEqual(slow.map((_, number) => [[String(number)]]))
})

it('leaves room for a third where two have many slow statements', async () => {
  const release = await hold()
  const slow = Array.from({ length: 28 }, (_, n) => driver.query(untilReleased(n), { share: n % 2 === 0 ? 'a' : 'b' }))
  await heldUp(8, 9)

  const theirs = await meanwhile([driver.query(statement('select 1::text'), { share: 'c' })])
  await release()

  expect(theirs).toEqual([[['1']]])
  expect(await Promise.all(slow)).toEqual(slow.map((_, number) => [[String(number)]]))
})

it('leaves room for others where one asks for many at once that each have to be first', async () => {
  const release = await hold()
  const term = { isOver: () => false, renew: async () => true }
  const asked = { share: 'a', isWriting: true, term }
  const slow = Array.from({ length: 14 }, (_, number) => driver.query(untilReleased(number), asked))
  await heldUp(5)

  const others = await meanwhile([
    driver.query(statement('select 1::text'), { share: 'b' }),
    driver.query(statement('update counters set n = n where id = 1 returning id'), { ...asked, share: 'b' }),
  ])
  const held = await connections()
  await release()

  expect(others).toEqual([[['1']], [['1']]])
  expect(held).toBeLessThan(9)
  expect(await Promise.all(slow)).toEqual(slow.map((_, number) => [[String(number)]]))
})

it('leaves connections to others, and to the service, where one has many slow transactions', async () => {
  const release = await hold()
  const asked = { share: 'a', isWriting: true }
  const slow = Array.from({ length: 14 }, (_, number) => driver.batch([untilReleased(number)], asked))
  await heldUp(4)

  const others = await meanwhile([
    driver.batch([statement('select 0::text')], { ...asked, account: 'other' }),
    driver.batch([statement('select 1::text')], { share: 'b', isWriting: true }),
    driver.batch([statement('select 2::text')]),
  ])
  await release()

  expect(others).toEqual([[[['0']]], [[['1']]], [[['2']]]])
  expect(await Promise.all(slow)).toEqual(slow.map((_, number) => [[[String(number)]]]))
})

it.each([
  ['as it is', {}],
  ['of a plan that is looked at', { term: { isOver: () => false, renew: async () => true } }],
])('ends a batch of reads that nobody waits for any more, %s', async (_, asked) => {
  const release = await hold()
  let isGone = false
  const left = driver.batch([statement('select 1'), untilReleased(1)], { ...asked, isDisconnected: () => isGone })
  const ended = expect(left).rejects.toMatchObject({ name: 'SqlFault' })
  await heldUp(1)
  isGone = true

  await ended
  await release()
  expect(await driver.batch([statement('select 1::text')])).toEqual([[['1']]])
})

it('leaves a connection to others where one takes large results slowly', async () => {
  const all = statement(`select repeat('x', 1000) from generate_series(1, 100000)`)
  const slow = Array.from({ length: 3 }, async () => driver.stream?.(all, { share: 'a' }))
  const [first, second] = await Promise.all(slow.slice(0, 2))

  const read = async (context: QueryContext) => (await driver.stream?.(statement('select 1::text'), context))?.next()
  const others = [read({ share: 'b' }), read({ share: 'a', account: 'other' })]
  expect(await meanwhile(others)).toEqual(others.map(() => ({ done: false, value: ['1'] })))
  await first?.return?.()
  expect((await (await slow[2])?.next())?.done).toBe(false)
  await second?.return?.()
  await (await slow[2])?.return?.()
})

it('opens no more than eight further connections for them', async () => {
  const release = await hold()
  const slow: Promise<unknown>[] = []
  for (let count = 0; count < 14; count += 1) {
    slow.push(driver.query(untilReleased(count)))
    await wait(HELD_UP / 2)
  }

  await expect.poll(connections).toBe(10)
  await wait(HELD_UP)
  slow.push(driver.query(untilReleased(14)))
  const most = await connections()
  await release()

  expect(most).toBe(10)
  expect(await Promise.all(slow)).toEqual(slow.map((_, number) => [[String(number)]]))
})

it('takes no distant server for silent', async () => {
  const distance = 75
  const { hostname, port } = new URL(server.url)
  const proxy = createServer((near) => {
    const far = connect(Number(port), hostname)
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (chunk) => setTimeout(() => to.write(chunk), distance))
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
    }
    pass(near, far)
    pass(far, near)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(server.url)
  url.port = String((proxy.address() as AddressInfo).port)
  const distant = openPostgres({ connectionString: url.href })
  try {
    for (let round = 0; round < 10; round += 1)
      await Promise.all(Array.from({ length: 8 }, (_, n) => distant.query(statement(`select ${n}::text`))))

    // Another one where the machine is busy with other things.
    expect(await connections()).toBeLessThan(4)
  } finally {
    await distant.close()
    proxy.close()
  }
})

it('keeps few waiting behind a server process that gets no time', async () => {
  const brief = () => driver.query(statement('select pg_sleep(0.002), pg_backend_pid()'))
  let pids = new Set<string>()
  // A connection that was held up by other work of the machine has another in its place for a moment.
  for (let round = 0; round < 60 || pids.size !== 2; round += 1) {
    const answers = (await Promise.all(Array.from({ length: 8 }, brief))) as [[string, string]][]
    pids = new Set(answers.map(([[, pid]]) => pid))
  }
  const [starved] = pids
  let answered = 0
  process.kill(Number(starved), 'SIGSTOP')
  try {
    const all = Array.from({ length: 60 }, () => brief().finally(() => (answered += 1)))
    // Half of them would wait, were they handed out evenly.
    await expect.poll(() => answered).toBeGreaterThan(50)
    process.kill(Number(starved), 'SIGCONT')
    await Promise.all(all)
  } finally {
    process.kill(Number(starved), 'SIGCONT')
  }

  expect(pids.size).toBe(2)
  expect(answered).toBe(60)
})

it('leaves none of them open', async () => {
  const closing = openPostgres({ connectionString: server.url })
  const release = await hold()
  const slow = closing.query(untilReleased(1))
  await heldUp(1)
  await meanwhile(Array.from({ length: 4 }, () => closing.query(statement('select 1'))))

  const closed = closing.close()
  await release()
  await closed

  expect(await slow).toEqual([['1']])
  // A server process outlives its connection by a moment.
  await expect.poll(connections).toBe(0)
})

/** Longer than what the driver takes for being held up. */
const HELD_UP = 400

/** Keeps what is `untilReleased` from ending. */
async function hold(): Promise<() => Promise<unknown>> {
  await other.query('select pg_advisory_lock(1)')
  return () => other.query('select pg_advisory_unlock(1)')
}

function untilReleased(number: number) {
  return statement(`select ${number}::text from pg_advisory_lock_shared(1)`)
}

/** Until so many statements wait for a lock, and have done so for long. */
async function heldUp(...counts: readonly number[]): Promise<void> {
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock'`
  await expect.poll(async () => (await watcher.query(waiting)).rowCount).toBeOneOf(counts)
  await wait(HELD_UP)
}

/** Answers that come while others are held up; without them what holds the others would never be released. */
function meanwhile<T>(answers: readonly Promise<T>[]): Promise<readonly T[] | 'never'> {
  return Promise.race([Promise.all(answers), wait(60_000, 'never' as const, { ref: false })])
}

function statement(text: string) {
  return { text, params: [] }
}

async function connections(): Promise<number> {
  const { rows } = await watcher.query(
    `select count(*)::int from pg_stat_activity where backend_type = 'client backend'`,
  )
  // Those of the test's own do not count.
  return rows[0].count - 2
}
