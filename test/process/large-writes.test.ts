/** A write of as many changes as one may ask for is planned, compiled and sent in parts, so that others have their turn meanwhile. */
import { expect, it } from 'vitest'
import { fullAccess, type Viewer } from '../../src/core/access/access.ts'
import { planCreate } from '../../src/core/plan/write.ts'
import { parseBrackets } from '../../src/core/query/brackets.ts'
import { parseItemQuery } from '../../src/core/query/parse.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'
import { compileWrite } from '../../src/core/sql/write.ts'
import { inParts } from '../../src/sources/in-parts.ts'
import { build } from '../support/data/build.ts'

const COUNT = 15_000

const model = build.model({ authors: { id: 'int32' }, posts: { id: 'int32', authorId: 'int32?', title: 'string?' } }, [
  'posts.author(authorId) -> authors.posts',
])
const viewer: Viewer = { accessTo: () => fullAccess, seesModel: true }

it('a nested write of thousands of items leaves turns to others while it is planned, and while it is compiled', async () => {
  const planned = await turnsDuring(() => inParts(planCreate(request(), [author(COUNT)], 1_000)))
  const compiled = await turnsDuring(() => inParts(compileWrite(planned.result, postgres)))

  expect(compiled.result.statements.length).toBe(COUNT / 500 + 2)
  expect(planned.turns).toBeGreaterThan(30)
  expect(compiled.turns).toBeGreaterThan(60)
})

it('a small one needs no turn', () => {
  const plan = inParts(planCreate(request(), [author(20)], 1_000))

  expect(plan).not.toBeInstanceOf(Promise)
})

async function turnsDuring<Result>(work: () => Result | Promise<Result>) {
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 0)
  const result = await work()
  clearInterval(timer)
  return { result, turns }
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
