/** docs/contract.md#history: which changes of a model have its database record otherwise, and what cannot be recorded. */
import { expect, it } from 'vitest'
import type { ModelRecords } from '../../../src/core/model/model.ts'
import {
  blog,
  createCollection,
  deleteCollection,
  deleteField,
  deleteIndex,
  field,
  id,
  index,
  type Json,
  migrate,
  refusal,
  toApiName,
  toDbName,
  toHistory,
  updateCollection,
  updateField,
  workspace,
} from './build.ts'

const recording = migrate(blog, updateCollection('articles', toHistory(true))).records

/** The kinds of the changes, with what is told of a history. */
function changes(records: ModelRecords, ...operations: readonly Json[]) {
  return migrate(records, ...operations).changes.map(({ operation, change }) => {
    if (change.kind === 'recordHistory') return [operation, change.kind, change.isNew ? 'new' : change.newFieldIds]
    return [operation, change.kind, ...(change.kind === 'endHistory' ? [change.isDropped ? 'dropped' : 'kept'] : [])]
  })
}

it('begins and ends with a collection that is told to', () => {
  const one = [field('notes.id', 'int64'), index('notes_pkey', 'primary', ['notes.id'])]

  expect(changes(blog, updateCollection('articles', toHistory(true)))).toEqual([[0, 'recordHistory', 'new']])
  expect(changes(recording, updateCollection('articles', toHistory(false)))).toEqual([[0, 'endHistory', 'kept']])
  expect(changes(recording, updateCollection('articles', toHistory(true)))).toEqual([])
  expect(changes(workspace, createCollection('notes', one, { hasHistory: true }))).toEqual([
    [0, 'createTable'],
    [0, 'recordHistory', 'new'],
  ])
  expect(migrate(recording, updateCollection('articles', toHistory(false))).records).toEqual(blog)
})

it('is recorded anew where columns are others, and only there', () => {
  const renamed = updateCollection('articles', updateField('articles.title', toDbName('heading')))
  const added = updateCollection('articles', field('articles.text', 'string', { isNullable: true }))
  const removed = updateCollection('articles', deleteIndex('articles_title'), deleteField('articles.title'))

  expect(changes(recording, renamed)).toEqual([
    [0, 'renameColumn'],
    [0, 'recordHistory', []],
  ])
  expect(changes(recording, added)).toEqual([
    [0, 'addColumn'],
    [0, 'recordHistory', [id('articles.text')]],
  ])
  expect(changes(recording, removed).at(-1)).toEqual([0, 'recordHistory', []])
  expect(changes(recording, updateCollection('articles', toApiName('texts'), toDbName('texts')))).toEqual([
    [0, 'renameTable'],
  ])
  expect(changes(recording, updateCollection('people', updateField('people.email', toApiName('mail'))))).toEqual([])
})

it('has no past of a field or a collection that had its id before', () => {
  const title = field('articles.title', 'string', { isNullable: true })
  const notes = createCollection('notes', [field('notes.id', 'int64'), index('notes_pkey', 'primary', ['notes.id'])], {
    hasHistory: true,
  })
  const again = { ...notes, data: { ...(notes.data as Json), dbName: 'papers' } }
  const replaced = changes(
    recording,
    updateCollection('articles', deleteIndex('articles_title'), deleteField('articles.title')),
    updateCollection('articles', title),
  )

  expect(replaced.at(-1)).toEqual([1, 'recordHistory', [id('articles.title')]])
  expect(changes(migrate(workspace, notes).records, deleteCollection('notes'), again)).toEqual([
    [0, 'dropTable'],
    [0, 'endHistory', 'dropped'],
    [1, 'createTable'],
    [1, 'recordHistory', 'new'],
  ])
})

it.each([
  [
    'of a collection without a key',
    [createCollection('notes', [field('notes.id', 'int64')], { hasHistory: true })],
    'operations[0] > notes needs a primary key that an address can name to have a history',
  ],
  [
    'of one that loses its key',
    [createCollection('empty'), updateCollection('articles', deleteIndex('articles_pkey'))],
    'operations[1] > articles needs a primary key that an address can name to have a history',
  ],
  [
    'where the source records nothing',
    [
      createCollection('leads', [field('leads.id', 'int64'), index('leads_pkey', 'primary', ['leads.id'])], {
        sourceId: id('crm'),
        hasHistory: true,
      }),
    ],
    'operations[0] > items of the source crm have no history',
  ],
])('is refused %s', (_, operations, reason) => {
  expect(refusal(recording, ...operations)).toBe(reason)
})

it('has no past under another key', () => {
  const operations = [
    updateCollection('articles', deleteIndex('articles_pkey')),
    updateCollection('articles', index('articles_key', 'primary', ['articles.title'])),
  ]

  const anew = [
    updateCollection('articles', deleteIndex('articles_pkey'), deleteField('articles.id')),
    updateCollection('articles', field('articles.id', 'int64'), index('articles_pkey', 'primary', ['articles.id'])),
  ]

  expect(changes(recording, ...operations).at(-1)).toEqual([1, 'recordHistory', 'new'])
  expect(changes(recording, ...anew).at(-1)).toEqual([1, 'recordHistory', 'new'])
})
