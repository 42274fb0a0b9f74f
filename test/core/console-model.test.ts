/** What the console makes of a typed change of the model (console/src/screens/model), held to what the service makes of it. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  changeField,
  createCollection,
  createField,
  deleteCollection,
  deleteRelation,
  isChanged,
  madeBy,
  operationsOf,
  renameCollection,
  typeOf,
  without,
} from '../../console/src/screens/model/changes.ts'
import { familyOf, isHeld, mayRefer, storedAs } from '../../console/src/screens/model/families.ts'
import { layoutOf } from '../../console/src/screens/model/layout.ts'
import { brokenLine, lineOf } from '../../console/src/screens/model/line.ts'
import { applied, type Collection, type Model } from '../../console/src/screens/model/records.ts'
import {
  createRelation,
  junctionsOf,
  type NewRelation,
  relationKinds,
} from '../../console/src/screens/model/relation-changes.ts'
import {
  changesOf,
  defaultOf,
  defaultText,
  fillOf,
  fillsOf,
  typeNames,
  typesIn,
} from '../../console/src/screens/model/types.ts'
import { realChanges, relationEffects } from '../../console/src/screens/review/relations.ts'
import { conversionOf, isSameType } from '../../src/core/migration/conversion.ts'
import { parseMigration } from '../../src/core/migration/operation.ts'
import { canRefer } from '../../src/core/model/far-key.ts'
import type { FieldType } from '../../src/core/model/field-type.ts'
import { plainTypeNames } from '../../src/core/model/vocabulary.ts'
import { type SqlProvider, sqlProviders } from '../../src/core/sql/address.ts'
import type { Dialect } from '../../src/core/sql/dialect.ts'
import { mariadb, mysql, mysqlConversation } from '../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../src/core/sql/postgres/dialect.ts'

const source = '7d0f6f9e-0000-4000-8000-000000000000'
const empty: Model = {
  sources: [{ id: source, name: '_system', provider: 'postgres' }],
  namespaces: [],
  collections: [],
}

/** Ids in order, so that a failure can be read. */
function counted() {
  let last = 0
  return () => {
    last += 1
    return `7d0f6f9e-0000-4000-8000-${String(last).padStart(12, '0')}`
  }
}

const collection = (name: string) =>
  ({ name, dbName: '', sourceId: source, namespaceId: '', key: 'int64', keyName: 'id' }) as const

const named = (model: Model, name: string) => model.collections.find(({ apiName }) => apiName === name) as Collection

it('offers the changes of type that the service makes, and no other', () => {
  expect([...typeNames].sort()).toEqual([...plainTypeNames, 'string', 'decimal'].sort())
  for (const isList of [false, true]) {
    for (const from of typeNames) {
      const type = typeOf(from) as FieldType
      const made = typeNames.filter((to) => {
        const next = typeOf(to) as FieldType
        return isSameType(type, next) || conversionOf(type, next, isList) !== undefined
      })
      expect(changesOf(type, isList), `${from} ${isList}`).toEqual(made)
    }
  }
})

const dialects: Readonly<Record<SqlProvider, Dialect>> = {
  postgres,
  neon: postgres,
  mysql,
  mariadb,
  planetscale: mysqlConversation,
}

it.each(sqlProviders)('offers what a database of %s can store and do, and nothing else', (provider) => {
  const sources = [{ id: source, name: 'shop', provider }]
  const family = familyOf({ sources }, source)
  const { columnType, ddl } = dialects[provider]
  const bounded = { kind: 'constrained', precision: 10, scale: 2 }
  const stored = (name: string, isList: boolean) =>
    [typeOf(name), ...(name === 'decimal' ? [typeOf(name, bounded)] : [])].map(
      (type) => columnType(type as FieldType, isList) !== undefined,
    )

  expect(typesIn(family)).toEqual(typeNames.filter((name) => stored(name, false).includes(true)))
  expect(family.needsBounds).toBe(stored('decimal', false).includes(false))
  expect(family.hasLists).toBe(typesIn(family).some((name) => stored(name, true).includes(true)))
  expect(new Set(family.actions)).toEqual(ddl.referentialActions)
  const { operations } = createCollection({ ...empty, sources }, { ...collection('tags'), key: 'string' })
  const [key] = named(applied({ ...empty, sources }, operations), 'tags').fields
  expect(key && ddl.isIndexable(key.type as FieldType)).toBe(true)
})

it('makes defaults that are read again as they were typed', () => {
  for (const type of typeNames) {
    for (const fill of fillsOf(type, false)) {
      const typed = type === 'json' || type === 'boolean' || type === 'geometry' ? 'true' : '12'
      const defaultValue = defaultOf(fill, type, false, typed) ?? null
      const field = { defaultValue, type: typeOf(type), isList: false }
      expect(fillOf(field), `${type} ${fill}`).toBe(fill)
      if (fill === 'value') expect(defaultText({ ...field } as never)).toBe(typed)
    }
  }
  expect(defaultOf('value', 'boolean', false, 'perhaps')).toBeUndefined()
})

it('refers to a key of another source by a column that its own database has', () => {
  const other = '7d0f6f9e-0000-4000-8000-00000000aaaa'
  const model = { ...empty, sources: [...empty.sources, { id: other, name: 'stock', provider: 'mysql' }] }
  const types = typeNames.map((name) => typeOf(name) as FieldType)
  for (const [owner, provider] of [
    [source, 'postgres'],
    [other, 'mysql'],
  ] as const) {
    for (const type of types) {
      const isKey = dialects.mysql.ddl.isIndexable(type) || type.name === 'string'
      const column = storedAs(familyOf(model, owner), type) as FieldType
      if (isKey && type.name !== 'decimal') expect(dialects[provider].columnType(column, false)).toBeDefined()
      expect(canRefer({ type: column, isList: false }, { type, isList: false })).toBe(true)
    }
  }
  for (const one of types) {
    for (const key of types) {
      if (mayRefer(one, key, true)) {
        expect(canRefer({ type: one, isList: false }, { type: key, isList: false })).toBe(true)
      }
    }
  }
})

it('says what a relation is in the database, and what only seems to come and go', () => {
  const other = '7d0f6f9e-0000-4000-8000-00000000aaaa'
  const sources = [...empty.sources, { id: other, name: 'stock', provider: 'mysql' }]
  const ids = counted()
  const there = { ...empty, sources }
  const notes = createCollection(there, collection('notes'), ids)
  const shops = createCollection(there, { ...collection('shops'), sourceId: other }, ids)
  const model = applied(there, operationsOf([notes, createCollection(there, collection('tags'), ids), shops]))
  const typed = { isRequired: false, onDelete: 'noAction', onUpdate: 'noAction', through: '', by: [] } as const
  const relate = (before: Model, kind: NewRelation['kind'], to: string, by: readonly string[] = []) => {
    const relation = { ...typed, kind, to: named(before, to).id, by, name: `${to}One`, opposite: `notesOf${to}` }
    return applied(before, createRelation(before, named(before, 'notes'), relation, ids)?.operations ?? [])
  }
  const without = (before: Model, name: string) => {
    const relation = named(before, 'notes').relations.find(({ apiName }) => apiName === name)
    return applied(before, relation ? deleteRelation(named(before, 'notes'), relation).operations : [])
  }
  const column = (before: Model, name: string) =>
    named(before, 'notes').fields.flatMap(({ apiName, id }) => (apiName === name ? id : []))
  const effects = (before: Model, after: Model) => relationEffects(before, after).get('notes.tagsOne')
  const across = (before: Model, after: Model) => relationEffects(before, after).get('notes.shopsOne')

  const held = relate(model, 'toOne', 'tags')
  expect(effects(model, held)).toEqual([
    ['columnsMade', 'notes (tagsOneId)'],
    ['indexMade', 'notes (tagsOneId)'],
    ['keyMade', 'notes (tagsOneId) → tags (id)'],
    ['refused', 'tags'],
  ])
  const freed = without(held, 'tagsOne')
  expect(effects(held, freed)).toEqual([
    ['keyGoes', 'notes (tagsOneId) → tags (id)'],
    ['columnsStay', 'notes (tagsOneId)'],
  ])
  const again = relate(freed, 'toOne', 'tags', column(freed, 'tagsOneId'))
  expect(effects(freed, again)).toEqual([
    ['columnsUsed', 'notes (tagsOneId)'],
    ['keyMade', 'notes (tagsOneId) → tags (id)'],
    ['refused', 'tags'],
  ])
  const far = relate(model, 'toOne', 'shops')
  expect(across(model, far)?.at(-1)).toEqual(['noKey', ''])
  const near = without(far, 'shopsOne')
  expect(across(far, near)).toEqual([
    ['modelOnly', ''],
    ['columnsStay', 'notes (shopsOneId)'],
  ])
  expect(across(near, relate(near, 'toOne', 'shops', column(near, 'shopsOneId')))).toEqual([
    ['columnsUsed', 'notes (shopsOneId)'],
    ['modelOnly', ''],
    ['noKey', ''],
  ])
  const many = relate(model, 'manyToMany', 'tags')
  expect(effects(model, many)).toEqual([
    ['tableMade', 'notes_tagsOne'],
    ['linksGo', ''],
  ])
  expect(effects(many, without(many, 'tagsOne'))).toEqual([
    ['modelOnly', ''],
    ['tableStays', 'notes_tagsOne'],
  ])

  const paths = ['delete notes.shopsOne', 'create notes.shopsOneId', 'create notes: shopsOneId', 'create notes.more']
  const changes = paths.map((line) => {
    const [action = '', ...path] = line.split(' ')
    return { action: action as 'create', path: path.join(' ') }
  })
  expect(realChanges(changes, far, near).map(({ path }) => path)).toEqual(['notes.shopsOne', 'notes.more'])
})

const relation = fc.record({
  kind: fc.constantFrom(...relationKinds),
  from: fc.constantFrom('books', 'tags'),
  to: fc.constantFrom('books', 'tags'),
  isRequired: fc.boolean(),
})

it('makes operations that the service reads, and shows what they leave; taken back one by one nothing stays', () => {
  fc.assert(
    fc.property(fc.array(relation, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 12 }), (relations, taken) => {
      const ids = counted()
      let changes = [createCollection(empty, collection('books'), ids)]
      const now = () => applied(empty, operationsOf(changes))
      changes = [...changes, createCollection(now(), collection('tags'), ids)]
      relations.forEach(({ kind, from, to, isRequired }, at) => {
        const typed: NewRelation = {
          kind,
          to: named(now(), to).id,
          name: `one${at}`,
          opposite: `other${at}`,
          by: [],
          isRequired,
          onDelete: 'noAction',
          onUpdate: 'noAction',
          through: '',
        }
        const made = createRelation(now(), named(now(), from), typed, ids)
        if (made !== undefined) changes = [...changes, made]
      })

      const operations = operationsOf(changes)
      expect(parseMigration(JSON.stringify({ operations })).operations).toHaveLength(operations.length)
      relations.forEach(({ from, to }, at) => {
        const own = named(now(), from).relations.find(({ apiName }) => apiName === `one${at}`)
        const other = named(now(), to).relations.find(({ apiName }) => apiName === `other${at}`)
        expect([own?.opposite, other?.opposite]).toEqual([other?.id, own?.id])
      })
      for (const at of taken) if (changes.length > 0) changes = [...without(changes, at % changes.length)]
      const known = new Set(madeBy(operationsOf(changes)))
      for (const one of now().collections) for (const { to } of one.relations) expect(known).toContain(to)
    }),
    { numRuns: 50 },
  )
})

it('knows what of what is there waits to be another', () => {
  const ids = counted()
  const books = createCollection(empty, collection('books'), ids)
  const model = applied(empty, books.operations)
  const made = named(model, 'books')
  const [key] = made.fields as [Collection['fields'][number]]
  const renamed = changeField(made, key, { ...key, apiName: 'number' })

  expect([made.id, key.id].map((id) => isChanged([books], id))).toEqual([false, false])
  expect([made.id, key.id].map((id) => isChanged([renamed], id))).toEqual([false, true])
  expect(isChanged([renameCollection(made, { name: 'volumes', dbName: made.dbName })], made.id)).toBe(true)
  expect(isChanged([createField(model, made, { ...key, apiName: 'other' }, ids)], made.id)).toBe(false)
})

it('holds no relation across sources, of a view, or within a connector', () => {
  const place = (sourceId: string, isView = false) => ({ sourceId, isView })
  const provided = { one: 'postgres', other: 'mariadb', files: 'csv' }
  const model = { sources: Object.entries(provided).map(([id, provider]) => ({ id, name: id, provider })) }

  expect(isHeld(model, place('one'), place('one'))).toBe(true)
  expect(isHeld(model, place('one'), place('other'))).toBe(false)
  expect(isHeld(model, place('one', true), place('one'))).toBe(false)
  expect(isHeld(model, place('one'), place('one', true))).toBe(false)
  expect(isHeld(model, place('files'), place('files'))).toBe(false)
})

it('changes what is another, and deletes a collection after its relations', () => {
  const ids = counted()
  let model = applied(empty, createCollection(empty, collection('books'), ids).operations)
  const books = named(model, 'books')
  const typed = { apiName: 'title', dbName: '', type: typeOf('string'), isNullable: true, isList: false }
  model = applied(model, createField(model, books, { ...typed, defaultValue: null }, ids).operations)
  const title = named(model, 'books').fields.at(-1) as Collection['fields'][number]

  expect(changeField(books, title, { ...title }).operations).toEqual([])
  expect(changeField(books, title, { ...title, apiName: 'name', type: typeOf('json') }).operations).toEqual([
    {
      kind: 'updateCollection',
      data: {
        id: books.id,
        operations: [
          {
            kind: 'updatePrimitiveField',
            data: {
              id: title.id,
              operations: [
                { kind: 'changeApiName', data: { apiName: 'name' } },
                { kind: 'changeType', data: { type: { name: 'json' } } },
              ],
            },
          },
        ],
      },
    },
  ])
  const self: NewRelation = {
    kind: 'toOne',
    to: books.id,
    name: 'sequel',
    opposite: 'prequels',
    by: [],
    isRequired: false,
    onDelete: 'noAction',
    onUpdate: 'noAction',
    through: '',
  }
  model = applied(model, createRelation(model, named(model, 'books'), self, ids)?.operations ?? [])
  expect(deleteCollection(named(model, 'books')).operations.map(({ kind }) => kind)).toEqual([
    'deleteRelationFieldPair',
    'deleteCollection',
  ])
})

it('finds the line of a place in a file, or of what is around it, and of a text that is no JSON', () => {
  const text = JSON.stringify(
    { version: 1, collections: { a: { fields: { x: 'string' }, indexes: ['x', 'x:"'] } } },
    null,
    2,
  )

  expect(lineOf(text, 'collections.a.fields.x')).toBe(6)
  expect(lineOf(text, 'collections.a.fields.y.to')).toBe(5)
  expect(lineOf(text, 'collections.a.indexes[1]')).toBe(10)
  expect(lineOf(text, 'roles')).toBeUndefined()
  expect(brokenLine(text)).toBeUndefined()
  expect(brokenLine('{\n  "a": 1,\n  b\n}')).toBe(3)
})

it('draws every collection apart from the others, in circles, too', () => {
  const ids = counted()
  let model = empty
  for (const name of ['a', 'b', 'c']) model = applied(model, createCollection(model, collection(name), ids).operations)
  for (const [from, to] of [
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a'],
    ['a', 'a'],
  ] as const) {
    const typed = {
      kind: 'toOne',
      to: named(model, to).id,
      name: `to${to}`,
      opposite: `from${from}`,
      by: [],
      through: '',
    }
    const given = { isRequired: false, onDelete: 'noAction', onUpdate: 'noAction' } as const
    const made = createRelation(model, named(model, from), { ...typed, ...given } as NewRelation, ids)
    model = applied(model, made?.operations ?? [])
  }
  const { boxes, lines } = layoutOf(model, 10)

  expect(new Set(boxes.map(({ x, y }) => `${x} ${y}`)).size).toBe(3)
  expect(lines).toHaveLength(4)
})

it('leads over a junction that is there', () => {
  const ids = counted()
  const given = { isRequired: true, onDelete: 'noAction', onUpdate: 'noAction', by: [] } as const
  let model = empty
  for (const name of ['books', 'tags', 'taggings'])
    model = applied(model, createCollection(model, collection(name), ids).operations)
  for (const [name, to] of [
    ['book', 'books'],
    ['tag', 'tags'],
  ] as const) {
    const typed = { ...given, kind: 'toOne', to: named(model, to).id, name, opposite: 'taggings', through: '' } as const
    model = applied(model, createRelation(model, named(model, 'taggings'), typed, ids)?.operations ?? [])
  }
  const [books, tags] = [named(model, 'books'), named(model, 'tags')]
  const [junction, ...others] = junctionsOf(model, books, tags)
  expect([junction?.apiName, others]).toEqual(['taggings', []])
  const typed = { ...given, kind: 'manyToMany', to: tags.id, name: 'tags', opposite: 'books' } as const
  const made = createRelation(model, books, { ...typed, through: junction?.id ?? '' }, ids)?.operations ?? []

  expect(made).toMatchObject([
    {
      kind: 'createManyToManyFieldPair',
      data: {
        firstField: { apiName: 'tags', throughFieldId: books.relations[0]?.id },
        secondField: { apiName: 'books', throughFieldId: tags.relations[0]?.id },
      },
    },
  ])
  const over = named(applied(model, made), 'books').relations.at(-1)
  const tag = named(model, 'taggings').relations.find(({ apiName }) => apiName === 'tag')
  expect(over?.through).toEqual([books.relations[0]?.id, tag?.id])
})
