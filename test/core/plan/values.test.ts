import { describe, expect, it } from 'vitest'
import { fullAccess } from '../../../src/core/access/access.ts'
import { isObject } from '../../../src/core/json-object.ts'
import type { Collection, PrimitiveField } from '../../../src/core/model/model.ts'
import {
  columnValue,
  createAssignments,
  createColumns,
  memberPath,
  parseBody,
  splitBody,
  updateAssignments,
  valueFor,
  type WriteContext,
} from '../../../src/core/plan/values.ts'
import { articles, author, authors, column, refusal, viewer } from './blog.ts'

const generators = { uuid: () => 'a-uuid', now: () => '2026-01-02T03:04:05.678Z' }
const uuid: PrimitiveField = {
  ...column(authors, 'name'),
  defaultValue: { source: 'engineManaged', onCreate: { kind: 'uuid' } },
}
const withDefault: Collection = {
  ...authors,
  primitives: authors.primitives.map((field) => (field.apiName === 'name' ? uuid : field)),
}

function contextOf(collection: Collection): WriteContext {
  return { viewer: viewer(), collection, action: 'create', access: fullAccess, generators }
}

const texts = (assignments: ReturnType<typeof createAssignments>) =>
  assignments.map(({ field, value }) => [field.apiName, value])

describe('a new item', () => {
  it('has the members sent, as texts of their columns', () => {
    const body = { id: 1, name: 'Ada', tags: ['math'] }

    expect(texts(createAssignments(contextOf(authors), body, ''))).toEqual([
      ['id', '1'],
      ['name', 'Ada'],
      ['tags', expect.any(String)],
    ])
  })

  it('is refused where something required is missing, unless it comes from elsewhere', () => {
    const body = { id: 1, title: 'a' }

    expect(refusal(() => createAssignments(contextOf(articles), body, '[2]'))).toMatch(/\[2\]\.editorId.*is required/)
    const elsewhere = new Set([column(articles, 'editorId').id])
    expect(texts(createAssignments(contextOf(articles), body, '', elsewhere))).toEqual([
      ['id', '1'],
      ['title', 'a'],
    ])
  })

  it('is given the defaults that are the engine’s', () => {
    const columns = createColumns(contextOf(withDefault), ['id', 'tags'], '')
    const own = columns.find(({ field }) => field === uuid)

    expect(own?.member).toBeUndefined()
    expect(columns.map((one) => columnValue(one, { id: 1, tags: [] }, generators))).toContain('a-uuid')
  })

  it.each([
    ['a relation among the columns', { author: {} }, /author.*is a relation/],
    ['a null where none may be', { title: null }, /title.*must not be null/],
    ['what the type does not take', { title: 1 }, /title/],
    ['a field that does not exist', { nothing: 1 }, /is not a field of articles/],
  ])('is refused for %s', (_, body, message) => {
    expect(
      refusal(() => createAssignments(contextOf(articles), { id: 1, editorId: 1, title: 'a', ...body }, '')),
    ).toMatch(message)
  })
})

it('an update changes what is sent, and what renews itself', () => {
  const renewed: PrimitiveField = {
    ...column(authors, 'name'),
    type: { name: 'dateTimeWithTimezone' },
    defaultValue: { source: 'engineManaged', onUpdate: { kind: 'now' } },
  } as PrimitiveField
  const collection = { ...authors, primitives: [renewed] }

  expect(texts(updateAssignments(contextOf(collection), { id: 2 }, ''))).toEqual([
    ['id', '2'],
    ['name', expect.stringContaining('2026-01-02')],
  ])
  expect(texts(updateAssignments(contextOf(authors), {}, ''))).toEqual([])
})

it('relations are told from columns', () => {
  const { columns, relations } = splitBody(contextOf(articles), { title: 'a', author: { _connect: {} } }, '')

  expect({ ...columns }).toEqual({ title: 'a' })
  expect(relations).toEqual([[author, { _connect: {} }]])
})

it('a body is an object', () => {
  expect([{}, [], null, 'a', 1].map(isObject)).toEqual([true, false, false, false, false])
  expect(parseBody({ a: 1 }, 'x')).toEqual({ a: 1 })
  expect(refusal(() => parseBody([], '[3]'))).toMatch(/\[3\].*must be an object/)
})

it('a place grows by the names of members', () => {
  expect([memberPath('', 'title'), memberPath('[2]', 'title')]).toEqual(['title', '[2].title'])
})

it('one value becomes the text of its column', () => {
  expect(valueFor(column(articles, 'authorId'), null, 'x')).toBeNull()
  expect(valueFor(column(articles, 'authorId'), 7, 'x')).toBe('7')
  expect(refusal(() => valueFor(column(articles, 'editorId'), null, 'x'))).toMatch(/x.*must not be null/)
})
