/** Threat 22: a data source leads to no private host, however it is spelled and whatever its name resolves to. */
import type { lookup } from 'node:dns'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseSqlAddress, type SqlProvider, sqlProviders } from '../../src/core/sql/address.ts'
import { createCloudflareSqlDatabases } from '../../src/platform/cloudflare/sql-databases.ts'
import { createNodeSqlDatabases } from '../../src/platform/node/sql-databases.ts'
import { isPrivateAddress, isPrivateHost } from '../../src/platform/private-hosts.ts'

let trap: Server
let port: number
let reached = 0

beforeAll(async () => {
  trap = createServer((socket) => {
    reached += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(trap, 'listening')
  port = (trap.address() as AddressInfo).port
})

afterAll(() => {
  trap.close()
})

const spellings = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  '100::1',
  'fc00::1',
  'fd12:3456::1',
  'ff02::1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'db.localhost',
  'printer.local',
  'db.internal',
  'metadata.google.internal',
  'router.lan',
  'postgres',
  '１２７.0.0.1',
  '127。0。0。1',
]

it.each(spellings)('%s is private', (host) => {
  expect(isPrivateHost(host)).toBe(true)
})

it.each([
  'db.example.com',
  'example.com.',
  '8.8.8.8',
  '172.32.0.1',
  '2606:4700::1111',
  '[2606:4700::1111]',
  'localhost.example.com',
  'xn--bcher-kva.example',
])('%s is not', (host) => {
  expect(isPrivateHost(host)).toBe(false)
})

it('takes what is no address for a private one', () => {
  expect(['', 'nonsense', '1.2.3'].map(isPrivateAddress)).toEqual([true, true, true])
})

const refused = { name: 'SqlFault', state: '08004' }

function addressOf(provider: SqlProvider, host: string) {
  return parseSqlAddress(provider, { host, port, database: 'd', user: 'u', password: 'p', tls: false })
}

it.each(
  sqlProviders.flatMap((provider) =>
    ['127.0.0.1', '2130706433', '::ffff:127.0.0.1', 'localhost'].map((host) => [provider, host] as const),
  ),
)('%s on Node never reaches %s', async (provider, host) => {
  const driver = createNodeSqlDatabases({ allowPrivate: false, environment: {} }).open(addressOf(provider, host))

  await expect(driver.query({ text: 'select 1', params: [] })).rejects.toMatchObject(refused)
  await expect(driver.batch([{ text: 'select 1', params: [] }])).rejects.toMatchObject(refused)
  await driver.close()
  expect(reached).toBe(0)
})

it.each(sqlProviders)(
  '%s on Node never reaches a name that has a private address, and asks for it once',
  async (provider) => {
    const asked: string[] = []
    // Public the first time, private beside it: what a name that is rebound would answer.
    const resolve = ((host: string, _options: object, callback: (error: null, addresses: object[]) => void) => {
      asked.push(host)
      callback(null, [
        { address: '93.184.216.34', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ])
    }) as unknown as typeof lookup
    const driver = createNodeSqlDatabases({ allowPrivate: false, environment: {}, resolve }).open(
      addressOf(provider, 'db.region.example.com'),
    )

    await expect(driver.query({ text: 'select 1', params: [] })).rejects.toMatchObject(refused)
    await driver.close()
    expect(asked).toHaveLength(1)
    expect(reached).toBe(0)
  },
)

it.each(['neon', 'planetscale'] as const)('%s on Workers refuses a private host by its name', async (provider) => {
  const databases = createCloudflareSqlDatabases({ allowPrivate: false })

  for (const host of ['127.0.0.1', '0x7f.1', 'localhost', '::1']) {
    const driver = databases.open(addressOf(provider, host))
    await expect(driver.query({ text: 'select 1', params: [] })).rejects.toMatchObject(refused)
  }
  expect(reached).toBe(0)
})

it('lets the drivers through where private hosts are allowed', async () => {
  const driver = createNodeSqlDatabases({ allowPrivate: true, environment: {} }).open(
    addressOf('postgres', '127.0.0.1'),
  )

  await expect(driver.query({ text: 'select 1', params: [] })).rejects.toMatchObject({ name: 'SqlFault' })
  await driver.close()
  expect(reached).toBe(1)
})
