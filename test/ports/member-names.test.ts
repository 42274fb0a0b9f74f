/** Names whose servers do not answer hold up neither the names of the operator nor each other without end. */
import { createSocket } from 'node:dgram'
import { promises } from 'node:dns'
import { once } from 'node:events'
import type { AddressInfo, LookupFunction } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createMemberLookup } from '../../src/platform/node/network/member-names.ts'
import { oneAtATime } from '../../src/platform/node/network/one-lookup.ts'

/** Limit that only a hang reaches. */
const LONG = 60_000

/** Answers for KNOWN, says nothing of what is silent, nor twice that what is `spent` is unknown, as all else is. */
const nameServer = createSocket('udp4')
const spent = new Set<string>()
const KNOWN = ['known.example', 'db.corp.example', 'far.sub.corp.example']
/** Names whose address of IPv4 it was asked for, in this order. */
let questions: string[] = []

beforeAll(async () => {
  nameServer.on('message', (query, { port, address }) => {
    const name = nameIn(query)
    const type = query.readUInt16BE(query.indexOf(0, 12) + 1)
    const isSpent = spent.has(`${name} ${type}`)
    if (name.includes('spent')) spent.add(`${name} ${type}`)
    if (type === 1) questions.push(name)
    if (name.includes('silent') || isSpent) return
    nameServer.send(answerTo(query, !KNOWN.includes(name)), port, address)
  })
  nameServer.bind(0, '127.0.0.1')
  await once(nameServer, 'listening')
})

beforeEach(() => {
  questions = []
})

afterAll(() => nameServer.close())

describe('names of members', () => {
  it('are resolved however many others have no answer', async () => {
    const { resolve, asked } = names()
    const lookup = memberLookup(resolve)
    for (let each = 0; each < 50; each += 1) void found(lookup, `silent-${each}.example`)

    expect(await found(lookup, 'known.example')).toBe('192.0.2.7')
    expect(await found(lookup, 'known.example', { all: true })).toEqual([{ address: '192.0.2.7', family: 4 }])
    expect(asked).toEqual([])
  })

  it.each(['silent.example', 'database'])('have no address after a time without an answer: %s', async (host) => {
    const { resolve } = names()

    expect(await found(memberLookup(resolve, { patience: 50 }), host)).toBe('EAI_AGAIN')
  })

  it.each(['unknown.example', 'unknown。example', 'unknown%2Eexample', 'a b', 'unknown.example.'])(
    'never go to the system with a dot, nor if they are none: %s',
    async (host) => {
      const { resolve, asked } = names()

      expect(await found(memberLookup(resolve), host)).toBe('ENOTFOUND')
      expect(asked).toEqual([])
    },
  )

  it('hold up no name of the system where their server says that they are unknown, and then nothing', async () => {
    const { resolve, answer, waiting } = names()
    const lookup = memberLookup(resolve)
    const others = Array.from({ length: 8 }, (_, each) => found(lookup, `spent-${each}.example`))
    expect(await Promise.all(others)).toEqual(others.map(() => 'ENOTFOUND'))
    const result = found(lookup, 'database')
    await waiting('database')
    answer('database')

    expect(await result).toBe('database is here')
  })

  it('are those of the hosts file, whatever their servers say', async () => {
    const { resolve, asked } = names()
    const lookup = memberLookup(resolve)

    expect(await found(lookup, 'listed.example')).toBe('10.0.0.9')
    expect(await found(lookup, 'LISTED', { all: true })).toEqual([
      { address: '10.0.0.9', family: 4 },
      { address: 'fd00::9', family: 6 },
    ])
    expect(await found(lookup, 'listed', { family: 6 })).toBe('fd00::9')
    expect([questions, asked]).toEqual([[], []])
  })

  it('are found in search domains', async () => {
    const { resolve, asked } = names()
    const lookup = memberLookup(resolve, { resolv: 'search other.example corp.example\n' })

    expect([await found(lookup, 'db'), await found(lookup, 'far.sub')]).toEqual(['192.0.2.7', '192.0.2.7'])
    expect(asked).toEqual([])
  })

  it.each([
    ['search one.test two.test', 'a.b', ['a.b', 'a.b.one.test', 'a.b.two.test']],
    ['search one.test two.test\noptions timeout:1 ndots:2', 'a.b', ['a.b.one.test', 'a.b.two.test', 'a.b']],
    ['# search no.test\nsearch one.test\ndomain two.test', 'a.b', ['a.b', 'a.b.two.test']],
    ['options ndots:5\nsearch . one.test.', 'a.b', ['a.b.one.test', 'a.b']],
    ['search one.test', 'a.b.', ['a.b']],
    ['', 'a.b', ['a.b']],
  ])('are asked for in the order of resolv.conf %j: %s', async (resolv, host, order) => {
    expect(await found(memberLookup(names().resolve, { resolv }), host)).toBe('ENOTFOUND')
    expect(questions).toEqual(order)
  })

  it('go to the system without a dot, where no server knows them', async () => {
    const { resolve, answer, waiting } = names()
    const result = found(memberLookup(resolve, { resolv: 'search one.test' }), 'database')
    await waiting('database')
    answer('database')

    expect([await result, questions]).toEqual(['database is here', ['database.one.test', 'database']])
  })

  function memberLookup(lookup: LookupFunction, { patience = LONG, resolv = '' } = {}): LookupFunction {
    const resolver = () => {
      const one = new promises.Resolver()
      one.setServers([`127.0.0.1:${(nameServer.address() as AddressInfo).port}`])
      return one
    }
    const files = {
      hosts: async () => '10.0.0.9\tlisted.example listed # ours\nfd00::9 listed\n',
      resolv: async () => resolv,
    }
    return createMemberLookup({ lookup, resolver, patience, ...files })
  }
})

it('resolves one name at a time, and a name once for all who ask meanwhile', async () => {
  const { resolve, asked, answer } = names()
  const lookup = oneAtATime(resolve, LONG)
  const both = [found(lookup, 'one'), found(lookup, 'one'), found(lookup, 'two')]

  const before = [...asked]
  answer('one')
  const first = await Promise.all(both.slice(0, 2))
  const after = [...asked]
  answer('two')

  expect([before, after]).toEqual([['one'], ['one', 'two']])
  expect(first).toEqual(['one is here', 'one is here'])
  expect(await both[2]).toBe('two is here')
})

it('fails where the turn does not come, and goes on when it does', async () => {
  const { resolve, asked, answer } = names()
  const lookup = oneAtATime(resolve, 20)
  const silent = found(lookup, 'silent')

  const late = await found(lookup, 'late')
  answer('silent')
  await silent
  const next = found(lookup, 'next')
  answer('next')

  expect(late).toBe('EAI_AGAIN')
  expect(asked).toEqual(['silent', 'next'])
  expect(await next).toBe('next is here')
})

it('asks anew for a name that has been resolved', async () => {
  const { resolve, asked, answer } = names()
  const lookup = oneAtATime(resolve, LONG)
  for (let time = 0; time < 2; time += 1) {
    const result = found(lookup, 'one')
    answer('one')
    await result
  }

  expect(asked).toEqual(['one', 'one'])
})

/** A resolver that answers when a test says so. */
function names() {
  const asked: string[] = []
  const open = new Map<string, () => void>()
  const waiters = new Map<string, () => void>()
  const resolve: LookupFunction = (host, _, callback) => {
    asked.push(host)
    open.set(host, () => callback(null, `${host} is here`))
    waiters.get(host)?.()
  }
  const waiting = (host: string) => new Promise<void>((ready) => (open.has(host) ? ready() : waiters.set(host, ready)))
  return { resolve, asked, waiting, answer: (host: string) => open.get(host)?.() }
}

function found(lookup: LookupFunction, host: string, options = {}): Promise<unknown> {
  return new Promise((resolve) => lookup(host, options, (error, address) => resolve(error?.code ?? address)))
}

/** "There is no such name", or 192.0.2.7 where an address of IPv4 was asked for, else "no address". */
function answerTo(query: Buffer, isUnknown: boolean): Buffer {
  const end = query.indexOf(0, 12) + 5
  const isIpv4 = query.readUInt16BE(end - 4) === 1
  const head = Buffer.from(query.subarray(0, end))
  head.writeUInt16BE(isUnknown ? 0x8183 : 0x8180, 2)
  head.fill(0, 8, 12)
  head.writeUInt16BE(isIpv4 && !isUnknown ? 1 : 0, 6)
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7])
  return isIpv4 && !isUnknown ? Buffer.concat([head, record]) : head
}

function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query[at]; at += (query[at] ?? 0) + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  }
  return labels.join('.')
}
