import { expect, it } from 'vitest'
import { type Granted, validRows, visibility, waysToChange, writableRows } from '../../../src/core/access/access.ts'
import { viewerOf } from '../../../src/core/access/merge.ts'
import { parsePolicy } from '../../../src/core/access/policy.ts'
import { noRights, type Rights } from '../../../src/core/access/principal.ts'
import { bindTimeVariable } from '../../../src/core/access/variable.ts'
import type { Collection } from '../../../src/core/model/model.ts'
import { build } from '../../support/data/build.ts'

const model = build.model({
  articles: { id: 'int64', title: 'string', status: 'string', owner: 'uuid?', at: 'dateTimeWithTimezone' },
})
const articles = model.byName.get('articles') as Collection
const user = '11111111-2222-4333-8444-555555555555'

function rightsOf(contents: readonly unknown[], userId: string | null = user): Rights {
  return {
    ...noRights,
    kind: 'policies',
    userId: userId ?? undefined,
    policies: contents.map((content) => parsePolicy(content, model)),
  } as Rights
}

function readOf(contents: readonly unknown[]): Granted {
  return viewerOf(rightsOf(contents), model).accessTo(articles, 'read') as Granted
}

const live = { collections: { articles: { read: { fields: ['title'], filter: { status: { _eq: 'live' } } } } } }
const own = { collections: { articles: { read: { filter: { owner: { _eq: '$CURRENT_USER' } } } } } }
const field = (name: string) => articles.fields.get(name) ?? articles.primitives[0]

it('denies what no policy speaks of', () => {
  expect(viewerOf(rightsOf([live]), model).accessTo(articles, 'delete')).toEqual({ kind: 'denied' })
  expect(viewerOf(noRights, model).accessTo(articles, 'read')).toEqual({ kind: 'denied' })
})

it('unites the rows of several policies', () => {
  expect(readOf([live, own]).rows).toMatchObject({ kind: 'or', filters: [{ operand: 'live' }, { operand: user }] })
})

it('shows a field only in rows of a policy that admits the field', () => {
  const access = readOf([live, own])

  expect(visibility(access, field('title') as never)).toEqual({ kind: 'all' })
  expect(visibility(access, field('status') as never)).toMatchObject({ kind: 'compare', operand: user })
  expect(visibility(readOf([live]), field('status') as never)).toBeUndefined()
})

it('hides nothing in some rows where all policies have the same rows', () => {
  const other = { collections: { articles: { read: { fields: ['status'], filter: { status: { _eq: 'live' } } } } } }
  const access = readOf([live, other])

  expect(access.rows).toMatchObject({ kind: 'compare', operand: 'live' })
  expect(visibility(access, field('title') as never)).toEqual({ kind: 'all' })
  expect(visibility(access, field('status') as never)).toEqual({ kind: 'all' })
  expect(visibility(access, field('owner') as never)).toBeUndefined()
})

it('lets all clear filter, fields and validation', () => {
  expect(readOf([live, { collections: { articles: { read: 'all' } } }]).rows).toEqual({ kind: 'all' })
})

it('admits an anonymous caller to nothing by a policy that names the current user', () => {
  const access = viewerOf(rightsOf([own], null), model).accessTo(articles, 'read')

  expect(access.kind).toBe('denied')
})

it('asks of a written field one policy that allows it before and after', () => {
  const contents = [
    { collections: { articles: { update: { fields: ['title'], validation: { title: { _neq: '' } } } } } },
    { collections: { articles: { update: { fields: ['status'], filter: { status: { _eq: 'draft' } } } } } },
  ]
  const access = viewerOf(rightsOf(contents), model).accessTo(articles, 'update') as Granted
  const [title, status] = [field('title')?.id ?? '', field('status')?.id ?? '']

  expect(writableRows(access, [title])).toEqual({ kind: 'all' })
  expect(writableRows(access, [title, status])).toMatchObject({ kind: 'compare', operand: 'draft' })
  expect(validRows(access, [title])).toMatchObject({ kind: 'compare', operator: '<>' })
})

it('keeps what a check admits before a change apart from what it lets rows become', () => {
  const contents = [
    { collections: { articles: { update: { filter: { status: 'paid' }, check: { status: 'shipped' } } } } },
    { collections: { articles: { update: { filter: { status: 'draft' } } } } },
    { collections: { articles: { update: { filter: { status: 'new' } } } } },
  ]
  const access = viewerOf(rightsOf(contents), model).accessTo(articles, 'update') as Granted

  const [ways = [], ...more] = waysToChange(access, [field('title')?.id ?? '', field('status')?.id ?? ''])

  expect(more).toEqual([])
  expect(ways).toMatchObject([
    { before: { operands: ['draft', 'new'] }, after: { operands: ['draft', 'new'] } },
    { before: { operand: 'paid' }, after: { operand: 'shipped' } },
  ])
})

it('wants what a check lets rows become to be valid', () => {
  const update = { filter: { status: 'paid' }, check: { status: 'shipped' }, validation: { title: { _neq: '' } } }
  const rights = rightsOf([{ collections: { articles: { update } } }])
  const access = viewerOf(rights, model).accessTo(articles, 'update') as Granted

  const ways = waysToChange(access, [field('status')?.id ?? ''])

  expect(ways).toMatchObject([[{ valid: { kind: 'and', filters: [{ operand: 'shipped' }, { operator: '<>' }] } }]])
})

it('leaves the time to the moment at which a statement runs', () => {
  const access = readOf([{ collections: { articles: { read: { filter: { at: { _gt: '$NOW(-7 days)' } } } } } }])

  const weekAgo = { kind: 'now', offset: -604_800_000, type: 'dateTimeWithTimezone' } as const
  expect(access.rows).toMatchObject({ operand: weekAgo })
  expect(bindTimeVariable(weekAgo, Date.UTC(2026, 0, 8))).toBe('2026-01-01T00:00:00.000Z')
  expect(bindTimeVariable({ kind: 'now', offset: 0, type: 'date' }, Date.UTC(2026, 0, 8))).toBe('2026-01-08')
})
