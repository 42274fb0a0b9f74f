/** Types out of a model file are those out of the manifest of the same model (packages/client, entry `./generate`). */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type ModelText, writeModelSchema } from '../../packages/client/src/generate.ts'

/** The workspace of the client's tests, whose types `test/acceptance/client/schema.test.ts` holds to its manifest. */
const shop = {
  articles: {
    fields: {
      id: 'int64 auto',
      at: 'dateTimeWithTimezone?',
      author: { to: 'authors?', constraint: 'articles_author', index: false },
      details: 'json?',
      likes: 'int32?',
      price: 'decimal(10,2)?',
      rating: 'float64?',
      status: 'string?',
      title: 'string',
      words: 'string[]?',
    },
  },
  authors: { fields: { id: 'int64 auto', born: 'date?', name: 'string' } },
  comments: {
    fields: { id: 'int64 auto', article: { to: 'articles', opposite: 'comments' }, text: 'string' },
  },
  notes: { fields: { id: 'string', text: 'string?' } },
}

it('is what the service would say', () => {
  const expected = readFileSync('test/acceptance/client/schema.ts', 'utf8')

  expect(writeModelSchema({ collections: shop })).toBe(expected)
})

it('has the columns, opposites and junctions that relations bring along', () => {
  const text = writeModelSchema({
    collections: {
      people: {
        fields: {
          no: 'string(20)',
          land: 'string',
          boss: { to: 'people?', opposite: 'staff' },
          tags: { many: 'tags' },
        },
        key: ['land', 'no'],
        indexes: ['unique boss', 'land'],
      },
      passports: {
        fields: { id: 'uuid auto', of: { to: 'people', unique: true, opposite: 'passport' }, until: 'date auto' },
      },
      tags: { fields: { id: 'int32 auto', name: { type: 'string', readOnly: true } } },
      totals: { fields: { n: 'float64' }, key: [], readOnly: true },
    },
  })

  expect(text).toContain('    key: [land: string, no: string]\n')
  expect(text).toContain("      boss: { to: 'people'; by: 'bossLand' | 'bossNo'; null: true }\n")
  expect(text).toContain("      passport: { to: 'passports'; null: true }\n")
  expect(text).toContain(
    "    many: {\n      people_tags: 'people_tags'\n      staff: 'people'\n      tags: 'tags'\n    }\n",
  )
  expect(text).toContain("    unique: readonly ['bossLand', 'bossNo']\n")
  expect(text).toContain(
    "      of: { to: 'people'; by: 'ofLand' | 'ofNo' }\n    }\n    unique: readonly ['ofLand', 'ofNo']\n",
  )
  expect(text).toContain('      id?: string\n      ofLand?: string\n      ofNo?: string\n      until?: string\n')
  expect(text).toContain('    key: [fromLand: string, fromNo: string, toId: number]\n')
  expect(text).toContain('    many: {\n      people: ' + "'people'\n      people_tags: 'people_tags'\n    }\n")
  expect(text).toContain("  totals: {\n    read: {\n      n: number\n    }\n    floats: 'n'\n  }\n")
})

it.each<[string, unknown, string]>([
  ['a type', { id: 'a type' }, 'collections.a.fields.id: "a type" is no type'],
  ['a field', { id: {} }, 'collections.a.fields.id is no field'],
  ['a relation to nowhere', { id: 'int32', b: { to: 'bs' } }, 'b leads to bs, which is not in the file'],
])('refuses %s that is none', (_, fields, message) => {
  expect(() => writeModelSchema({ collections: { a: { fields } } } as ModelText)).toThrow(message)
})

it.each<[string, unknown, string]>([
  ['a list', [], 'it holds no object'],
  ['collections in a list', { collections: [] }, 'collections is no object of collections by name'],
  ['a collection that is null', { collections: { a: null } }, 'collections.a is no collection'],
  ['a collection without fields', { collections: { a: {} } }, 'collections.a.fields is no object of fields by name'],
  ['a field that is null', { collections: { a: { fields: { x: null } } } }, 'collections.a.fields.x is no field'],
  ['a field that is a number', { collections: { a: { fields: { x: 7 } } } }, 'collections.a.fields.x is no field'],
  ['a type', { collections: { a: { fields: { x: { type: 7 } } } } }, 'collections.a.fields.x.type is no text'],
  ['a target', { collections: { a: { fields: { x: { to: 7 } } } } }, 'collections.a.fields.x.to is no text'],
  ['references', { collections: { a: { fields: { x: { to: 'a', references: 'id' } } } } }, 'x.references is no list'],
  ['a key', { collections: { a: { fields: { id: 'int32' }, key: 'id' } } }, 'collections.a.key is no list of names'],
  ['an index', { collections: { a: { fields: { id: 'int32' }, indexes: [7] } } }, 'collections.a.indexes is no list'],
  [
    'a key in itself',
    { collections: { a: { fields: { b: { to: 'a' } }, key: ['b'] } } },
    'b leads to a key that it is',
  ],
])('says where %s is malformed', (_, model, message) => {
  expect(() => writeModelSchema(model as ModelText)).toThrow(message)
})

it('takes names that JavaScript has itself', () => {
  const file = `{"collections": {
    "constructor": {"fields": {"id": "int32", "toString": {"to": "then?"}}},
    "then": {"fields": {"id": "int32", "then": {"many": "constructor"}, "to": {"many": "then", "through": "__proto__"}}},
    "kinds": {"fields": {"id": "int32", "odd": "constructor"}}
  }}`

  const text = writeModelSchema(JSON.parse(file) as ModelText)

  expect(text).toContain('  constructor: {\n')
  expect(text).toContain("      toString: { to: 'then'; by: 'toStringId'; null: true }\n")
  expect(text).toContain("      then: 'then'\n      then_then: 'then_then'\n")
  expect(text).toContain('  __proto__: {\n    key: [fromId: number, toId: number]\n')
  expect(text).toContain("      __proto__: '__proto__'\n      __proto__To: '__proto__'\n")
  // A type that a later service may have.
  expect(text).toContain('      odd: string\n')
})
