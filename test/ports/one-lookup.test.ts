/** Names whose servers do not answer hold up neither the names of the operator nor each other without end. */
import type { LookupFunction } from 'node:net'
import { expect, it } from 'vitest'
import { oneAtATime } from '../../src/platform/node/network/one-lookup.ts'

it('resolves one name at a time, and a name once for all who ask meanwhile', async () => {
  const { resolve, asked, answer } = names()
  const lookup = oneAtATime(resolve)
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
  const lookup = oneAtATime(resolve)
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
  const resolve: LookupFunction = (host, _, callback) => {
    asked.push(host)
    open.set(host, () => callback(null, `${host} is here`))
  }
  return { resolve, asked, answer: (host: string) => open.get(host)?.() }
}

function found(lookup: LookupFunction, host: string): Promise<unknown> {
  return new Promise((resolve) => lookup(host, {}, (error, address) => resolve(error?.code ?? address)))
}
