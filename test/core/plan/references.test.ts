import { describe, expect, it } from 'vitest'
import { denied, fullAccess } from '../../../src/core/access/access.ts'
import type { DefaultValue, EngineDefault } from '../../../src/core/model/model.ts'
import { cellOf } from '../../../src/core/plan/cells.ts'
import {
  isSelfReference,
  isWithoutReference,
  targetCells,
  writtenReferences,
} from '../../../src/core/plan/references.ts'
import { articles, author, authors, column, editor, only, parent, viewer } from './blog.ts'

const authorId = column(articles, 'authorId')
const parentId = column(articles, 'parentId')
const id = column(articles, 'id')
const text = (field: typeof id, value: string | null) => cellOf({ field, value })

describe('what a write refers to', () => {
  const some = viewer({ authors: only(['id'], authors, { kind: 'none' }) })

  it('is looked at where the caller does not read all of it', () => {
    const found = writtenReferences(some, articles, ['authorId', 'title', 'parentId'])

    expect(found.map(({ relation }) => relation)).toEqual([author])
    expect(found[0]?.rows).toEqual({ kind: 'none' })
  })

  it('is not looked at where its columns are not written, or the caller reads every row', () => {
    expect(writtenReferences(some, articles, ['title'])).toEqual([])
    expect(writtenReferences(viewer({ authors: fullAccess }), articles, ['authorId', 'editorId'])).toEqual([])
  })

  it('is looked at where a default gives its column, and only of what uses that', () => {
    const withDefault = (defaultValue: DefaultValue | null, isReadOnly = false) => {
      const own = { ...authorId, defaultValue, isReadOnly }
      return { ...articles, relations: [{ ...author, joins: author.joins.map(({ other }) => ({ own, other })) }] }
    }
    const looked = (action: 'create' | 'update', ...field: Parameters<typeof withDefault>) =>
      writtenReferences(some, withDefault(...field), ['title'], action).length
    const given = (onCreate: EngineDefault): DefaultValue => ({ source: 'engineManaged', onCreate })

    expect(looked('create', given({ kind: 'static', valueEncoded: '7' }))).toBe(1)
    expect(looked('create', given({ kind: 'uuid' }))).toBe(1)
    expect(looked('create', { source: 'connectorManaged' })).toBe(1)
    expect(looked('create', null, true)).toBe(1)
    expect(looked('create', given({ kind: 'static', valueEncoded: null }))).toBe(0)
    expect(looked('create', null)).toBe(0)
    expect(looked('update', given({ kind: 'static', valueEncoded: '7' }))).toBe(0)
    expect(looked('update', { source: 'engineManaged', onUpdate: { kind: 'now' } })).toBe(1)
  })

  it('is no row at all where the caller reads none, or not the key', () => {
    const blind = writtenReferences(viewer({ authors: denied }), articles, ['editorId'])
    const keyless = writtenReferences(viewer({ authors: only(['name'], authors) }), articles, ['editorId'])

    expect(blind).toMatchObject([{ relation: editor, rows: { kind: 'none' } }])
    expect(keyless).toEqual(blind)
  })

  it('tells nothing where it is in another data source', () => {
    const elsewhere = { ...articles, sourceId: 'other' }

    expect(writtenReferences(some, elsewhere, ['authorId'])).toEqual([])
  })
})

it('cells lead to the far key once all of them are there', () => {
  expect(targetCells(author, [text(authorId, '7')])).toEqual([text(column(authors, 'id'), '7')])
  expect(targetCells(author, [text(id, '7')])).toBeUndefined()
})

it('a null refers to nothing', () => {
  expect(isWithoutReference(author, [text(authorId, null)])).toBe(true)
  expect(isWithoutReference(author, [text(authorId, '7')])).toBe(false)
  expect(isWithoutReference(author, [text(parentId, null)])).toBe(false)
})

it('a row refers to itself by its own key, in its own collection', () => {
  const wanted = [text(id, '7')]

  expect(isSelfReference(parent, [text(id, '7'), text(parentId, '7')], wanted)).toBe(true)
  expect(isSelfReference(parent, [text(id, '8'), text(parentId, '7')], wanted)).toBe(false)
  expect(isSelfReference(parent, [text(parentId, '7')], wanted)).toBe(false)
  expect(isSelfReference(author, [text(id, '7')], wanted)).toBe(false)
})
