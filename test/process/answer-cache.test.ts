/** docs/contract.md#cached-answers: how long answers of connectors are kept (SERVICE_SOURCES__CACHE_TTL). */
import { expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { createAnswerCache } from '../../src/sources/answer-cache.ts'

const answer = { records: [new Map([['id', '1']])], count: undefined }

function cacheAt(timeToLive: number) {
  let now = 0
  const cache = createAnswerCache({ clock: { now: () => now }, timeToLive })
  return {
    cache,
    wait: (milliseconds: number) => {
      now += milliseconds
    },
  }
}

it('keeps an answer for its time and no longer', () => {
  const { cache, wait } = cacheAt(1_000)
  cache.keeping('a')(answer)

  wait(999)
  expect(cache.get('a')).toBe(answer)
  wait(1)
  expect(cache.get('a')).toBeUndefined()
})

it('keeps nothing where the time is 0', () => {
  const { cache } = cacheAt(0)
  cache.keeping('a')(answer)

  expect(cache.get('a')).toBeUndefined()
})

it('does not keep what was asked before something was written', () => {
  const { cache } = cacheAt(1_000)
  const keep = cache.keeping('a')
  cache.clear()
  keep(answer)

  expect(cache.get('a')).toBeUndefined()
})

it('forgets the oldest answers where all together are long, and keeps none that is long by itself', () => {
  const { cache } = cacheAt(1_000)
  const ofLength = (length: number) => ({ records: [new Map([['text', 'x'.repeat(length)]])], count: undefined })
  for (let index = 0; index < 6; index += 1) cache.keeping(`${index}`)(ofLength(1_000_000))
  cache.keeping('large')(ofLength(5_000_000))
  cache.keeping('many')({ records: Array.from({ length: 1_001 }, () => new Map()), count: undefined })

  expect([0, 1, 2, 3, 4, 5].filter((index) => cache.get(`${index}`) !== undefined)).toEqual([2, 3, 4, 5])
  expect([cache.get('large'), cache.get('many')]).toEqual([undefined, undefined])
  for (let index = 0; index < 9_000; index += 1) cache.keeping(`small ${index}`)(answer)
  expect([cache.get('5'), cache.get('small 0'), cache.get('small 8999')]).toEqual([undefined, undefined, answer])
})

it.each([
  [undefined, 30_000],
  ['0', 0],
  ['0s', 0],
  ['5m', 300_000],
])('reads %s as %i ms', (text, expected) => {
  const reading = readConfig({ SERVICE_SOURCES__CACHE_TTL: text })

  expect(reading.kind === 'valid' && reading.config.SERVICE_SOURCES__CACHE_TTL).toBe(expected)
})
