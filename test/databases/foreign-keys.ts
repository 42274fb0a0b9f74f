/**
 * Foreign keys written as columns: what they refer to has to be readable, and a row that is not gets the answer of one
 * that does not exist.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Access, fullAccess, granted, type Viewer } from '../../src/core/access/access.ts'
import { buildModel, type DefaultValue, type Model, type PrimitiveField } from '../../src/core/model/model.ts'
import { all, type Filter } from '../../src/core/query/filter.ts'
import type { Dialect } from '../../src/core/sql/dialect.ts'
import { mariadbConversation } from '../../src/core/sql/mysql/dialect.ts'
import { compile, ident, integer, type Sql, sql } from '../../src/core/sql/statement.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { build } from '../support/data/build.ts'
import { createTables, errorMessages, type Item, NOW, openItems, type WrittenItems } from '../support/data/items.ts'
import { describeSharedColumns } from './shared-columns.ts'

type Database = { readonly driver: SqlDriver; close(): Promise<void> }

const drawn = build.model(
  {
    people: { id: 'int32', team: 'string(20)' },
    places: { id: 'int32', zone: 'int32', team: 'string(20)' },
    tasks: {
      id: 'int32',
      title: 'string(20)?',
      ownerId: 'int32?',
      parentId: 'int32?',
      placeId: 'int32?',
      zone: 'int32?',
    },
    notes: { id: 'int32', text: 'string(20)?', ownerId: 'int32?', placeId: 'int32?', zone: 'int32?' },
    days: { day: 'date', team: 'string(20)' },
    visits: { id: 'int32', text: 'string(20)?', day: 'date?' },
    clubs: { id: 'int32', team: 'string(20)', code: 'int32' },
    members: { id: 'int32', title: 'string(20)?', code: 'int32?' },
  },
  [
    'tasks.owner(ownerId) -> people.tasks',
    'tasks.parent(parentId) -> tasks.children',
    'tasks.place(placeId, zone) -> places.tasks',
    'notes.owner(ownerId) -> people.notes',
    'notes.place(placeId, zone) -> places.notes',
    'visits.of(day) -> days.visits',
    'members.club(code) -> clubs.members',
  ],
)
const model = modelWith({})

/** The model in which these fields have these defaults. The key of places has two columns; members refer to clubs by their codes. */
function modelWith(defaults: Readonly<Record<string, DefaultValue>>): Model {
  return buildModel(1, {
    ...drawn.records,
    primitiveFields: drawn.records.primitiveFields.map((field) => ({
      ...field,
      defaultValue: defaults[field.id] ?? null,
    })),
    constraints: drawn.records.constraints.map((constraint) => ({
      ...constraint,
      mappings: constraint.mappings.map((one) =>
        one.referencedFieldId === 'clubs.id' ? { ...one, referencedFieldId: 'clubs.code' } : one,
      ),
    })),
    indexes: drawn.records.indexes.flatMap((index) => {
      if (index.collectionId === 'places') return [{ ...index, fieldIds: ['places.id', 'places.zone'] }]
      const byCode = { ...index, id: 'byCode', dbName: 'byCode', kind: 'unique' as const, fieldIds: ['clubs.code'] }
      return index.collectionId === 'clubs' ? [index, byCode] : [index]
    }),
  })
}

function fieldOf(collection: string, name: string): PrimitiveField {
  const field = model.byName.get(collection)?.fields.get(name)
  if (field?.kind !== 'primitive') throw new Error(`there is no ${collection}.${name}`)
  return field
}

/** Reads what is of the red team, and tasks with an even number at most; writes all tasks. */
function viewerOf(accessTo: (collection: string, action: string) => Access): Viewer {
  return { accessTo: (collection, action) => accessTo(collection.apiName, action), seesModel: true }
}

const red = (collection: string): Filter => {
  return { kind: 'compare', field: fieldOf(collection, 'team'), visible: all, operator: '=', operand: 'red' }
}
const reader = viewerOf((name) => {
  if (['tasks', 'notes', 'visits'].includes(name)) return fullAccess
  return granted([{ rows: red(name), fields: 'every', validation: all }])
})
const REFUSED = ['Query failed', 'Foreign key constraint failed']

export function describeForeignKeys(dialect: Dialect, start: () => Promise<Database>): void {
  let database: Database
  let everything: WrittenItems
  let items: WrittenItems

  beforeAll(async () => {
    database = await start()
    await createTables(model, database.driver, dialect)
    everything = openItems(model, database.driver, dialect)
    items = openItems(model, database.driver, dialect, reader)
    await everything.create('people', [
      { id: 1, team: 'red' },
      { id: 2, team: 'blue' },
    ])
    await everything.create('places', [
      { id: 1, zone: 1, team: 'red' },
      { id: 1, zone: 2, team: 'blue' },
      { id: 2, zone: 1, team: 'red' },
    ])
  })

  afterAll(() => database?.close())

  beforeEach(async () => {
    await everything.updateMany('tasks', { parentId: null }, 'filter[id][_gte]=0')
    await everything.deleteMany('tasks', 'filter[id][_gte]=0')
  })

  const tasks = () => everything.list('tasks', 'fields=id,ownerId,placeId,zone')
  const refused = async (work: Promise<unknown>) => expect(await errorMessages(work)).toEqual(REFUSED)
  const task = (more: Item) => [{ id: 1, ...more }]

  describe('a foreign key of a new item', () => {
    it('leads to what the caller reads', async () => {
      expect(await items.create('tasks', task({ ownerId: 1 }), 'fields=ownerId')).toEqual([{ ownerId: 1 }])
    })

    it.each([
      ['hidden', 2],
      ['missing', 3],
    ])('is refused where the target is %s', async (_, ownerId) => {
      await refused(items.create('tasks', task({ ownerId })))
      await refused(items.create('tasks', [...task({ ownerId: 1 }), { id: 2, ownerId }]))
      await refused(items.create('tasks', task({ children: [{ _create: { data: [{ id: 2, ownerId }] } }] })))
      await refused(items.create('tasks', task({ parent: { _create: { data: { id: 2, ownerId } } } })))
      expect(await tasks()).toEqual([])
    })

    it.each([
      ['hidden', { placeId: 1, zone: 2 }],
      ['missing', { placeId: 2, zone: 2 }],
    ])('of several columns is refused where the target is %s', async (_, place) => {
      await refused(items.create('tasks', task(place)))
      expect(await items.create('tasks', task({ ...place, zone: null }), 'fields=id')).toEqual([{ id: 1 }])
      expect(await items.create('tasks', [{ id: 2, placeId: 1, zone: 1 }], 'fields=id')).toEqual([{ id: 2 }])
    })

    it('tells of another fault no sooner than of a missing target', async () => {
      await everything.create('tasks', task({}))

      for (const ownerId of [2, 3]) await refused(items.create('tasks', task({ ownerId })))
    })

    it('may be null, or lead to the item itself or one before it', async () => {
      const own = openItems(model, database.driver, dialect, ownTasks)

      const made = await own.create(
        'tasks',
        [
          { id: 2, ownerId: null, parentId: 2 },
          { id: 4, parentId: 2 },
        ],
        'fields=id',
      )

      expect(made).toEqual([{ id: 2 }, { id: 4 }])
      await refused(own.create('tasks', [{ id: 6, parentId: 3 }]))
    })
  })

  describe('the default of a foreign key', () => {
    const itemsWith = (defaults: Readonly<Record<string, DefaultValue>>) =>
      openItems(modelWith(defaults), database.driver, dialect, reader)
    const constant = (valueEncoded: number | null): DefaultValue => {
      return { source: 'engineManaged', onCreate: { kind: 'static', valueEncoded } }
    }
    const run = (statement: Sql) => database.driver.query(compile(statement, dialect))

    afterEach(async () => {
      await everything.deleteMany('notes', 'filter[id][_gte]=0')
      await everything.deleteMany('visits', 'filter[id][_gte]=0')
      await everything.deleteMany('days', 'filter[team][_eq]=blue')
    })

    it.each([
      ['hidden', 2],
      ['missing', 3],
    ])('is refused where the target is %s', async (_, ownerId) => {
      const given = itemsWith({ 'notes.ownerId': constant(ownerId) })

      await refused(given.create('notes', [{ id: 1 }]))
      await refused(given.create('notes', [{ id: 1, ownerId: 1 }, { id: 2 }]))
      await refused(
        given.create('places', [{ id: 5, zone: 5, team: 'red', notes: [{ _create: { data: [{ id: 1 }] } }] }]),
      )
      expect(await given.create('notes', [{ id: 1, ownerId: 1 }], 'fields=ownerId')).toEqual([{ ownerId: 1 }])
      expect(await given.create('notes', [{ id: 2, ownerId: null }], 'fields=ownerId')).toEqual([{ ownerId: null }])
    })

    it.each([
      ['hidden', 2],
      ['missing', 3],
    ])('is refused where the database gives it and the target is %s', async (_, ownerId) => {
      const [table, column] = [ident('notes'), ident('ownerId')]
      await run(sql`alter table ${table} alter column ${column} set default ${integer(ownerId)}`)
      const given = itemsWith({ 'notes.ownerId': { source: 'connectorManaged' } })

      await refused(given.create('notes', [{ id: 1 }]))
      await refused(given.create('notes', [{ id: 1, ownerId: 1 }, { id: 2 }]))
      await run(sql`alter table ${table} alter column ${column} set default 1`)
      expect(await given.create('notes', [{ id: 1 }], 'fields=ownerId')).toEqual([{ ownerId: 1 }])
      await run(sql`alter table ${table} alter column ${column} drop default`)
    })

    it.each([
      ['hidden', { 'notes.placeId': constant(1), 'notes.zone': constant(2) }, {}],
      ['missing', { 'notes.placeId': constant(2), 'notes.zone': constant(2) }, {}],
      ['hidden for what is sent with it', { 'notes.zone': constant(2) }, { placeId: 1 }],
    ])('of several columns is refused where the target is %s', async (_, defaults, sent) => {
      const given = itemsWith(defaults)

      await refused(given.create('notes', [{ id: 1, ...sent }]))
      expect(await given.create('notes', [{ id: 1, placeId: 1, zone: 1 }], 'fields=zone')).toEqual([{ zone: 1 }])
    })

    it('may be null, or lead to what the caller reads', async () => {
      const given = itemsWith({ 'notes.ownerId': constant(1), 'notes.placeId': constant(null) })

      expect(await given.create('notes', [{ id: 1 }], 'fields=ownerId,placeId')).toEqual([
        { ownerId: 1, placeId: null },
      ])
    })

    it.each(['hidden', 'missing'])('that is the time is refused where the target is %s', async (state) => {
      await everything.create('days', [{ day: state === 'hidden' ? NOW.slice(0, 10) : '2000-01-01', team: 'blue' }])
      const renewed = itemsWith({ 'visits.day': { source: 'engineManaged', onUpdate: { kind: 'now' } } })

      await refused(
        itemsWith({ 'visits.day': { source: 'engineManaged', onCreate: { kind: 'now' } } }).create('visits', [
          { id: 1 },
        ]),
      )
      await renewed.create('visits', [{ id: 1 }])
      await refused(renewed.updateOne('visits', 1, { text: 'a' }))
      await refused(renewed.updateMany('visits', { text: 'a' }, 'filter[id][_gte]=0'))
      expect(await everything.list('visits', 'fields=text,day')).toEqual([{ text: null, day: null }])
    })
  })

  describe('a foreign key that is changed', () => {
    beforeEach(async () => {
      await everything.create('tasks', [
        { id: 1, title: 'a', ownerId: 2, placeId: 1, zone: 2 },
        { id: 2, title: 'a', ownerId: 1, placeId: 1, zone: 1 },
      ])
    })

    it.each([
      ['hidden', 2],
      ['missing', 3],
    ])('is refused where the target is %s', async (_, ownerId) => {
      await refused(items.updateOne('tasks', 2, { ownerId }))
      await refused(items.updateMany('tasks', { ownerId }, 'filter[title][_eq]=a'))
      await refused(items.updateOne('tasks', 1, { parent: [{ _create: { data: { id: 3, ownerId } } }] }))
      await everything.updateOne('tasks', 1, { parentId: 2 })
      await refused(items.updateOne('tasks', 1, { parent: [{ _update: { data: { ownerId } } }] }))
      expect(await tasks()).toMatchObject([{ ownerId: 2 }, { ownerId: 1 }])
    })

    it('may stay what it is', async () => {
      expect(await items.updateOne('tasks', 1, { title: 'b', ownerId: 2 }, 'fields=title')).toEqual([{ title: 'b' }])
      expect(await items.updateOne('tasks', 1, { placeId: 1, zone: 2 }, 'fields=zone')).toEqual([{ zone: 2 }])
      expect(await items.updateOne('tasks', 1, { ownerId: 1 }, 'fields=ownerId')).toEqual([{ ownerId: 1 }])
      await refused(items.updateOne('tasks', 1, { ownerId: 2 }))
      expect(await items.updateMany('tasks', { ownerId: null }, 'filter[title][_null]=false')).toHaveLength(2)
    })

    it('may stay only where its columns are seen, so that nobody guesses what they have', async () => {
      const titles = ['tasks.id', 'tasks.title']
      const open = { placeId: 1, zone: 2, ownerId: 2 }
      for (const [columns, sent] of [
        [titles, { ownerId: open.ownerId }],
        [[...titles, 'tasks.zone'], { placeId: open.placeId, zone: open.zone }],
      ] as const) {
        const blind = openItems(model, database.driver, dialect, seeing(columns))

        await refused(blind.updateOne('tasks', 1, sent))
        await refused(blind.updateMany('tasks', sent, 'filter[title][_eq]=a&filter[id][_eq]=1'))
        expect(await blind.updateOne('tasks', 1, { title: 'b', ...unset(sent) }, 'fields=title')).toEqual([
          { title: 'b' },
        ])
        await everything.updateOne('tasks', 1, { title: 'a', ...open })
      }
    })

    it('of several columns is one with those that are not sent', async () => {
      await refused(items.updateOne('tasks', 2, { zone: 2 }))
      await refused(items.updateMany('tasks', { placeId: 2 }, 'filter[title][_null]=false'))
      expect(await items.updateOne('tasks', 2, { placeId: 2 }, 'fields=placeId,zone')).toEqual([
        { placeId: 2, zone: 1 },
      ])
      expect(await items.updateOne('tasks', 1, { zone: 1 }, 'fields=placeId,zone')).toEqual([{ placeId: 1, zone: 1 }])
    })
  })

  it('is refused where the caller does not see the key of what they read', async () => {
    const blind = viewerOf((name) => {
      if (name === 'tasks') return fullAccess
      const fields = new Set([fieldOf(name, 'team').id])
      return granted([
        { rows: all, fields, validation: all },
        { rows: red(name), fields: 'every', validation: all },
      ])
    })
    const own = openItems(model, database.driver, dialect, blind)

    await refused(own.create('tasks', task({ ownerId: 2 })))
    expect(await own.create('tasks', task({ ownerId: 1 }), 'fields=id')).toEqual([{ id: 1 }])
  })

  describe('a link that the caller does not see', () => {
    /** Reads these fields, and writes all of them. */
    const blind = (fields: Readonly<Record<string, readonly string[]>>) =>
      openItems(
        model,
        database.driver,
        dialect,
        viewerOf((name, action) => {
          if (action !== 'read') return fullAccess
          const ids = new Set(fields[name]?.map((field) => `${name}.${field}`))
          return granted([{ rows: all, fields: ids, validation: all }])
        }),
      )

    it('is told by no nested write', async () => {
      await everything.create('tasks', [{ id: 1, title: 'a', ownerId: 2 }])
      const own = blind({ tasks: ['id', 'title'], people: ['id', 'team'] })

      await own.updateOne('tasks', 1, { owner: [{ _update: { data: { team: 'red' } } }] })
      await own.updateOne('tasks', 1, { owner: [{ _delete: {} }] })
      for (const operation of ['_update', '_delete', '_disconnect']) {
        const how = { filter: { _all: true }, ...(operation === '_update' && { data: { title: 'b' } }) }
        await own.updateOne('people', 2, { tasks: [{ [operation]: how }] })
      }

      expect(await everything.list('tasks', 'fields=title,owner.team')).toEqual([
        { title: 'a', owner: { team: 'blue' } },
      ])
      const seeing = blind({ tasks: ['id', 'title', 'ownerId'], people: ['id', 'team'] })
      await seeing.updateOne('people', 2, { tasks: [{ _update: { filter: { _all: true }, data: { title: 'b' } } }] })
      expect(await everything.list('tasks', 'fields=title')).toEqual([{ title: 'b' }])
    })

    it('writes no column of an item to where it can be read', async () => {
      await everything.create('clubs', [{ id: 1, team: 'red', code: 77 }])
      await everything.create('members', [{ id: 1 }])
      const members = { members: ['id', 'code'], clubs: ['id', 'team'] }

      await refused(blind(members).updateOne('clubs', 1, { members: [{ _create: { data: [{ id: 2 }] } }] }))
      await refused(blind(members).updateOne('clubs', 1, { members: [{ _connect: { keys: [{ id: 1 }] } }] }))
      expect(await everything.list('members', 'fields=id,code')).toEqual([{ id: 1, code: null }])
      const seeing = blind({ ...members, clubs: ['id', 'code'] })
      await seeing.updateOne('clubs', 1, { members: [{ _connect: { keys: [{ id: 1 }] } }] })
      expect(await everything.list('members', 'fields=code')).toEqual([{ code: 77 }])
    })
  })

  it('costs nothing where the caller reads all', async () => {
    const statements: string[] = []
    const { converse } = database.driver
    const counting: SqlDriver = {
      ...database.driver,
      query: (statement) => {
        statements.push(statement.text)
        return database.driver.query(statement)
      },
      batch: (batch) => {
        statements.push(...batch.map(({ text }) => text))
        return database.driver.batch(batch)
      },
      ...(converse && {
        converse: (talk) =>
          converse(
            (async function* () {
              for await (const statement of talk) {
                statements.push(statement.text)
                yield statement
              }
            })(),
          ),
      }),
    }

    await openItems(model, counting, dialect).create('tasks', task({ ownerId: 1 }), 'fields=id')

    // Behind Vitess the item is read in a statement of its own.
    expect(statements).toHaveLength(dialect === mariadbConversation ? 2 : 1)
    await refused(openItems(model, counting, dialect).create('tasks', [{ id: 2, ownerId: 3 }]))
  })

  describe('whose columns relations share', () => describeSharedColumns(dialect, () => database.driver))
}

/** Reads these fields of all tasks, and of what they refer to what is red. */
function seeing(columns: readonly string[]): Viewer {
  return viewerOf((name, action) => {
    if (name !== 'tasks') return granted([{ rows: red(name), fields: 'every', validation: all }])
    return action === 'read' ? granted([{ rows: all, fields: new Set(columns), validation: all }]) : fullAccess
  })
}

function unset(sent: Item): Item {
  return Object.fromEntries(Object.keys(sent).map((name) => [name, null]))
}

const ownTasks = viewerOf((name, action) => {
  if (name !== 'tasks' || action !== 'read') return fullAccess
  const even: Filter = { kind: 'in', field: fieldOf('tasks', 'id'), visible: all, negated: false, operands: ['2', '4'] }
  return granted([{ rows: even, fields: 'every', validation: all }])
})
