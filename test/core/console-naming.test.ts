/** What the console calls an item by where nobody has said so. */
import { expect, it } from 'vitest'
import { namingField } from '../../console/src/screens/grid/naming-field.ts'

type Field = Parameters<typeof namingField>[0][number]

const field = (name: string, members: Partial<Field> = {}): Field => {
  return { name, type: 'string', isList: false, values: [], isKey: false, hasDefault: false, ...members }
}

const id = field('id', { type: 'int64', isKey: true, hasDefault: true })
const state = field('status', { hasDefault: true })

it.each<[string, readonly Field[], string]>([
  ['a usual name, wherever it stands', [id, field('notes'), field('title', { hasDefault: true })], 'title'],
  ['a name that ends as usual ones do', [id, field('notes'), field('order_number')], 'order_number'],
  ['any text', [id, state, field('notes')], 'notes'],
  ['the key where there is but a state', [id, state], 'id'],
  ['the key where there is but a text of a few values', [id, field('kind', { values: ['a', 'b'] })], 'id'],
])('%s', (_, fields, name) => {
  expect(namingField(fields)?.name).toBe(name)
})
