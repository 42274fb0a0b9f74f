/** docs/contract.md#passwords: passwords are hashed in turns, so that who signs in holds up nobody else for long. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { afterEach, expect, it, vi } from 'vitest'
import { createScryptPasswords } from '../../src/platform/password.ts'
import { type Hashing, inTurn, type PasswordTurns } from '../../src/platform/password-turns.ts'

const scrypt = createScryptPasswords({ N: 2 ** 13, r: 8, p: 1 })
const node: PasswordTurns = { atOnce: 2, rest: 0, ofOrigin: 16 }

afterEach(() => {
  vi.useRealTimers()
})

it('hashes as many at a time as it is allowed to, in the order they came', async () => {
  const { hashing, seen } = counted()
  const passwords = inTurn(hashing, node)

  await Promise.all(
    Array.from({ length: 20 }, (_, index) => passwords.verify(String(index), undefined, `origin ${index}`)),
  )

  expect(seen).toMatchObject({ most: 2, all: 20 })
  // Which of two that go on at once ends first, the threads decide.
  expect(seen.begun.filter((index, place) => Math.abs(index - place) > 1)).toEqual([])
})

it('refuses what one origin sends beyond its number, and lets another one in', async () => {
  const passwords = inTurn(scrypt, node)
  const many = Promise.allSettled(Array.from({ length: 20 }, () => passwords.verify('secret', undefined, 'one')))
  const other = passwords.verify('secret', await scrypt.hash('secret'), 'another')

  const outcomes = await many

  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(16)
  expect(outcomes.at(-1)).toMatchObject({ reason: { kind: 'throttled', meta: { retryAfter: 1 } } })
  expect(await other).toBe(true)
  expect(await passwords.verify('secret', undefined, 'one')).toBe(false)
})

it('refuses what is beyond 64 of all, hashes of new passwords too', async () => {
  const passwords = inTurn(scrypt, node)
  const many = Array.from({ length: 64 }, (_, index) => passwords.verify('secret', undefined, `origin ${index}`))

  await expect(passwords.hash('secret')).rejects.toMatchObject({ kind: 'unavailable', meta: { retryAfter: 5 } })
  expect(await Promise.all(many)).toEqual(Array(64).fill(false))
  expect(await passwords.hash('secret')).toContain('scrypt$')
})

it('leaves threads for what else the process does', async () => {
  const { hashing, seen } = counted()
  const passwords = inTurn(hashing, node)
  const many = Promise.all(
    Array.from({ length: 60 }, (_, index) => passwords.verify('secret', undefined, `origin ${index}`)),
  )

  await promisify(gzip)('a text')

  expect(seen.all).toBeLessThan(20)
  await many
})

it('goes on where a hash never ends, since its client has gone', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  const { promise: never } = Promise.withResolvers<boolean>()
  const verify = vi.fn<Hashing['verify']>().mockReturnValueOnce(never).mockResolvedValue(true)
  const passwords = inTurn({ hash: scrypt.hash, verify }, { atOnce: 1, rest: 100, ofOrigin: 16 })
  void passwords.verify('secret', undefined, 'gone')
  const next = passwords.verify('secret', undefined, 'next')

  await vi.advanceTimersByTimeAsync(9_900)
  const before = verify.mock.calls.length
  await vi.advanceTimersByTimeAsync(300)

  expect(before).toBe(1)
  expect(await next).toBe(true)
})

it('rests after each hash where there is one thread for everything', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  const verify = vi.fn<Hashing['verify']>().mockResolvedValue(true)
  const passwords = inTurn({ hash: scrypt.hash, verify }, { atOnce: 1, rest: 100, ofOrigin: 16 })
  const all = Promise.all(Array.from({ length: 5 }, () => passwords.verify('secret', undefined, 'one')))

  await vi.advanceTimersByTimeAsync(250)
  const early = verify.mock.calls.length
  await vi.advanceTimersByTimeAsync(1_000)

  expect(early).toBeLessThanOrEqual(3)
  expect(await all).toHaveLength(5)
})

/** The real hashes, with how many went on at a time. */
function counted() {
  const seen = { now: 0, most: 0, all: 0, begun: [] as number[] }
  const hashing: Hashing = {
    hash: scrypt.hash,
    async verify(...given) {
      seen.begun.push(Number(given[0]))
      seen.now += 1
      seen.all += 1
      seen.most = Math.max(seen.most, seen.now)
      try {
        return await scrypt.verify(...given)
      } finally {
        seen.now -= 1
      }
    },
  }
  return { hashing, seen }
}
