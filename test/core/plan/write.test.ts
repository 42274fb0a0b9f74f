import { describe, expect, it } from 'vitest'
import { fullAccess } from '../../../src/core/access/access.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { decodeKey, keyEquals, keyFields, type SentKey } from '../../../src/core/plan/item-key.ts'
import { addCreate, addUpdate } from '../../../src/core/plan/nested-write.ts'
import { addDelete, addFind, createProgram } from '../../../src/core/plan/program.ts'
import { uniqueSets } from '../../../src/core/plan/program-references.ts'
import {
  planCreate,
  planDeleteMany,
  planDeleteOne,
  planPlainInsert,
  planUpdateMany,
  planUpdateOne,
  singleItem,
  type WriteRequest,
} from '../../../src/core/plan/write.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseListQuery } from '../../../src/core/query/parameters.ts'
import { articles, authors, column, contextOf, only, refusal, viewer } from './blog.ts'

const generators = { uuid: () => 'a-uuid', now: () => '2026-01-02T03:04:05.678Z' }
const segment = (text: string): SentKey => ({ kind: 'segment', text })
const value = (of: unknown): SentKey => ({ kind: 'value', value: of })
const id = column(articles, 'id')
const title = column(articles, 'title')
const plain = { id: 1, title: 'a', editorId: 2 }

function requestOf(search = '', collection = articles): WriteRequest {
  return {
    viewer: viewer(),
    collection,
    generators,
    read: contextOf(collection),
    query: () => parseListQuery(parseBrackets(search)),
  }
}

describe('a creation', () => {
  it('of plain items is rows, one for each', () => {
    const plan = atOnce(planCreate(requestOf(), [plain, { ...plain, id: 2 }], 10))

    expect(plan).toMatchObject({ kind: 'create', rows: [{ length: 3 }, { length: 3 }] })
  })

  it('of nested items is a program, what is referred to first', () => {
    const nested = { id: 1, title: 'a', editor: { _create: { data: { id: 2, name: 'Ada', tags: [] } } } }

    const plan = atOnce(planCreate(requestOf(), [nested], 10))

    const inserts = plan.kind === 'program' ? plan.steps.filter(({ kind }) => kind === 'insert') : []
    expect(inserts.map((step) => 'into' in step && step.into.collection)).toEqual([authors, articles])
  })

  it('is an array of no more items than allowed', () => {
    expect(refusal(() => atOnce(planCreate(requestOf(), plain, 10)))).toMatch(/must be an array of items/)
    expect(refusal(() => atOnce(planCreate(requestOf(), [plain, plain], 1)))).toMatch(/has more than 1 items/)
  })
})

describe('the insert of one plain item', () => {
  it('is a plan for all items with the same members, and their values', () => {
    const insert = planPlainInsert(requestOf(), Object.keys(plain))
    const values = insert?.valuesOf(plain, generators)

    expect(insert?.plan.rows).toEqual([
      [
        { field: id, value: { kind: 'itemValue', index: 0 } },
        { field: column(articles, 'title'), value: { kind: 'itemValue', index: 1 } },
        { field: column(articles, 'editorId'), value: { kind: 'itemValue', index: 2 } },
      ],
    ])
    expect(values?.slice(0, 2)).toEqual(['1', 'a'])
    expect(values).toHaveLength(3)
  })

  it('is none where an item holds a relation or a list', () => {
    expect(planPlainInsert(requestOf(), ['id', 'title', 'editor'])).toBeUndefined()
    expect(planPlainInsert(requestOf('', authors), ['id', 'name', 'tags'])).toBeUndefined()
  })

  it('is told by its body', () => {
    expect([[plain], [plain, plain], [1], plain].map(singleItem)).toEqual([plain, undefined, undefined, undefined])
  })
})

describe('a change', () => {
  it('of one item is told by its key', () => {
    expect(atOnce(planUpdateOne(requestOf(), { title: 'b' }, segment('7')))).toMatchObject({ kind: 'update' })
    expect(atOnce(planDeleteOne(requestOf(), segment('7')))).toMatchObject({ kind: 'delete' })
    expect(refusal(() => atOnce(planDeleteOne(requestOf(), segment('x'))))).toMatch(/key/)
  })

  it('of many needs a filter', () => {
    const filtered = requestOf('filter[title][_eq]=a')

    expect(atOnce(planUpdateMany(filtered, { title: 'b' }))).toMatchObject({ kind: 'update' })
    expect(atOnce(planDeleteMany(filtered))).toMatchObject({ kind: 'delete' })
    expect(refusal(() => atOnce(planUpdateMany(requestOf(), { title: 'b' })))).toMatch(/filter: is required/)
    expect(refusal(() => atOnce(planDeleteMany(requestOf())))).toMatch(/filter: is required/)
  })
})

describe('a key', () => {
  it('has the fields that an address names, which a list cannot be', () => {
    expect(keyFields(articles)).toEqual([id])
    expect(refusal(() => keyFields({ ...articles, key: [] }))).toMatch(/articles has no key that an address can name/)
  })

  it('is read as its types say', () => {
    expect(decodeKey([id], segment('7'))).toEqual(['7'])
    expect(decodeKey([id, title], segment('7,a%2Cb'))).toEqual(['7', 'a,b'])
    expect(decodeKey([title, id], segment('"a,""b",7'))).toEqual(['a,"b', '7'])
    expect(decodeKey([title], segment('a,"b'))).toEqual(['a,"b'])
    expect(decodeKey([title], segment('%22%22'))).toEqual([''])
    expect(refusal(() => decodeKey([id], segment('seven')))).toMatch(/key: must be an integer/)
    expect(refusal(() => decodeKey([title, id], segment('7,seven')))).toMatch(/key: part 2 must be an integer/)
    expect(refusal(() => decodeKey([title, id], segment('7')))).toMatch(/key: must have 2 parts/)
    expect(refusal(() => decodeKey([title, id], segment('"7,7')))).toMatch(/key: has a quoted part without an end/)
  })

  it('is a value, or an object of its fields', () => {
    expect(decodeKey([id], value(7))).toEqual(['7'])
    expect(decodeKey([title], value('"%2C'))).toEqual(['"%2C'])
    expect(decodeKey([title, id], value({ id: '7', title: 'a' }))).toEqual(['a', '7'])
    expect(refusal(() => decodeKey([title, id], value('a,7')))).toMatch(/key: must be an object of the fields/)
    expect(refusal(() => decodeKey([title, id], value({ id: 7 })))).toMatch(/key: must have the fields/)
    expect(refusal(() => decodeKey([id], value([7])))).toMatch(/key: must hold texts and numbers/)
  })

  it('names nothing to whoever cannot read it', () => {
    expect(keyEquals(fullAccess, [id], ['7'])).toMatchObject({ kind: 'compare', operand: '7' })
    expect(keyEquals(only(['title'], articles), [title, id], ['a', '7'])).toEqual({ kind: 'none' })
  })

  it('is one of the sets that tell a row from all others', () => {
    expect(uniqueSets(articles)).toEqual([[id]])
  })
})

it('a program finds, changes, makes and deletes in the order in which it was told to', () => {
  const program = createProgram(viewer(), generators)

  const slot = addFind(program, articles, { where: { kind: 'all' } })
  atOnce(addUpdate(program, { body: { title: 'b' }, path: 'body' }, { slot, depth: 0, isOne: true }))
  const made = atOnce(addCreate(program, articles, { body: plain, path: 'body' }))
  addDelete(program, made)

  expect(program.steps.map(({ kind }) => kind)).toEqual(['find', 'update', 'insert', 'delete'])
  expect([slot.number, made.number]).toEqual([0, 1])
})
