import { expect, it } from 'vitest'
import { type CollectionChange, parseMigration } from '../../../src/core/migration/operation.ts'
import { orderOperations } from '../../../src/core/migration/order.ts'
import {
  blog,
  createCollection,
  deleteField,
  deleteIndex,
  field,
  id,
  index,
  type Json,
  messagesOf,
  migrate,
  refusal,
  toApiName,
  toDbName,
  toNullable,
  updateCollection,
  updateField,
  workspace,
} from './build.ts'

function ordered(...operations: readonly Json[]): readonly CollectionChange[] {
  const [parsed] = parseMigration(JSON.stringify({ operations: [updateCollection('a', ...operations)] })).operations
  const changes = parsed?.kind === 'updateCollection' ? parsed.data.operations : []
  const names = new Map(['x', 'y', 'z'].map((name) => [id(`a.${name}`), { apiName: name, dbName: name }]))
  return orderOperations(changes, (fieldId) => names.get(fieldId))
}

const updated = (...operations: readonly Json[]) =>
  ordered(...operations).map((operation) => operation.kind === 'updatePrimitiveField' && operation.data.id)

it('frees before it takes', () => {
  const kinds = ordered(
    index('i', 'normal', ['a.n']),
    field('a.n', 'string'),
    updateField('a.x', toNullable(true)),
    toDbName('b'),
    deleteField('a.y'),
    deleteIndex('j'),
  ).map(({ kind }) => kind)

  expect(kinds).toEqual([
    'deleteIndex',
    'deletePrimitiveField',
    'changeDbName',
    'updatePrimitiveField',
    'createPrimitiveField',
    'createIndex',
  ])
})

it('lets a field leave its name before another takes it', () => {
  expect(
    updated(
      updateField('a.x', toDbName('y')),
      updateField('a.y', toApiName('v'), toDbName('z')),
      updateField('a.z', toDbName('w')),
    ),
  ).toEqual([id('a.z'), id('a.y'), id('a.x')])
})

it('keeps the updates of one field in the order in which they were sent', () => {
  const changes = ordered(
    updateField('a.x', toApiName('y')),
    updateField('a.x', toApiName('v')),
    updateField('a.y', toApiName('w')),
  )

  expect(changes.map((change) => change.kind === 'updatePrimitiveField' && change.data.operations[0])).toEqual([
    toApiName('w'),
    toApiName('y'),
    toApiName('v'),
  ])
})

it('keeps every operation of a circle', () => {
  expect(
    updated(updateField('a.x', toApiName('y')), updateField('a.y', toApiName('x')), updateField('a.z', toApiName('q'))),
  ).toEqual([id('a.z'), id('a.x'), id('a.y')])
})

it('moves names along a chain that was sent the wrong way round', () => {
  const { records } = migrate(
    workspace,
    createCollection('a', [field('a.x', 'string'), field('a.y', 'string')]),
    updateCollection(
      'a',
      field('a.new', 'string', { dbName: 'new', apiName: 'x' }),
      updateField('a.x', toApiName('y')),
      updateField('a.y', toApiName('z')),
    ),
  )

  expect(records.primitiveFields.map(({ apiName, dbName }) => [apiName, dbName])).toEqual([
    ['y', 'x'],
    ['z', 'y'],
    ['x', 'new'],
  ])
})

it('refuses to move names in a circle', () => {
  const swap = updateCollection(
    'articles',
    updateField('articles.id', toApiName('title')),
    updateField('articles.title', toApiName('id')),
  )

  expect(refusal(blog, swap)).toBe('operations[0] > the collection articles already has a field title')
})

it('refuses to name a table as one of the source was named, whichever schema is named', () => {
  const { records } = migrate(
    workspace,
    createCollection('pub', [field('pub.x', 'string')], { sourceId: id('crm'), namespaceId: id('crm public') }),
    createCollection('vault', [field('vault.x', 'string')], { sourceId: id('crm') }),
  )
  const moves = [updateCollection('pub', toDbName('old')), updateCollection('vault', toDbName('pub'))]

  expect(messagesOf(() => migrate(records, ...moves), 'invalid').slice(1)).toEqual([
    'operations[1]',
    "'pub' is given up by the collection pub in this migration; rename it in a later one",
  ])
})
