/**
 * Columns that several relations use, or a relation and the key, as where tenants are kept apart: a write gives them one
 * value, and a link changes nothing but itself (docs/contract.md#nested-writes).
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Action, fullAccess, granted, type Viewer } from '../../src/core/access/access.ts'
import { buildModel, type Field } from '../../src/core/model/model.ts'
import { all } from '../../src/core/query/filter.ts'
import type { Dialect } from '../../src/core/sql/dialect.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { build } from '../support/data/build.ts'
import { createTables, errorMessages, type Item, openItems, type WrittenItems } from '../support/data/items.ts'
import { withManyToMany } from '../support/data/many-to-many.ts'

/** `docs` have to have a tenant, `drafts` may have none; `sites` are told apart by theirs. */
const drawn = build.model(
  {
    tenants: { tid: 'int32' },
    boxes: { tid: 'int32', id: 'int32' },
    cards: { tid: 'int32', id: 'int32' },
    docs: { id: 'int32', tid: 'int32', boxId: 'int32?', cardId: 'int32?' },
    drafts: { id: 'int32', tid: 'int32?', boxId: 'int32?', cardId: 'int32?' },
    owned: { id: 'int32', tid: 'int32?', boxId: 'int32?' },
    sites: { tid: 'int32', id: 'int32', boxId: 'int32?', cardId: 'int32?' },
    licences: { tid: 'int32' },
    seats: { id: 'int32', tid: 'int32?' },
    films: { tid: 'int32', id: 'int32' },
    actors: { tid: 'int32', id: 'int32' },
    roles: { tid: 'int32', filmId: 'int32', actorId: 'int32' },
  },
  [
    'docs.box(tid, boxId) -> boxes.docs',
    'docs.card(tid, cardId) -> cards.docs',
    'drafts.box(tid, boxId) -> boxes.drafts',
    'drafts.card(tid, cardId) -> cards.drafts',
    'owned.tenant(tid) -> tenants.owned',
    'owned.box(tid, boxId) -> boxes.owned',
    'sites.box(tid, boxId) -> boxes.sites',
    'sites.card(tid, cardId) -> cards.sites',
    'seats.tenant(tid) -> tenants.seats',
    'seats.licence(tid) -> licences.seats',
    'roles.film(tid, filmId) -> films.roles',
    'roles.actor(tid, actorId) -> actors.roles',
    'roles.tenant(tid) -> tenants.roles',
  ],
)
/** The items that tests make, and a field of their keys. */
const written = [
  ['docs', 'id'],
  ['drafts', 'id'],
  ['owned', 'id'],
  ['sites', 'id'],
  ['seats', 'id'],
  ['roles', 'tid'],
] as const
const pairs = ['boxes', 'cards', 'sites', 'films', 'actors']
const model = withManyToMany(
  buildModel(1, {
    ...drawn.records,
    indexes: drawn.records.indexes.map((index) =>
      pairs.includes(index.collectionId)
        ? { ...index, fieldIds: [`${index.collectionId}.tid`, `${index.collectionId}.id`] }
        : index,
    ),
  }),
  {
    junction: 'roles',
    key: ['tid', 'filmId', 'actorId'],
    sides: [
      { of: 'films', name: 'actors', near: 'roles', back: 'film' },
      { of: 'actors', name: 'films', near: 'roles', back: 'actor' },
    ],
  },
)

function fieldOf(collection: string, name: string): Field {
  const field = model.byName.get(collection)?.fields.get(name)
  if (field === undefined) throw new Error(`there is no ${collection}.${name}`)
  return field
}

const key = (tid: number, id: number) => ({ tid, id })
const to = (tid: number, id: number) => ({ _connect: { key: key(tid, id) } })
const toAll = (...keys: readonly Item[]) => [{ _connect: { keys } }]
const differs = (path: string, column: string, why: string) => [
  'Failed to execute query',
  path,
  `sets ${column}, which ${why}, to another value`,
]
const by = (relation: string) => `is given by the relation ${relation} as well`
const IN_KEY = 'is part of the primary key'

/** `driver` is asked when tests run. */
export function describeSharedColumns(dialect: Dialect, driver: () => SqlDriver): void {
  let items: WrittenItems

  const as = (viewer: Viewer) => openItems(model, driver(), dialect, viewer)

  beforeAll(async () => {
    await createTables(model, driver(), dialect)
    items = openItems(model, driver(), dialect)
    await items.create('tenants', [{ tid: 1 }, { tid: 2 }, { tid: 3 }])
    await items.create('licences', [{ tid: 1 }, { tid: 2 }])
    const known = [key(1, 1), key(1, 2), key(2, 1), key(2, 2), key(3, 1)]
    for (const name of ['boxes', 'cards', 'films', 'actors']) await items.create(name, known)
  })

  beforeEach(async () => {
    for (const [name, first] of written) await items.deleteMany(name, `filter[${first}][_gte]=0`)
  })

  const rows = (name: string) => items.list(name, 'sort[0][id][direction]=asc')
  const refused = async (work: Promise<unknown>, expected: readonly string[]) =>
    expect(await errorMessages(work)).toEqual(expected)

  describe('a new item', () => {
    it('refers to two of one tenant', async () => {
      const created = await items.create('docs', [{ id: 1, box: to(2, 1), card: to(2, 2) }], 'fields=tid,boxId,cardId')

      expect(created).toEqual([{ tid: 2, boxId: 1, cardId: 2 }])
    })

    it('cannot refer to two that disagree', async () => {
      await refused(
        items.create('docs', [{ id: 1, box: to(1, 1), card: to(2, 1) }]),
        differs('[0].card', 'tid', by('box')),
      )
      await refused(
        items.create('owned', [{ id: 1, tenant: { _connect: { key: { tid: 1 } } }, box: to(2, 1) }]),
        differs('[0].box', 'tid', by('tenant')),
      )
      await refused(
        items.create('docs', [{ id: 1, box: to(1, 1), card: { _create: { data: key(3, 9) } } }]),
        differs('[0].card', 'tid', by('box')),
      )
      expect(await rows('docs')).toEqual([])
    })

    it('cannot refer to another tenant than that of the item that it is nested in', async () => {
      const nested = (card: Item) => [{ _create: { data: [{ id: 1, card }] } }]
      const path = 'docs[0]._create.data[0].card'

      await refused(
        items.updateOne('boxes', key(2, 1), { docs: nested(to(1, 1)) }),
        differs(path, 'tid', 'is set by the item that this one is nested in'),
      )
      await items.updateOne('boxes', key(2, 1), { docs: nested(to(2, 2)) })

      expect(await rows('docs')).toMatchObject([{ tid: 2, boxId: 1, cardId: 2 }])
    })

    it('is asked the rights of a relation that another one sets, and leads to what the caller reads', async () => {
      const creating = (...names: readonly string[]) => allowing('owned', 'create', ...names)
      const owned = [{ id: 1, box: to(1, 1) }]

      await refused(as(creating('id', 'box')).create('owned', owned), ['You are not allowed to do this'])
      expect(await as(creating('id', 'box', 'tenant')).create('owned', owned, 'fields=tid')).toEqual([{ tid: 1 }])
      await items.deleteMany('owned', 'filter[id][_eq]=1')
      expect(await as(creating('id', 'box', 'tid')).create('owned', owned, 'fields=tid')).toEqual([{ tid: 1 }])
      await refused(as(reading('tenants', 2)).create('owned', [{ id: 2, box: to(1, 1) }]), NO_REFERENCE)
      await refused(as(reading('tenants', 2)).create('owned', [{ id: 2, box: to(3, 1) }]), NO_REFERENCE)
    })
  })

  describe('a relation of an item that is there', () => {
    beforeEach(() =>
      items.create('docs', [
        { id: 1, tid: 1, boxId: 1, cardId: 1 },
        { id: 2, tid: 1, boxId: 1 },
        { id: 3, tid: 1, cardId: 2 },
      ]),
    )

    it('leads to another row of the same tenant', async () => {
      await items.updateOne('docs', 1, { box: [to(1, 2)], card: [{ _create: { data: key(1, 7) } }] })
      await items.updateOne('boxes', key(1, 1), { docs: toAll({ id: 3 }) })

      expect(await rows('docs')).toMatchObject([
        { tid: 1, boxId: 2, cardId: 7 },
        { tid: 1, boxId: 1, cardId: null },
        { tid: 1, boxId: 1, cardId: 2 },
      ])
    })

    it('cannot change another one', async () => {
      await refused(items.updateOne('docs', 1, { card: [to(2, 1)] }), differs('card[0]._connect', 'tid', by('box')))
      await refused(
        items.updateOne('docs', 1, { card: [{ _create: { data: key(2, 9) } }] }),
        differs('card[0]._create', 'tid', by('box')),
      )
      await refused(items.updateOne('docs', 3, { box: [to(2, 1)], tid: 1 }), [
        'Failed to execute query',
        'tid',
        'is given by the relation box as well',
      ])
      await refused(
        items.updateOne('docs', 2, { cardId: 1, box: [to(2, 1)] }),
        differs('box[0]._connect', 'tid', by('card')),
      )
      await refused(
        items.updateOne('boxes', key(2, 1), { docs: toAll({ id: 1 }) }),
        differs('docs[0]._connect', 'tid', by('card')),
      )
      expect(await rows('docs')).toMatchObject([{ tid: 1 }, { tid: 1 }, { tid: 1 }])
    })

    it('takes its tenant along where no other one is set', async () => {
      await items.updateOne('docs', 2, { box: [to(2, 1)] })
      await items.updateOne('docs', 1, { box: [{ _disconnect: {} }], card: [to(3, 1)] })
      await items.updateOne('boxes', key(2, 2), { docs: toAll({ id: 2 }) })

      expect(await rows('docs')).toMatchObject([
        { tid: 3, boxId: null, cardId: 1 },
        { tid: 2, boxId: 2, cardId: null },
        { tid: 1 },
      ])
    })

    it('stays where the item that would get it is not there', async () => {
      await items.updateOne('docs', 3, { box: [{ _update: { data: { docs: toAll({ id: 1 }) } } }] })

      expect(await rows('docs')).toMatchObject([{ boxId: 1 }, {}, { boxId: null }])
    })

    it('tells nothing of hidden rows, nor of a column that is hidden', async () => {
      const changed = { card: [to(2, 1)] }
      const other = { card: [to(3, 1)] }
      const expected = differs('card[0]._connect', 'tid', by('box'))
      await items.deleteMany('boxes', 'filter[tid][_eq]=3')

      for (const body of [changed, other]) await refused(as(reading('boxes', 1)).updateOne('docs', 1, body), expected)
      for (const id of [1, 9]) {
        await refused(as(reading('cards', 1)).updateOne('docs', 1, { card: [to(2, id)] }), NO_REFERENCE)
      }
      const unseen = as(allowing('docs', 'read', 'id', 'tid', 'cardId', 'card'))
      for (const id of [1, 3]) {
        await refused(
          unseen.updateOne('docs', id, changed),
          differs('card[0]._connect', 'tid', 'is given by another relation as well'),
        )
      }
    })

    it('ends by the columns that no other one uses', async () => {
      const draft = { tid: 1, boxId: 1, cardId: 1 }
      await items.create('drafts', [
        { id: 1, ...draft },
        { id: 2, ...draft },
        { id: 3, ...draft },
      ])
      await items.create('owned', [{ id: 1, tid: 1, boxId: 1 }])

      await items.updateOne('drafts', 1, { box: [{ _disconnect: {} }] })
      await items.updateOne('boxes', key(1, 1), { drafts: [{ _disconnect: { filter: { id: 2 } } }] })
      await items.updateOne('docs', 1, { box: [{ _disconnect: {} }] })
      await items.updateOne('owned', 1, { box: [{ _disconnect: {} }] })

      expect(await rows('drafts')).toMatchObject([{ ...draft, boxId: null }, { ...draft, boxId: null }, draft])
      expect(await rows('docs')).toMatchObject([{ tid: 1, boxId: null, cardId: 1 }, {}, {}])
      expect(await rows('owned')).toMatchObject([{ tid: 1, boxId: null }])
      const [, , message] = await errorMessages(items.updateOne('owned', 1, { tenant: [{ _disconnect: {} }] }))
      expect(message).toContain('is not an operation of this relation here')
    })
  })

  describe('two relations of the same column', () => {
    const tenant = (tid: number) => ({ tenant: [{ _connect: { key: { tid } } }] })

    it('change together, by the rights of both, to what the caller reads of both', async () => {
      await items.create('seats', [{ id: 1 }, { id: 2, tid: 1 }])
      const changing = (...names: readonly string[]) => as(allowing('seats', 'update', ...names))
      const sighted = as(reading('licences', 1))

      await refused(changing('tenant').updateOne('seats', 1, tenant(1)), ['You are not allowed to do this'])
      await refused(sighted.updateOne('seats', 1, tenant(2)), NO_REFERENCE)
      await refused(sighted.updateOne('seats', 1, tenant(3)), NO_REFERENCE)
      await refused(sighted.updateOne('tenants', 2, { seats: toAll({ id: 1 }) }), NO_REFERENCE)
      await changing('tenant', 'licence').updateOne('seats', 1, tenant(2))
      await sighted.updateOne('tenants', 1, { seats: toAll({ id: 1 }) })
      await items.updateOne('seats', 2, { tenant: [{ _disconnect: {} }] })

      expect(await rows('seats')).toEqual([
        { id: 1, tid: 1 },
        { id: 2, tid: null },
      ])
    })
  })

  describe('a list that shares a column with the key of its items', () => {
    beforeEach(() =>
      items.create('sites', [
        { tid: 1, id: 2 },
        { tid: 2, id: 2 },
      ]),
    )

    it('takes those of the same tenant alone', async () => {
      await items.updateOne('boxes', key(2, 1), { sites: toAll(key(2, 2)) })
      await refused(
        items.updateOne('boxes', key(2, 1), { sites: toAll(key(2, 2), key(1, 2)) }),
        differs('sites[0]._connect', 'tid', IN_KEY),
      )
      await refused(
        items.create('boxes', [{ ...key(2, 5), sites: toAll(key(1, 2)) }]),
        differs('[0].sites[0]._connect', 'tid', IN_KEY),
      )

      expect(await rows('sites')).toMatchObject([
        { tid: 1, boxId: null },
        { tid: 2, boxId: 1 },
      ])
    })
  })

  describe('a link through a junction', () => {
    const links = () => items.list('roles', 'fields=tid,filmId,actorId')
    const GIVEN = 'is given by the item that it is linked to as well'

    it('joins two of one tenant', async () => {
      await items.updateOne('films', key(1, 1), { actors: toAll(key(1, 1), key(1, 2)) })
      await items.updateOne('actors', key(2, 1), { films: [{ _create: { data: [key(2, 8)] } }] })

      expect(await links()).toEqual([
        { tid: 1, filmId: 1, actorId: 1 },
        { tid: 1, filmId: 1, actorId: 2 },
        { tid: 2, filmId: 8, actorId: 1 },
      ])
    })

    it('cannot join two that disagree', async () => {
      const path = 'actors[0]._connect'

      for (const keys of [[key(2, 1)], [key(1, 1), key(2, 1)]]) {
        await refused(
          items.updateOne('films', key(1, 1), { actors: toAll(...keys) }),
          differs(path, 'tid of roles', GIVEN),
        )
      }
      await refused(
        items.updateOne('films', key(1, 1), { actors: [{ _create: { data: [key(2, 9)] } }] }),
        differs('actors[0]._create.data[0]', 'tid of roles', GIVEN),
      )
      await refused(
        items.create('films', [{ ...key(1, 9), actors: toAll(key(2, 1)) }]),
        differs(`[0].${path}`, 'tid of roles', GIVEN),
      )
      expect(await links()).toEqual([])
    })

    it('refers to nothing else that the caller cannot read', async () => {
      const body = { actors: toAll(key(1, 1)) }

      await refused(as(reading('tenants', 2)).updateOne('films', key(1, 1), body), NO_REFERENCE)
      await as(reading('tenants', 1)).updateOne('films', key(1, 1), body)

      expect(await links()).toHaveLength(1)
    })
  })
}

const NO_REFERENCE = ['Query failed', 'Foreign key constraint failed']

/** Of the collection, the tenant alone. */
function reading(collection: string, tenant: number): Viewer {
  const field = fieldOf(collection, 'tid')
  if (field.kind !== 'primitive') throw new Error('a relation')
  const rows = { kind: 'compare', field, visible: all, operator: '=', operand: String(tenant) } as const
  return {
    seesModel: true,
    accessTo: ({ apiName }, action) =>
      apiName === collection && action === 'read' ? granted([{ rows, fields: 'every', validation: all }]) : fullAccess,
  }
}

/** Of the collection, by the action, these fields alone, and nothing of the model. */
function allowing(collection: string, allowed: Action, ...names: readonly string[]): Viewer {
  const fields = new Set(names.map((name) => fieldOf(collection, name).id))
  return {
    seesModel: false,
    accessTo: ({ apiName }, action) =>
      apiName === collection && action === allowed ? granted([{ rows: all, fields, validation: all }]) : fullAccess,
  }
}
