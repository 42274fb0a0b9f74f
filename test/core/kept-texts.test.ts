/** docs/contract.md#manifest: however many ask for a document that is not there yet, it is built once, and takes the memory of one. */
import { expect, it } from 'vitest'
import { createKeptTexts } from '../../src/services/documents/kept-texts.ts'

/** As it is kept: bytes that are sent are not made anew for each answer. */
const text = new TextEncoder().encode('text')

/** Builds that are under way at once, at most, and how many there were. */
function counted() {
  const counts = { builds: 0, now: 0, most: 0 }
  const build = (result: string | undefined) => async () => {
    counts.builds += 1
    counts.now += 1
    counts.most = Math.max(counts.most, counts.now)
    await new Promise((resolve) => setTimeout(resolve, 20))
    counts.now -= 1
    return result
  }
  return { counts, build }
}

it('builds a text once for all who ask for it meanwhile, and keeps it', async () => {
  const texts = createKeptTexts()
  const { counts, build } = counted()
  const load = () => texts.load('whole', build('text'))

  expect(new Set(await Promise.all(Array.from({ length: 50 }, load)))).toEqual(new Set([text]))
  expect(await load()).toBe(await load())
  expect(counts).toMatchObject({ builds: 1, most: 1 })
})

it('builds documents side by side', async () => {
  const texts = createKeptTexts()
  const { counts, build } = counted()

  await Promise.all(Array.from({ length: 4 }, (_, n) => texts.load(`part ${n}`, build('text'))))

  expect(counts).toMatchObject({ builds: 4, most: 4 })
})

it('keeps neither what is no text nor what failed, and lets the next one build', async () => {
  const texts = createKeptTexts()
  const { counts, build } = counted()
  const place = 'whole'
  const failed = texts.load(place, async () => {
    await build('text')()
    throw new Error('broken')
  })
  const streamed = texts.load(place, build(undefined))

  await expect(failed).rejects.toThrow('broken')
  expect(await streamed).toBeUndefined()
  expect(await texts.load(place, build('text'))).toEqual(text)
  expect(counts).toMatchObject({ builds: 3, most: 1 })
})

it('forgets the oldest texts where all of them are too long', async () => {
  const texts = createKeptTexts()
  const { counts, build } = counted()
  const long = 'x'.repeat(12 * 1024 * 1024)
  const load = (key: string) => texts.load(key, build(long))

  for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await load(key)
  expect(counts.builds).toBe(4)
})
