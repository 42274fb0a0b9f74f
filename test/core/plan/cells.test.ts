import { expect, it } from 'vitest'
import { cellOf, foreignKey, keyCells, linkIds, unlinking } from '../../../src/core/plan/cells.ts'
import { articles, author, authors, column, parent } from './blog.ts'

const slot = { number: 3, collection: authors }
const authorId = column(articles, 'authorId')
const id = column(authors, 'id')

it('a foreign key takes what a slot has kept of the far key', () => {
  expect(foreignKey(author, slot)).toEqual([{ field: authorId, value: { kind: 'kept', slot, field: id } }])
})

it('a link is taken away by nulls in its columns', () => {
  expect(unlinking(author)).toEqual([{ field: authorId, value: { kind: 'text', text: null } }])
})

it('the row of a slot is told by its key', () => {
  expect(keyCells(slot)).toEqual([{ field: id, value: { kind: 'kept', slot, field: id } }])
})

it('an assignment is a cell with a text', () => {
  expect(cellOf({ field: id, value: '7' })).toEqual({ field: id, value: { kind: 'text', text: '7' } })
})

it('the far end of a link is the relation back, or else the columns, or nothing', () => {
  expect(linkIds(author)).toEqual([author.opposite?.id])
  expect(linkIds(parent)).toEqual([column(articles, 'id').id])
  expect(linkIds(undefined)).toEqual([])
})
