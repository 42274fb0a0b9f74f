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

it('forgets answers that nobody has asked for lately, where there are many, and keeps no long ones', () => {
  const { cache } = cacheAt(1_000)
  for (let index = 0; index < 1_001; index += 1) cache.keeping(`${index}`)(answer)
  cache.keeping('long')({ records: Array.from({ length: 1_001 }, () => new Map()), count: undefined })

  expect([cache.get('0'), cache.get('long')]).toEqual([undefined, undefined])
  expect(cache.get('1000')).toBe(answer)
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
