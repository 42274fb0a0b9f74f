/** What of a migration is an Administrator's in an attached database (docs/decisions/121). */
import { expect, it } from 'vitest'
import { denied, fullAccess, type Viewer } from '../../../src/core/access/access.ts'
import { unheld } from '../../../src/core/access/unheld.ts'
import { buildModel, type ModelRecords, noRecords } from '../../../src/core/model/model.ts'

const table = { isReadOnly: false, isSystem: false, isView: false }
const space = (id: string, sourceId: string) => ({ id, sourceId, dbName: id, isSystem: false })
const [found, own, pay] = [
  { ...table, id: 'pay', apiName: 'pay', sourceId: 'db', namespaceId: null, dbName: 'pay' },
  { ...table, id: 'own', apiName: 'own', sourceId: 'db', namespaceId: 'extra', dbName: 'own' },
  { ...table, id: 'system', apiName: 'system', sourceId: 'here', namespaceId: 'data', dbName: 'pay' },
]
const before: ModelRecords = {
  ...noRecords,
  sources: [
    { id: 'db', apiName: 'db', provider: 'postgres' },
    { id: 'here', apiName: '_system', provider: 'postgres' },
  ],
  namespaces: [space('extra', 'db'), space('data', 'here')],
  collections: [found, own, pay],
}
const viewer: Viewer = { accessTo: ({ id }) => (id === 'pay' ? denied : fullAccess), seesModel: true }
const reasonOf = (after: Partial<ModelRecords>) =>
  unheld(buildModel(1, before), { ...before, ...after }, viewer, new Set())?.reason

it.each<[string, Partial<ModelRecords>, string | undefined]>([
  ['nothing', {}, undefined],
  [
    'a schema of the database',
    { namespaces: [...before.namespaces, space('app', 'db')] },
    'only an Administrator makes the schema app',
  ],
  ['a schema that goes', { namespaces: [space('data', 'here')] }, 'only an Administrator deletes the schema extra'],
  ['a schema of the system database', { namespaces: [...before.namespaces, space('app', 'here')] }, undefined],
  [
    'a table that comes before one found by the search path',
    { collections: [found, { ...own, dbName: 'PAY' }, pay] },
    'only an Administrator gives the name PAY, which a table of another schema has',
  ],
  [
    'a new one',
    { collections: [...before.collections, { ...own, id: 'new', dbName: 'pay' }] },
    'only an Administrator gives the name pay, which a table of another schema has',
  ],
  ['an API name of what others use', { collections: [found, own, { ...pay, apiName: 'old' }] }, undefined],
  [
    'an API name of what is hidden',
    { collections: [{ ...found, apiName: 'old' }, own, pay] },
    'needs the right to delete pay in every item',
  ],
  ['a table of another name', { collections: [found, { ...own, dbName: 'mine' }, pay] }, undefined],
])('%s', (_, after, reason) => {
  expect(reasonOf(after)).toBe(reason)
})

it.each([
  ['noAction', 'noAction', 'needs the right to delete pay in every item'],
  ['setNull', 'noAction', 'needs the right to update pay.id in every item'],
  ['setNull', 'cascade', undefined],
] as const)('keeps nobody from deleting (%s) and changing (%s) what it only reads', (onDelete, onUpdate, reason) => {
  const key = (id: string, collectionId: string) => ({
    ...{ id, collectionId, apiName: 'id', dbName: 'id', type: { name: 'int64' }, isList: false, isNullable: false },
    ...{ defaultValue: null, isReadOnly: false, isLoose: false, native: null },
  })
  const primitiveFields = [key('own.id', 'own'), key('pay.id', 'pay')] as ModelRecords['primitiveFields']
  const constraint = { id: 'pin', dbName: 'pin', onDelete, onUpdate }
  const mappings = [{ constrainedFieldId: 'own.id', referencedFieldId: 'pay.id' }]
  const relation = { id: 'r', apiName: 'pay', collectionId: 'own', oppositeCollectionId: 'pay', kind: 'forward' }
  const after = {
    ...before,
    primitiveFields,
    constraints: [{ ...constraint, mappings }],
    relationFields: [{ ...relation, constraintId: 'pin', oppositeRelationFieldId: null }],
  } as unknown as ModelRecords
  const reader: Viewer = {
    accessTo: ({ id }, action) => (id === 'own' || action === 'read' ? fullAccess : denied),
    seesModel: true,
  }

  expect(unheld(buildModel(1, { ...before, primitiveFields }), after, reader, new Set())?.reason).toBe(reason)
})

it('gives a relation another name for who holds what it joins by', () => {
  const constraint = { id: 'c', dbName: 'c', onDelete: 'noAction', onUpdate: 'noAction' }
  const mappings = [{ constrainedFieldId: 'pay.boss', referencedFieldId: 'own.id' }]
  const column = { type: { name: 'int64' }, isList: false, isNullable: false, defaultValue: null, native: null }
  const held = {
    ...before,
    primitiveFields: [
      { ...column, id: 'own.id', collectionId: 'own', apiName: 'id', dbName: 'id', isReadOnly: false, isLoose: false },
      { ...column, id: 'pay.boss', collectionId: 'pay', apiName: 'b', dbName: 'b', isReadOnly: false, isLoose: false },
    ],
    indexes: [{ id: 'key', collectionId: 'own', dbName: 'key', kind: 'primary', fieldIds: ['own.id'] }],
    constraints: [{ ...constraint, mappings }],
    relationFields: [
      {
        ...{ id: 'f', collectionId: 'pay', oppositeCollectionId: 'own', apiName: 'boss', isList: false },
        ...{ oppositeRelationFieldId: 'b', constraintId: 'c', isNullable: false },
      },
      {
        ...{ id: 'b', collectionId: 'own', oppositeCollectionId: 'pay', apiName: 'pays', isList: true },
        ...{ oppositeRelationFieldId: 'f', constraintId: null, isNullable: false },
      },
    ],
  } as ModelRecords
  const renamed = (id: string) =>
    held.relationFields.map((relation) => (relation.id === id ? { ...relation, apiName: 'other' } : relation))

  const reasons = ['f', 'b'].map(
    (id) => unheld(buildModel(1, held), { ...held, relationFields: renamed(id) }, viewer, new Set())?.reason,
  )

  expect(reasons).toEqual(['f', 'b'].map(() => 'needs the right to read pay.b in every item'))
})
