/** No way out leads to a private host, however it is spelled and whatever its name resolves to: one table, every way. */
import type { lookup } from 'node:dns'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIP, type Server } from 'node:net'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseTarget } from '../../src/core/connector/target.ts'
import { parseSqlAddress, type SqlProvider, sqlProviders } from '../../src/core/sql/address.ts'
import { createCloudflareSqlDatabases } from '../../src/platform/cloudflare/sql-databases.ts'
import { createNodeConnectorHost } from '../../src/platform/node/connectors/host.ts'
import { databasePassword } from '../../src/platform/node/network/aws-iam.ts'
import { createNetwork } from '../../src/platform/node/network/network.ts'
import { createNodeSqlDatabases } from '../../src/platform/node/network/sql-databases.ts'
import { isPrivateAddress, isPrivateHost, PrivateHostError } from '../../src/platform/private-hosts.ts'
import { openProviderGate } from '../../src/platform/provider-gate.ts'
import { casesOr } from '../support/run/cases.ts'
import { inUrl, privateAddresses, privateNames, publicHosts } from './private-rows.ts'

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

const spellings = [...privateAddresses, ...privateNames]

it('every host of the table is private, as it is spelled and in a URL', () => {
  expect(spellings.filter((host) => !isPrivateHost(host))).toEqual([])
  expect(spellings.filter((host) => !isPrivateHost(new URL(`http://${inUrl(host)}/`).hostname))).toEqual([])
})

it('no other host is', () => {
  expect(publicHosts.filter(isPrivateHost)).toEqual([])
})

it('every address of the table is private as what a name resolves to', () => {
  expect(privateAddresses.filter((address) => !isPrivateAddress(address))).toEqual([])
})

it('takes what is no address for a private one', () => {
  expect(['', 'nonsense', '1.2.3'].map(isPrivateAddress)).toEqual([true, true, true])
})

const refused = { name: 'SqlFault', state: '08004' }

function addressOf(provider: SqlProvider, host: string) {
  return parseSqlAddress(provider, { host, port, database: 'd', user: 'u', password: 'p', tls: false })
}

it.each(sqlProviders)('%s on Node reaches no host of the table', async (provider) => {
  const databases = createNodeSqlDatabases({ allowPrivate: false, environment: {} })

  for (const host of spellings.filter((one) => isConfigurable(provider, one))) {
    const driver = databases.open(addressOf(provider, host))
    await expect(driver.query({ text: 'select 1', params: [] }), host).rejects.toMatchObject(refused)
    await expect(driver.batch([{ text: 'select 1', params: [] }]), host).rejects.toMatchObject(refused)
    await driver.close()
  }
  expect(reached).toBe(0)
})

/** Zone indexes are no part of a host's name. */
function isConfigurable(provider: SqlProvider, host: string): boolean {
  try {
    addressOf(provider, host)
    return true
  } catch {
    return false
  }
}

/** A name with these addresses; every question is kept. */
function resolving(addresses: readonly string[], asked: string[] = []): typeof lookup {
  const answer = addresses.map((address) => ({ address, family: isIP(address) }))
  const resolve = (host: string, _options: object, callback: (error: null, addresses: object[]) => void) => {
    asked.push(host)
    callback(null, answer)
  }
  return resolve as unknown as typeof lookup
}

const NAME = 'db.region.example.com'
const PUBLIC = '93.184.216.34'

it.each(sqlProviders)('%s on Node reaches no name that has an address of the table', async (provider) => {
  for (const address of privateAddresses) {
    for (const addresses of [[address], [PUBLIC, address], [address, PUBLIC]]) {
      const asked: string[] = []
      const resolve = resolving(addresses, asked)
      const databases = createNodeSqlDatabases({ allowPrivate: false, environment: {}, resolve })
      const driver = databases.open(addressOf(provider, NAME))
      await expect(driver.query({ text: 'select 1', params: [] }), address).rejects.toMatchObject(refused)
      await driver.close()
      expect(asked).toHaveLength(1)
    }
  }
  expect(reached).toBe(0)
})

it('a role of AWS is asked for at no address of the table', async () => {
  const auth = { kind: 'aws-iam', region: 'eu-west-1', accessKeyId: 'i', secretAccessKey: 's', roleArn: ROLE }
  const address = parseSqlAddress('postgres', { host: NAME, port, database: 'd', user: 'u', auth })
  const { fetch } = createNetwork({ allowPrivate: false })
  for (const host of spellings.filter((one) => !one.includes('%'))) {
    const environment = { AWS_ENDPOINT_URL_STS: `http://${inUrl(host)}:${port}/` }
    const password = databasePassword(address, { fetch, environment }) as () => Promise<string>
    await expect(password(), host).rejects.toThrow(PrivateHostError)
  }
  expect(reached).toBe(0)
})

const ROLE = 'arn:aws:iam::123456789012:role/reader'

it('a sign-in provider is at no host of the table, on either platform', async () => {
  const gate = openProviderGate({ allowPrivate: false })

  for (const host of spellings) {
    expect(gate.refusal(`https://${inUrl(host)}:${port}/`), host).toMatch(/^must /)
    await expect(gate.fetch(`https://${inUrl(host)}:${port}/`, {})).rejects.toThrow('must not be a private address')
  }
  for (const host of publicHosts) expect(gate.refusal(`https://${inUrl(host)}/`), host).toBeUndefined()
  expect(reached).toBe(0)
})

it('a sign-in provider on Node has no name with an address of the table', async () => {
  for (const address of privateAddresses) {
    const { fetch: wayOut } = createNetwork({ allowPrivate: false, resolve: resolving([PUBLIC, address]) })
    const gate = openProviderGate({ allowPrivate: false, wayOut })
    await expect(gate.fetch(`https://id.example.com:${port}/`, {}), address).rejects.toThrow(PrivateHostError)
  }
  expect(reached).toBe(0)
})

const WAYS = `const said = (work) => work.then(() => 'reached', (error) => error.name + ': ' + error.message)
  const opened = async (open) => { const socket = open(); return said(new Promise((resolve, reject) => {
    socket.onopen = resolve; socket.onmessage = resolve; socket.onerror = ({ message }) => reject(new Error(message)) })) }
  const spoken = async (host, port) => { const { connect } = await import('node:net')
    return said(new Promise((resolve, reject) => { const socket = connect(port, host)
      socket.on('data', resolve); socket.on('error', reject); socket.on('close', () => reject(new Error('closed'))) })) }
  const preflight = 1
  const setup = () => ({ introspect: 1, query: async (places) => { const answers = []
    for (const { host, inUrl, port } of places) answers.push([
      await said(fetch('http://' + inUrl + ':' + port + '/')), await opened(() => new WebSocket('ws://' + inUrl + ':' + port)),
      await spoken(host, port), ]); return answers } })
  export { preflight, setup };`

const sandbox = { timeLimit: 60_000, busyLimit: 10_000, idleLimit: 60_000, memoryLimit: 64 }

it('a connector on Node reaches no host of the table, although all of them are granted', async () => {
  const host = createNodeConnectorHost({ ...sandbox, allowPrivate: false })
  const places = spellings.map((one) => ({ host: one, inUrl: inUrl(one), port }))
  const grant = [...new Set(places.map((one) => normal(one.inUrl))), '0.0.0.0/0']

  const reply = await host.open({ id: 'ways', code: WAYS, grant, config: null }).call('query', places)
  await host.close()

  const answers = reply.kind === 'value' ? (reply.value as string[][]) : [[JSON.stringify(reply)]]
  expect(answers).toHaveLength(spellings.length)
  for (const [index, [byFetch, ...others]] of answers.entries()) {
    expect(byFetch, spellings[index]).toMatch(/^NotCapable: .*which is a loopback, private or link-local address$/)
    for (const other of others) expect(other, spellings[index]).not.toBe('reached')
  }
  expect(reached).toBe(0)
})

function normal(host: string): string {
  const reading = parseTarget(`net:${new URL(`http://${host}/`).hostname}`)
  return 'target' in reading ? reading.target : '0.0.0.0/0'
}

it('a connector on Node reaches no name that has an address of the table, and resolves it once', async () => {
  const asked: string[] = []
  let addresses: readonly string[] = []
  const resolve = ((...parameters: Parameters<typeof lookup>) => resolving(addresses, asked)(...parameters)) as never
  const host = createNodeConnectorHost({ ...sandbox, allowPrivate: false, resolve })
  const session = host.open({ id: 'names', code: WAYS, grant: [NAME], config: null })
  const place = { host: NAME, inUrl: NAME, port }

  for (const address of privateAddresses) {
    addresses = [PUBLIC, address]
    asked.length = 0
    const reply = await session.call('query', [place])
    expect(reply, address).toMatchObject({
      value: [
        [
          expect.stringMatching(/^NotCapable: .*link-local address$/),
          expect.not.stringMatching('reached'),
          expect.not.stringMatching('reached'),
        ],
      ],
    })
    expect(asked).toEqual([NAME, NAME, NAME])
  }
  await host.close()
  expect(reached).toBe(0)
})

it('a name that is public when it is checked and private when it is connected to reaches nothing', async () => {
  let questions = 0
  // What a rebinding server does: each question has another answer.
  const resolve = ((host: string, options: object, callback: never) => {
    questions += 1
    return resolving([questions % 2 === 1 ? '240.0.0.1' : '127.0.0.1'])(host, options, callback)
  }) as unknown as typeof lookup
  const { fetch } = createNetwork({ allowPrivate: false, resolve })

  await expect(fetch(`http://${NAME}:${port}/`)).rejects.toThrow(PrivateHostError)
  await expect(fetch(`http://${NAME}:${port}/`)).rejects.toThrow(PrivateHostError)
  expect(questions).toBe(2)
  expect(reached).toBe(0)
})

it.each(['neon', 'planetscale'] as const)('%s on Workers refuses a private host by its name', async (provider) => {
  const databases = createCloudflareSqlDatabases({ allowPrivate: false })

  for (const host of spellings.filter((one) => isConfigurable(provider, one))) {
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

it('agrees with the library ipaddr.js on every address', () => {
  const four = fc.ipV4()
  const near = fc.constantFrom(...privateAddresses, '2000::', '3fff:ffff::', '1fff::', '4000::', '2001:200::')
  const six = fc.oneof(
    fc.ipV6(),
    fc.tuple(fc.constantFrom('2001', '2002', '2620', '3fff', '2400'), fc.ipV6()).map(([head, rest]) => {
      const [, ...others] = new URL(`http://[${rest}]`).hostname.slice(1, -1).split(':')
      return [head, ...others].join(':')
    }),
  )
  fc.assert(
    fc.property(fc.oneof(four, near, six), (address) => {
      // The library reads `::192.0.2.1`, an old way to write an IPv4 address, as that one; to us it is of no public network.
      fc.pre(ipaddr.isValid(address) && !/^::\d+\.\d/.test(address))
      const parsed = ipaddr.process(address)
      const isOutside = parsed instanceof ipaddr.IPv6 && ((parsed.parts[0] ?? 0) & 0xe000) !== 0x2000

      expect(isPrivateAddress(address)).toBe(parsed.range() !== 'unicast' || isOutside)
    }),
    { numRuns: casesOr(5_000) },
  )
})
