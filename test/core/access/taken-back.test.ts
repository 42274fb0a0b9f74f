/** What a migration does and takes back, which its model before and after does not show (docs/decisions/121). */
import { expect, it } from 'vitest'
import { parseMigration } from '../../../src/core/migration/operation.ts'
import { takenBack } from '../../../src/core/migration/taken-back.ts'
import { createCollection, field, id, type Json, migrate, workspace } from '../migration/build.ts'

const [own, other] = ['own', 'other'].map((name) =>
  createCollection(name, [field(`${name}.id`, 'int64'), field(`${name}.note`, 'string')]),
) as [Json, Json]
const before = migrate(workspace, own, other).records
const change = (...operations: Json[]): Json => ({ kind: 'updateCollection', data: { id: id('own'), operations } })
const note = (...operations: Json[]): Json => ({
  kind: 'updatePrimitiveField',
  data: { id: id('own.note'), operations },
})
const rename = (dbName: string) => ({ kind: 'changeDbName', data: { dbName } })
const type = (name: string) => ({ kind: 'changeType', data: { type: { name } } })
const index = { kind: 'createIndex', data: { id: id('index'), kind: 'unique', fieldIds: [id('own.note')] } }
const added = { kind: 'createPrimitiveField', data: field('own.more', 'string').data }
const remove = (kind: string, name: string) => ({ kind, data: { id: id(name) } })

it.each<[string, string | undefined, Json[]]>([
  ['nothing', undefined, []],
  ['another name and another type', undefined, [change(rename('x'), note(rename('y'), type('json')))]],
  ['a name there and back', 'own', [change(rename('x')), change(rename('own'))]],
  ['a type there and back in one operation', 'own.note', [change(note(type('json'), type('string')))]],
  ['a key that is made and deleted', 'index', [change(index), change(remove('deleteIndex', 'index'))]],
  ['a field that is made and deleted', 'own.more', [change(added), change(remove('deletePrimitiveField', 'own.more'))]],
  [
    'a field that is changed and deleted',
    'own.note',
    [change(note(type('json')), remove('deletePrimitiveField', 'own.note'))],
  ],
  [
    'what is changed within what is deleted',
    'own.note',
    [change(note(type('json'))), remove('deleteCollection', 'own')],
  ],
  ['a deletion', undefined, [remove('deleteCollection', 'own')]],
  ['what is deleted and made anew', undefined, [remove('deleteCollection', 'own'), own]],
  [
    'what is changed, deleted and made anew',
    'own.note',
    [change(note(type('json'))), remove('deleteCollection', 'own'), own],
  ],
])('%s', (_, taken, sent) => {
  const { operations } = parseMigration(JSON.stringify({ operations: sent }))
  const gone = sent.some(({ kind }) => kind === 'deleteCollection') && sent.at(-1) !== own
  const isField = (name: string) => JSON.stringify(sent).includes(`deletePrimitiveField","data":{"id":"${id(name)}"`)
  const after = {
    ...before,
    collections: before.collections.filter((one) => !gone || one.id !== id('own')),
    primitiveFields: before.primitiveFields.filter(
      (one) => !(gone && one.collectionId === id('own')) && !(isField('own.note') && one.id === id('own.note')),
    ),
  }
  expect(takenBack(before, after, operations)).toBe(taken && id(taken))
})
