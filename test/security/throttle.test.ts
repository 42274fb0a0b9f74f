/** How often secrets may be tried, on a database that several processes share. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { networkOf } from '../../src/core/network.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { createThrottle, type LoginAttempt, type Throttle } from '../../src/services/caller/throttle.ts'
import { installSchema } from '../../src/store/installation.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>
let client: pg.Client
let drivers: readonly SqlDriver[]
let [first, second]: readonly Throttle[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  drivers = [1, 2].map(() => openPostgres({ connectionString: postgres.url }))
  for (const driver of drivers) await installSchema(driver)
  ;[first, second] = drivers.map((driver) => throttleOf(driver, '20'))
})

afterAll(async () => {
  for (const driver of drivers ?? []) await driver.close()
  await client?.end()
  await postgres?.close()
})

describe('trials of an account', () => {
  it('are counted together by all processes, and by those that start later', async () => {
    const trial = anyTrial()
    for (const throttle of [first, second, first, second, first]) await fail(throttle, trial)

    const driver = openPostgres({ connectionString: postgres.url })
    const later = throttleOf(driver, '20')

    await expect(first?.begin(trial)).rejects.toMatchObject(throttled)
    await expect(second?.begin(trial)).rejects.toMatchObject(throttled)
    await expect(later.begin(trial)).rejects.toMatchObject(throttled)
    await driver.close()
  })

  it('never let more than five be told apart, however many end at once', async () => {
    const trial = anyTrial()

    const ends = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        (index % 2 === 0 ? first : second)?.settle(trial, { isRight: index > 10 && index % 7 === 0 }),
      ),
    )
    const late = await Promise.allSettled([first?.settle(trial, { isRight: true })])

    const told = ends.filter(({ status }, index) => status === 'fulfilled' && !(index > 10 && index % 7 === 0))
    expect(told).toHaveLength(5)
    expect(late).toMatchObject([{ status: 'rejected', reason: throttled }])
  })

  it('are let in again when the oldest failure is a minute old, and that one only', async () => {
    const trial = anyTrial()
    await fail(first, trial)
    await pass('50 seconds')
    for (let count = 0; count < 4; count += 1) await fail(first, trial)

    await expect(first?.begin(trial)).rejects.toMatchObject({ meta: { retryAfter: expect.toSatisfy(isUpTo(10)) } })
    await pass('11 seconds')
    await fail(first, trial)
    await expect(first?.begin(trial)).rejects.toMatchObject({ meta: { retryAfter: expect.toSatisfy(isUpTo(50)) } })
  })

  it('are counted for the /48 of an IPv6 site, too, which has ten times as many', async () => {
    const { account } = anyTrial()
    const from = (address: string): LoginAttempt => ({ kind: 'password', account, address })
    for (let network = 0; network < 10; network += 1) {
      for (let trial = 0; trial < 5; trial += 1) await fail(first, from(`2001:db8:1:${network}::1`))
    }

    await expect(second?.begin(from('2001:db8:1:ffff::1'))).rejects.toMatchObject(throttled)
    await expect(second?.settle(from('2001:db8:1:ffff::1'), { isRight: true })).rejects.toMatchObject(throttled)
    await fail(second, from('2001:db8:2::1'))
  })

  it('are not held against another account or another address', async () => {
    const trial = anyTrial()
    for (let count = 0; count < 5; count += 1) await fail(first, trial)

    await first?.begin({ ...trial, address: '203.0.113.77' })
    await first?.begin({ ...trial, account: 'somebody.else@example.com' })
    await first?.begin({ ...trial, kind: 'setUp' })
    await expect(first?.begin({ ...trial, account: trial.account.toUpperCase() })).rejects.toMatchObject(throttled)
  })
})

describe('requests from an address', () => {
  it('are refused after as many as the configuration allows in a minute', async () => {
    const address = '2001:db8:7:8::1'

    const ends = await Promise.allSettled(Array.from({ length: 25 }, () => first?.admit(address)))
    await expect(second?.begin({ ...anyTrial(), address: '2001:db8:7:8::2' })).rejects.toMatchObject(throttled)
    await second?.admit('2001:db8:7:9::1')
    await pass('61 seconds')
    await second?.admit(address)

    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  })

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000:0000:1:2:3:4', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2::', '1:2:0:0::/64'],
    [undefined, 'unknown'],
  ])('count %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('mails that are asked for', () => {
  it('are ten an hour for one mailbox, wherever they are asked for', async () => {
    const account = `${randomUUID()}@example.com`

    const asked = await Promise.all(Array.from({ length: 12 }, () => first?.allowMail(account)))
    await pass('61 minutes')

    expect(asked.filter(Boolean)).toHaveLength(10)
    expect(await second?.allowMail(account)).toBe(true)
  })
})

it('forgets what has ended, and nothing else', async () => {
  const trial = anyTrial()
  for (let count = 0; count < 5; count += 1) await fail(first, trial)

  await first?.prune()
  await expect(first?.begin(trial)).rejects.toMatchObject(throttled)
  await pass('2 hours')
  await first?.prune()

  const { rows } = await client.query('select count(*) from service.attempt')
  expect(rows).toEqual([{ count: '0' }])
})

it('keeps neither e-mail addresses nor where somebody came from', async () => {
  const trial = anyTrial()
  await fail(first, trial)

  const { rows } = await client.query('select * from service.attempt')

  expect(rows.length).toBeGreaterThan(0)
  expect(JSON.stringify(rows)).not.toMatch(/@|192\.0\.2/)
})

const throttled = { kind: 'throttled', meta: { retryAfter: expect.toSatisfy(isUpTo(60)) } }

function isUpTo(most: number): (seconds: unknown) => boolean {
  return (seconds) => typeof seconds === 'number' && seconds >= 1 && seconds <= most
}

function throttleOf(database: SqlDriver, most: string): Throttle {
  const reading = readConfig({ SERVICE_AUTH__LOGINS_PER_MINUTE: most })
  if (reading.kind === 'invalid') throw new Error(reading.faults.join())
  return createThrottle({ ports: { database }, config: reading.config })
}

let addresses = 0

/** Of an account and an address that no other test has. */
function anyTrial(): LoginAttempt {
  addresses += 1
  return { kind: 'password', account: `${randomUUID()}@example.com`, address: `192.0.2.${addresses}` }
}

async function fail(throttle: Throttle | undefined, trial: LoginAttempt): Promise<void> {
  await throttle?.begin(trial)
  await throttle?.settle(trial, { isRight: false })
}

/** Makes everything that was counted so much older. */
async function pass(interval: string): Promise<void> {
  await client.query(`
    update service.attempt set ends_at = ends_at - interval '${interval}',
      times = array(select t - interval '${interval}' from unnest(times) t order by t)`)
}
