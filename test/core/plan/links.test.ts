/** Writes through a many-to-many field: each fault names the place that the client sent, or what of the junction lacks. */
import { describe, expect, it } from 'vitest'
import { type Access, fullAccess } from '../../../src/core/access/access.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { Forbidden } from '../../../src/core/plan/names.ts'
import { planUpdateOne } from '../../../src/core/plan/write.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseItemQuery } from '../../../src/core/query/parameters.ts'
import { build } from '../../support/data/build.ts'
import { withManyToMany } from '../../support/data/many-to-many.ts'
import { only, refusal, viewer } from './blog.ts'

const modelWith = (part: string) =>
  withManyToMany(
    build.model(
      {
        films: { id: 'int32', title: 'string' },
        actors: { id: 'int32', name: 'string' },
        casts: { filmId: 'int32', actorId: 'int32', part },
      },
      ['casts.film(filmId) -> films.casts', 'casts.actor(actorId) -> actors.casts'],
    ),
    {
      junction: 'casts',
      key: ['filmId', 'actorId'],
      sides: [
        { of: 'films', name: 'actors', near: 'casts', back: 'film' },
        { of: 'actors', name: 'films', near: 'casts', back: 'actor' },
      ],
    },
  )
const model = modelWith('string?')
const collection = (name: string, of = model) => {
  const found = of.byName.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

function plan(actors: unknown, { rights = {} as Readonly<Record<string, Access>>, seesModel = true, of = model } = {}) {
  const films = collection('films', of)
  const caller = viewer(rights, { seesModel })
  const access = { viewer: caller, collection: films, access: fullAccess, limits: { default: 1, max: 1 }, maxRows: 1 }
  const request = { viewer: caller, collection: films, generators: { uuid: () => '', now: () => '' }, read: access }
  const query = () => parseItemQuery(parseBrackets('fields=id'))
  return atOnce(planUpdateOne({ ...request, query }, { actors }, { kind: 'value', value: 1 }))
}

describe('the place of a fault', () => {
  it.each([
    [
      'an unknown field of a key',
      [{ _connect: { keys: [{ idd: 1 }] } }],
      'actors[0]._connect.keys[0].idd: is not a field of actors; did you mean id?',
    ],
    [
      'a field of the junction in a key',
      [{ _connect: { keys: [{ filmId: 1 }] } }],
      'actors[0]._connect.keys[0].filmId: is not a field of actors',
    ],
    [
      'a wrong type in a later key',
      [{ _connect: { keys: [{ id: 1 }, { id: 'x' }] } }],
      'actors[0]._connect.keys[1].id: must be an integer',
    ],
    ['null as a key', [{ _connect: { keys: [null] } }], 'actors[0]._connect.keys[0]: must be an object'],
    [
      'a key without its field',
      [{ _connect: { keys: ['1'] } }],
      'actors[0]._connect.keys[0]: must be an object of the fields of a unique key, such as {"id": …}',
    ],
    ['a key of another field', [{ _connect: { keys: [{ name: 'x' }] } }], 'actors[0]._connect.keys[0]: must name id'],
    ['an empty key', [{ _connect: { keys: [{}] } }], 'actors[0]._connect.keys[0]: must name id'],
    [
      'a relation in a key',
      [{ _connect: { keys: [{ films: {} }] } }],
      'actors[0]._connect.keys[0].films: is a relation',
    ],
    [
      'keys that are none',
      [{ _connect: { key: { id: 1 } } }],
      'actors[0]._connect.key: is not allowed here; did you mean keys?',
    ],
    [
      'an unknown field of a new item',
      [{ _create: { data: [{ id: 1, naem: 'x' }] } }],
      'actors[0]._create.data[0].naem: is not a field of actors; did you mean name?',
    ],
    [
      'a wrong type in a new item',
      [{ _create: { data: [{ id: 1, name: 7 }] } }],
      'actors[0]._create.data[0].name: must be a string',
    ],
    ['a field that is missing', [{ _create: { data: [{ id: 1 }] } }], 'actors[0]._create.data[0].name: is required'],
    ['an item that is none', [{}, { _create: { data: [7] } }].slice(1), 'actors[0]._create.data[0]: must be an object'],
    [
      'the way back',
      [{ _create: { data: [{ id: 1, name: 'x', casts: [] }] } }],
      'actors[0]._create.data[0].casts: is set by the item that this one is nested in',
    ],
    [
      'an unknown field in a filter',
      [{ _disconnect: { filter: { naem: 'x' } } }],
      'actors[0]._disconnect.filter.naem: is not a field of actors; did you mean name?',
    ],
    [
      'a wrong type in a filter',
      [{ _disconnect: { filter: { id: { _eq: 'x' } } } }],
      'actors[0]._disconnect.filter.id._eq: must be an integer',
    ],
    [
      'an operator that is none',
      [{ _disconnect: { filter: { id: { _like: 1 } } } }],
      'actors[0]._disconnect.filter.id._like: is not an operator of int32',
    ],
    ['a filter that is none', [{ _disconnect: { filter: null } }], 'actors[0]._disconnect.filter: must be an object'],
    [
      'a quantifier where none may be',
      [{ _disconnect: { filter: { _some: {} } } }],
      'actors[0]._disconnect.filter._some: is not a logical operator',
    ],
    [
      'an operation that is not its own',
      [{ _update: { data: {} } }],
      'actors[0]._update: is not an operation of this relation here; allowed: _connect, _create, _disconnect',
    ],
    ['a deletion', [{ _delete: {} }], 'actors[0]._delete: is not an operation of this relation here'],
    ['two operations', [{ _connect: { keys: [] }, _create: { data: [] } }], 'actors[0]: must hold one operation'],
    ['no list', { _connect: { keys: [] } }, 'actors: must be an array of operations'],
  ])('is that of %s', (_fault, actors, expected) => {
    expect(refusal(() => plan(actors))).toContain(expected)
  })

  it.each([
    ['a key', [{ _connect: { keys: [{ id: 1 }, { id: 2 }] } }], 'actors[0]._connect.keys[0]'],
    ['a new item', [{ _create: { data: [{ id: 1, name: 'x' }] } }], 'actors[0]._create.data[0]'],
  ])('is that of %s where the junction requires more than a link', (_name, actors, place) => {
    const fault = refusal(() => plan(actors, { of: modelWith('string') }))

    expect(fault).toContain(`${place}: cannot be linked alone: casts requires part`)
  })
})

describe('a 403', () => {
  const casts = collection('casts')
  const link = [{ _connect: { keys: [{ id: 1 }] } }]
  const unlink = [{ _disconnect: {} }]
  const denied = { kind: 'denied' } as const

  it.each([
    ['linking', link, { 'casts.create': denied }, { collection: 'casts', action: 'create' }],
    [
      'a link of which the end may not be written',
      link,
      { 'casts.create': only(['film'], casts) },
      { collection: 'casts', action: 'create', field: 'actor' },
    ],
    ['unlinking', unlink, { 'casts.delete': denied }, { collection: 'casts', action: 'delete' }],
    [
      'a new item',
      [{ _create: { data: [{ id: 1, name: 'x' }] } }],
      { 'actors.create': denied },
      { collection: 'actors', action: 'create' },
    ],
    [
      'a field of a new item',
      [{ _create: { data: [{ id: 1, name: 'x' }] } }],
      { 'actors.create': only(['id'], collection('actors')) },
      { collection: 'actors', action: 'create', field: 'name' },
    ],
    [
      'a field of a key',
      link,
      { 'actors.read': only(['name'], collection('actors')) },
      { collection: 'actors', action: 'read', field: 'id' },
    ],
    [
      'a field of a filter',
      [{ _disconnect: { filter: { id: 1 } } }],
      { 'actors.read': only(['name'], collection('actors')) },
      { collection: 'actors', action: 'read', field: 'id' },
    ],
  ])('names what %s lacks', (_name, actors, rights, expected) => {
    expect(refusedBy(() => plan(actors, { rights: rights as Readonly<Record<string, Access>> }))).toEqual(expected)
  })

  it.each([
    ['the other side', { 'actors.read': denied }],
    ['the junction', { 'casts.read': denied }],
    ['where a link leads', { 'casts.read': only(['film', 'filmId'], casts) }],
  ])('is that of an unknown field to whoever does not read %s', (_name, rights) => {
    const hidden = [link, unlink, [{ _create: { data: [{ id: 1, name: 'x' }] } }]].map((actors) =>
      refusedBy(() => plan(actors, { rights: rights as Readonly<Record<string, Access>> })),
    )

    expect(hidden).toEqual(Array(3).fill({ collection: 'films', action: 'update', field: 'actors' }))
  })
})

function refusedBy(work: () => unknown) {
  try {
    work()
  } catch (error) {
    if (!(error instanceof Forbidden)) throw error
    const { collectionId, ...refused } = error.refused
    return { ...refused, collection: collectionId }
  }
  throw new Error('it was allowed')
}
