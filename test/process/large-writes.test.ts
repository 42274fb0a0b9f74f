/** A write of as many changes as one may ask for is planned, compiled and sent in parts, so that others have their turn meanwhile. */
import { afterEach, expect, it, vi } from 'vitest'
import { fullAccess, type Viewer } from '../../src/core/access/access.ts'
import type { Parts } from '../../src/core/parts.ts'
import { planCreate } from '../../src/core/plan/write.ts'
import { parseBrackets } from '../../src/core/query/brackets.ts'
import { parseItemQuery } from '../../src/core/query/parameters.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { compileBatch } from '../../src/core/sql/write/batch.ts'
import { inParts } from '../../src/sources/in-parts.ts'
import { build } from '../support/data/build.ts'
import { aloneIn } from '../support/data/write-statements.ts'

const COUNT = 15_000

const model = build.model({ authors: { id: 'int32' }, posts: { id: 'int32', authorId: 'int32?', title: 'string?' } }, [
  'posts.author(authorId) -> authors.posts',
])
const viewer: Viewer = { accessTo: () => fullAccess, seesModel: true }

afterEach(() => vi.useRealTimers())

it('a nested write of thousands of items is planned and compiled in parts, at least one for each item', () => {
  const planned = partsOf(planCreate(request(), [author(COUNT)], 1_000))
  const compiled = partsOf(compileBatch(aloneIn(planned.result), postgres))

  expect(compiled.result.operations.length).toBe(COUNT / 500 + 2)
  expect(planned.count).toBeGreaterThanOrEqual(COUNT)
  expect(compiled.count).toBeGreaterThanOrEqual(COUNT)
})

it('others have a turn between two parts that last', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  let turns = 0
  // In line like the pauses: timers that are due run in the order in which they were set.
  const count = () => {
    turns += 1
    others = setTimeout(count, 0)
  }
  let others = setTimeout(count, 0)

  const seen = await inParts(lasting(5, () => turns))
  clearTimeout(others)

  expect(new Set(seen).size).toBe(5)
})

it('a small one needs no turn', () => {
  // The clock stands still, so that what else the machine does is not counted.
  vi.useFakeTimers({ toFake: ['performance'] })

  const plan = inParts(planCreate(request(), [author(20)], 1_000))

  expect(plan).not.toBeInstanceOf(Promise)
})

/** Parts of 10 ms each by the clock, which stands still otherwise; what `look` returns in each of them. */
function* lasting(count: number, look: () => number): Parts<readonly number[]> {
  const seen: number[] = []
  for (let part = 0; part < count; part += 1) {
    seen.push(look())
    vi.advanceTimersByTime(10)
    yield
  }
  return seen
}

function partsOf<Result>(parts: Parts<Result>) {
  for (let count = 0; ; count += 1) {
    const part = parts.next()
    if (part.done === true) return { result: part.value, count }
  }
}

function author(count: number) {
  const data = Array.from({ length: count }, (_, id) => ({ id, title: 'y' }))
  return { id: 1, posts: [{ _create: { data } }] }
}

function request() {
  const collection = model.byName.get('authors')
  if (collection === undefined) throw new Error('a collection is missing')
  const limits = { default: 100, max: 1_000 }
  const read = { viewer, collection, access: fullAccess, limits, maxRows: 100_000 }
  return {
    viewer,
    collection,
    generators: { uuid: () => '', now: () => '' },
    read,
    query: () => parseItemQuery(parseBrackets('')),
  }
}
