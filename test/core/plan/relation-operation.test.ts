import { describe, expect, it } from 'vitest'
import {
  knownOperations,
  MAX_CHANGES,
  type ParentAction,
  parseRelationOperations,
} from '../../../src/core/plan/relation-operation.ts'
import { author, authors, editor, refusal, relation, viewer } from './blog.ts'

const written = relation(authors, 'articles')
const edited = relation(authors, 'edited')
const parse = (of: typeof author, value: unknown, parentAction: ParentAction = 'update') =>
  parseRelationOperations(of, value, { viewer: viewer({}), parentAction, path: 'r' })

describe('the operations of a relation', () => {
  it.each([
    ['a nullable to-one', author, ['_connect', '_create', '_update', '_disconnect', '_delete']],
    ['a required to-one', editor, ['_connect', '_create', '_update']],
    ['a list whose items may stand alone', written, ['_connect', '_create', '_update', '_disconnect', '_delete']],
    ['a list whose items may not', edited, ['_connect', '_create', '_update', '_delete']],
  ])('are those of %s', (_, of, known) => {
    expect(knownOperations(of, 'update')).toEqual(known)
    expect(knownOperations(of, 'create')).toEqual(['_connect', '_create'])
  })
})

describe('what a body says of a relation', () => {
  it('is one object on a new item’s to-one', () => {
    expect(parse(author, { _connect: { key: { id: 1 } } }, 'create')).toEqual([
      { kind: '_connect', keys: [{ body: { id: 1 }, path: 'r._connect.key' }], path: 'r._connect' },
    ])
    expect(refusal(() => parse(author, [], 'create'))).toMatch(/must be one object/)
  })

  it('is an array everywhere else, each element with its place', () => {
    expect(parse(written, [{ _create: { data: [{ title: 'a' }] } }, { _connect: { keys: [{ id: 1 }] } }])).toEqual([
      { kind: '_create', items: [{ body: { title: 'a' }, path: 'r[0]._create.data[0]' }], path: 'r[0]._create' },
      { kind: '_connect', keys: [{ body: { id: 1 }, path: 'r[1]._connect.keys[0]' }], path: 'r[1]._connect' },
    ])
    expect(refusal(() => parse(author, { _connect: {} }))).toMatch(/must be an array of operations/)
  })

  it('may bring a filter along', () => {
    expect(parse(written, [{ _delete: { filter: { title: { _eq: 'a' } } } }, { _disconnect: {} }])).toEqual([
      { kind: '_delete', filter: { form: 'json', value: { title: { _eq: 'a' } } }, path: 'r[0]._delete.filter' },
      { kind: '_disconnect', filter: undefined, path: 'r[1]._disconnect.filter' },
    ])
    expect(parse(author, [{ _update: { data: { name: 'a' } } }])).toEqual([
      {
        kind: '_update',
        data: { body: { name: 'a' }, path: 'r[0]._update.data' },
        filter: undefined,
        path: 'r[0]._update.filter',
      },
    ])
  })

  it.each([
    ['two operations at once', [{ _connect: {}, _create: {} }], /must hold one operation/],
    ['none', [{}], /must hold one operation/],
    ['one that is not known here', [{ _drop: {} }], /is not an operation of this relation here/],
    ['a member that is not known', [{ _disconnect: { filter: {} } }], /is not allowed here/],
    ['what is no object', [{ _connect: 1 }], /must be an object/],
  ])('is refused where it holds %s', (_, value, message) => {
    expect(refusal(() => parse(author, value))).toMatch(message)
  })

  it('holds no more than may change', () => {
    const many = Array.from({ length: MAX_CHANGES + 1 }, () => ({}))

    expect(refusal(() => parse(written, many))).toMatch(/has more than 20000 elements/)
    expect(refusal(() => parse(written, [{ _create: { data: many } }]))).toMatch(/has more than 20000 elements/)
  })
})
