import { expect, it } from 'vitest'
import { parsePolicy, policyReferences, presentPolicy } from '../../../src/core/access/policy.ts'
import { errorBody, ServiceError } from '../../../src/core/error.ts'
import { build } from '../../support/data/build.ts'

const model = build.model(
  {
    articles: { id: 'int64', title: 'string', status: 'string', authorId: 'int64?', details: 'json?' },
    authors: { id: 'int64', name: 'string', userId: 'uuid?' },
  },
  ['articles.author(authorId) -> authors.articles'],
)
const articles = model.byName.get('articles')
const idOf = (name: string) => articles?.fields.get(name)?.id ?? ''

function refusalOf(content: unknown): string {
  try {
    parsePolicy(content, model)
  } catch (error) {
    if (error instanceof ServiceError) return JSON.stringify(errorBody(error))
    throw error
  }
  return 'accepted'
}

it('stores collections and fields by id, so that no right passes to a name that is used again', () => {
  const content = parsePolicy(
    { collections: { articles: { read: { fields: ['title'], filter: { status: { _eq: 'live' } } } } } },
    model,
  )

  expect(content.collections).toEqual({
    [articles?.id ?? '']: { read: { fields: [idOf('title')], filter: { [idOf('status')]: { _eq: 'live' } } } },
  })
})

it('shows what it stored under the names of today', () => {
  const sent = {
    entitlements: ['dataModel:read'],
    collections: {
      articles: {
        read: {
          fields: ['title', 'author'],
          filter: { _or: [{ status: { _eq: 'live' } }, { author: { userId: { _eq: '$CURRENT_USER' } } }] },
        },
        create: { fields: '*', validation: { title: { _neq: '' } } },
        delete: 'all',
      },
    },
  }

  expect(presentPolicy(parsePolicy(sent, model), model)).toEqual(sent)
})

it.each([
  [{ collections: { nope: {} } }, 'content.collections.nope'],
  [{ collections: { articles: { read: { fields: ['nope'] } } } }, 'is not a field of articles'],
  [{ collections: { articles: { read: { filter: { nope: { _eq: 1 } } } } } }, 'is not a field of articles'],
  [{ collections: { articles: { read: { filter: { title: { _foo: 1 } } } } } }, 'is not an operator of string'],
  [{ collections: { articles: { read: { filter: { title: { _eq: '$NOBODY' } } } } } }, 'is not a variable'],
  [
    { collections: { articles: { read: { filter: { title: { _neq: '$CURRENT_USER.email' } } } } } },
    'is not a variable',
  ],
  [
    { collections: { articles: { read: { filter: { title: { _eq: '$NOW' } } } } } },
    'can only be compared with a date or a time',
  ],
  [{ collections: { articles: { delete: { validation: {} } } } }, 'unknown field'],
  [{ collections: { articles: { destroy: 'all' } } }, 'unknown field destroy'],
  [{ entitlements: ['everything'] }, 'content.entitlements[0]'],
  [{ more: 1 }, 'unknown field more'],
])('refuses %j', (content, reason) => {
  expect(refusalOf(content)).toContain(reason)
})

it.each([
  '$CURRENT_USER->email',
  '$CURRENT_USER:x',
  '$CURRENT_USER ',
  '$current_user',
  '$Current_Roles',
  '$now',
  '$_',
  '$a',
])('refuses %j, which begins as a variable does', (title) => {
  expect(refusalOf({ collections: { articles: { read: { filter: { title: { _neq: title } } } } } })).toContain(
    'is not a variable',
  )
})

it.each(['$5 off', '$', '$ 5', '$$', '$-'])('takes %j for the text that it is', (title) => {
  const content = { collections: { articles: { read: { filter: { title: { _eq: title } } } } } }

  expect(presentPolicy(parsePolicy(content, model), model)).toMatchObject(content)
})

it('tells every field that its lists and filters use', () => {
  const content = parsePolicy(
    { collections: { articles: { update: { fields: ['title'], filter: { author: { name: { _eq: 'x' } } } } } } },
    model,
  )

  const nameId = model.byName.get('authors')?.fields.get('name')?.id
  expect([...policyReferences(content).fieldIds].sort()).toEqual([idOf('title'), idOf('author'), nameId].sort())
})

it.each([
  { _eq: { by: 'x' } },
  { _neq: { by: { at: 1 } } },
  { _contains: { tags: [{ by: 'x' }] } },
  { _path: ['by'], _eq: 'x' },
])('takes no member of an operand for a field: %j', (test) => {
  const filter = { _and: [{ _not: { details: test } }, { author: { articles: { _none: { details: test } } } }] }

  const content = parsePolicy({ collections: { articles: { read: { filter } } } }, model)

  const used = [idOf('details'), idOf('author'), model.byName.get('authors')?.fields.get('articles')?.id]
  expect([...policyReferences(content).fieldIds].sort()).toEqual(used.sort())
})
