import { expect, it } from 'vitest'
import { parsePolicy } from '../../../src/core/access/policy.ts'
import { uncheckedWrites } from '../../../src/core/access/unchecked-writes.ts'
import {
  buildModel,
  type ConstraintRecord,
  type DefaultValue,
  type PrimitiveFieldRecord,
} from '../../../src/core/model/model.ts'
import { build } from '../../support/data/build.ts'

const drawn = build.model(
  {
    levels: { code: 'int32', minesId: 'int32?' },
    mines: { id: 'int32' },
    secrets: { id: 'int32', level: 'int32?', note: 'string?', parentId: 'int32?' },
    holds: { id: 'int32', secretId: 'int32?', mineId: 'int32?' },
  },
  [
    'secrets.lv(level) -> levels.secrets',
    'secrets.parent(parentId) -> secrets.children',
    'levels.mine(minesId) -> mines.levels',
    'holds.secret(secretId) -> secrets.holds',
    'holds.mine(mineId) -> mines.holds',
  ],
)

type Actions = Partial<Pick<ConstraintRecord, 'onDelete' | 'onUpdate'>>

/** `field by what does it`, of a policy with this filter on secrets. */
function told(
  filter: object,
  actions: Readonly<Record<string, Actions>>,
  defaults: Readonly<Record<string, DefaultValue>> = {},
) {
  const { constraints, primitiveFields } = drawn.records
  const records = {
    ...drawn.records,
    constraints: constraints.map((one) => ({ ...one, ...actions[one.id.replace('_fkey', '')] })),
    primitiveFields: primitiveFields.map(
      (field): PrimitiveFieldRecord => ({ ...field, defaultValue: defaults[field.id] ?? null }),
    ),
  }
  const content = parsePolicy({ collections: { secrets: { read: { filter } } } }, buildModel(1, records))
  return uncheckedWrites(records, content).map(({ kind, field, by }) => `${kind}: ${field} by ${by}`)
}

const isPublic = { level: { _lt: 2 } }

it.each([
  ['secrets.lv', { onUpdate: 'cascade' }, isPublic, ['action: secrets.level by secrets.lv']],
  ['secrets.lv', { onDelete: 'setNull' }, isPublic, ['action: secrets.level by secrets.lv']],
  ['secrets.lv', { onDelete: 'setDefault' }, { lv: { code: 1 } }, ['action: secrets.lv by secrets.lv']],
  ['secrets.lv', { onDelete: 'cascade' }, isPublic, []],
  ['secrets.lv', { onDelete: 'restrict', onUpdate: 'noAction' }, isPublic, []],
  ['secrets.parent', { onUpdate: 'cascade' }, isPublic, []],
  ['holds.mine', { onDelete: 'cascade' }, { holds: { _none: {} } }, ['action: secrets.holds by holds.mine']],
  ['holds.secret', { onDelete: 'cascade' }, { holds: { _none: {} } }, []],
  ['holds.secret', { onDelete: 'setNull' }, { holds: { _none: {} } }, ['action: secrets.holds by holds.secret']],
  ['secrets.lv', { onDelete: 'cascade' }, { children: { _none: {} } }, ['action: secrets.children by secrets.lv']],
  ['levels.mine', { onUpdate: 'cascade' }, { lv: { minesId: 1 } }, ['action: levels.minesId by levels.mine']],
] as const)('the action of %s that is %j is told where %j is asked for', (relation, actions, filter, expected) => {
  expect(told(filter, { [relation]: actions })).toEqual(expected)
})

it('a default is told, but a number that only counts', () => {
  const now: DefaultValue = { source: 'engineManaged', onUpdate: { kind: 'now' } }

  expect(told({ note: 'x' }, {}, { 'secrets.note': now })).toEqual(['default: secrets.note by secrets.note'])
  expect(told({ lv: { code: 1 } }, {}, { 'secrets.level': { source: 'connectorManaged' } })).toEqual([
    'default: secrets.lv by secrets.level',
  ])
  expect(told({ id: 1 }, {}, { 'secrets.id': { source: 'connectorManaged', isAutoincrement: true } })).toEqual([])
  expect(told({ note: 'x' }, {}, { 'secrets.level': now })).toEqual([])
})

it('says so in words', () => {
  const records = {
    ...drawn.records,
    constraints: drawn.records.constraints.map((one) => ({ ...one, onUpdate: 'cascade' as const })),
  }
  const content = { collections: { secrets: { read: { filter: { 'secrets.level': { _lt: 2 } } } } } }

  expect(uncheckedWrites(records, content)).toEqual([
    {
      kind: 'action',
      field: 'secrets.level',
      by: 'secrets.lv',
      message:
        'secrets.level is compared, and an action of the relation secrets.lv writes it without asking any policy',
    },
  ])
})
