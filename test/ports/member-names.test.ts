/** Names whose servers do not answer hold up neither the names of the operator nor each other without end. */
import { createSocket } from 'node:dgram'
import { promises } from 'node:dns'
import { once } from 'node:events'
import type { AddressInfo, LookupFunction } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemberLookup } from '../../src/platform/node/network/member-names.ts'
import { oneAtATime } from '../../src/platform/node/network/one-lookup.ts'

/** Limit that only a hang reaches. */
const LONG = 60_000

/** Answers for `known.example`, knows no `unknown`, and says nothing about any other name. */
const nameServer = createSocket('udp4')

beforeAll(async () => {
  nameServer.on('message', (query, { port, address }) => {
    const name = query.toString('latin1', 12)
    if (name.includes('known')) nameServer.send(answerTo(query, name.includes('unknown')), port, address)
  })
  nameServer.bind(0, '127.0.0.1')
  await once(nameServer, 'listening')
})

afterAll(() => nameServer.close())

describe('names of members', () => {
  it('are resolved however many others have no answer', async () => {
    const { resolve, asked } = names()
    const lookup = memberLookup(resolve, LONG)
    for (let each = 0; each < 50; each += 1) void found(lookup, `silent-${each}.example`)

    expect(await found(lookup, 'known.example')).toBe('192.0.2.7')
    expect(await found(lookup, 'known.example', { all: true })).toEqual([{ address: '192.0.2.7', family: 4 }])
    expect(asked).toEqual([])
  })

  it('have no address after a time without an answer', async () => {
    const { resolve, asked } = names()

    expect(await found(memberLookup(resolve, 50), 'silent.example')).toBe('EAI_AGAIN')
    expect(asked).toEqual([])
  })

  it.each(['unknown.example', 'database', 'listed.example', 'LISTED.example'])('go to the system: %s', async (host) => {
    const { resolve, answer, waiting } = names()
    const result = found(memberLookup(resolve, LONG), host)
    await waiting(host)
    answer(host)

    expect(await result).toBe(`${host} is here`)
  })

  function memberLookup(lookup: LookupFunction, patience: number): LookupFunction {
    const resolver = () => {
      const one = new promises.Resolver()
      one.setServers([`127.0.0.1:${(nameServer.address() as AddressInfo).port}`])
      return one
    }
    return createMemberLookup({ lookup, resolver, patience, hosts: async () => '10.0.0.9\tlisted.example # ours\n' })
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
