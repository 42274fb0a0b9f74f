import { expect, it } from 'vitest'
import { asksMore, requireReadable } from '../../../src/core/access/intersect.ts'
import { viewerOf } from '../../../src/core/access/merge.ts'
import { parsePolicy } from '../../../src/core/access/policy.ts'
import type { Rights } from '../../../src/core/access/principal.ts'
import { linkedFilms } from '../../support/data/many-to-many.ts'

const model = linkedFilms({ year: 'int32' })

function viewerWith(...contents: Record<string, unknown>[]) {
  const policies = contents.map((collections) => parsePolicy({ collections }, model))
  const rights: Rights = { kind: 'policies', userId: undefined, roleIds: [], entitlements: new Set(), policies }
  return viewerOf(rights, model)
}

const all = { read: 'all' }
const [links, actors] = [all, all]
const actor = { actors: { name: 'x' } }

it.each([
  ['a field of every row', { films: all }, { title: 'x' }, false],
  ['a field of the rows that are read at all', { films: { read: { filter: { year: 1 } } } }, { title: 'x' }, false],
  ['a field that is hidden', { films: { read: { fields: ['id'] } } }, { title: 'x' }, true],
  [
    'a field that is hidden, in part',
    { films: { read: { fields: ['id'] } } },
    { _or: [{ id: 1 }, { title: 'x' }] },
    true,
  ],
  ['rows that are related', { films: all, links, actors }, { links: { actor: { name: 'x' } } }, false],
  ['rows some of which are hidden', { films: all, links, actors: { read: { filter: { id: 1 } } } }, actor, true],
  ['a many-to-many field', { films: all, links, actors }, actor, false],
  ['that field alone', { films: { read: { fields: ['id', 'actors'] } }, links, actors }, actor, false],
  [
    'neither that field nor where it leads through',
    { films: { read: { fields: ['id'] } }, links, actors },
    actor,
    true,
  ],
  ['a junction that is hidden', { films: all, actors }, actor, true],
  ['links of which some are hidden', { films: all, links: { read: { filter: { id: 1 } } }, actors }, actor, true],
])('a condition about %s', (_, held, filter, expected) => {
  const films = model.byName.get('films')
  const access = films && viewerWith({ films: { read: { filter } } }).accessTo(films, 'read')

  const rows = access?.kind === 'granted' ? access.rows : undefined
  expect(rows && asksMore({ viewer: viewerWith(held), model }, rows)).toBe(expected)
})

it('tells of a condition that all rows of the reader meet, and of none that only some do', () => {
  const films = model.byName.get('films')
  const rowsOf = (year: number) => ({ films: { read: { fields: ['id'], filter: { year } } } })
  const requiredOf = (viewer: ReturnType<typeof viewerWith>) => () =>
    films && requireReadable({ viewer, model }, films, viewerWith(rowsOf(1)).accessTo(films, 'read'))

  expect(requiredOf(viewerWith(rowsOf(1)))).not.toThrow()
  expect(requiredOf(viewerWith(rowsOf(1), rowsOf(2)))).toThrow('You may not read all that decides this')
})
