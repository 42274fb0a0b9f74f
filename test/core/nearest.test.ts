/** Which name is told where somebody slipped, and which members a schema tells of. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { knownMembers } from '../../src/core/known-members.ts'
import { didYouMean, nearestName } from '../../src/core/nearest.ts'

describe('the nearest name', () => {
  const names = ['title', 'author', 'publishedAt', 'id', 'price']

  it.each([
    ['titel', 'title'],
    ['tittle', 'title'],
    ['titl', 'title'],
    ['Title', 'title'],
    ['published_at', 'publishedAt'],
    ['autor', 'author'],
    ['prize', 'price'],
    ['ids', 'id'],
  ])('of %s is %s', (sent, meant) => {
    expect(nearestName(sent, names)).toBe(meant)
  })

  it.each(['', 'name', 'x', 'description', 'titles of books', 'x'.repeat(10_000)])('of %j is none', (sent) => {
    expect(nearestName(sent, names)).toBeUndefined()
    expect(didYouMean(sent, names)).toBe('')
  })

  it('is the first of those that are equally near', () => {
    expect(nearestName('cat', ['bat', 'hat'])).toBe('bat')
    expect(nearestName('hat', ['bat', 'hat'])).toBe('hat')
  })

  it('says so', () => {
    expect(didYouMean('titel', names)).toBe('; did you mean title?')
  })
})

describe('the members that a schema knows', () => {
  const schema = z.strictObject({
    name: z.string(),
    lists: z.array(z.strictObject({ first: z.string() })).optional(),
    either: z.union([z.literal('all'), z.strictObject({ fields: z.string() }), z.strictObject({ filter: z.string() })]),
    byName: z.record(z.string(), z.strictObject({ read: z.string().nullable() }).nullable()),
    made: z.strictObject({ from: z.string() }).transform(({ from }) => from),
  })

  it.each([
    [[], ['name', 'lists', 'either', 'byName', 'made']],
    [['lists', 3], ['first']],
    [['either'], ['fields', 'filter']],
    [['byName', 'articles'], ['read']],
    [['made'], ['from']],
    [['name', 'length'], []],
    [['nowhere'], []],
  ])('at %j are %j', (path, members) => {
    expect(knownMembers(schema, path)).toEqual(members)
  })
})
