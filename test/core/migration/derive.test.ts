import transliterate from '@sindresorhus/transliterate'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  byteLength,
  conventionalName,
  deriveApiName,
  deriveIndexName,
  withoutKeySuffix,
} from '../../../src/core/migration/derive.ts'
import { apiNameSchema } from '../../../src/core/model/api-name.ts'
import { anyCharacter } from '../../support/data/characters.ts'

const free = () => false

it.each([
  ['title', 'title'],
  ['Order Items', 'Order_Items'],
  ['2nd', 'n2nd'],
  ['_hidden', 'n_hidden'],
  ['ζ', 'n_'],
  ['a'.repeat(70), 'a'.repeat(63)],
])('derives an API name from %j', (dbName, apiName) => {
  expect(deriveApiName(dbName, free)).toBe(apiName)
})

it('numbers a name that is taken', () => {
  const taken = new Set(['a', 'a_2', 'a_3'])

  expect(deriveApiName('a', (name) => taken.has(name))).toBe('a_4')
})

it('names an index after its table and columns, in at most 63 bytes', () => {
  expect(deriveIndexName('articles', { kind: 'primary', columns: ['id'] }, free)).toBe('articles_pkey')
  expect(deriveIndexName('articles', { kind: 'unique', columns: ['a', 'b'] }, free)).toBe('articles_a_b_key')
  expect(deriveIndexName('é'.repeat(31), { kind: 'normal', columns: ['title'] }, free)).toBe(`${'é'.repeat(29)}_idx`)
})

it('always derives a valid name that is free', () => {
  const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 })

  fc.assert(
    fc.property(names, fc.integer({ min: 0, max: 40 }), (dbName, count) => {
      const taken = new Set<string>()
      for (let round = 0; round <= count; round += 1) {
        const name = deriveApiName(dbName, (candidate) => taken.has(candidate))
        expect(apiNameSchema().safeParse(name).success).toBe(true)
        expect(byteLength(name)).toBeLessThanOrEqual(63)
        expect(taken).not.toContain(name)
        taken.add(name)
      }
    }),
  )
})

it.each([
  ['author_id', 'authorId'],
  ['AuthorId', 'AuthorId'],
  ['Order Items', 'OrderItems'],
  ['ORDER_ITEMS', 'orderItems'],
  ['ID', 'id'],
  ['user_ID', 'userID'],
  ['  spaced--out. ', 'spacedOut'],
  ['2nd', 'n2nd'],
  ['_hidden', 'hidden'],
  ["customer's", 'customers'],
  ['a"b', 'aB'],
  ['Größe', 'Groesse'],
  ['GRÖSSE', 'groesse'],
  ['nai\u0308ve', 'naive'],
  ['имя_автора', 'imyaAvtora'],
  ['ｆｕｌｌ', 'full'],
  ['日本', 'u65e5u672c'],
  ['', 'n'],
  ['—', 'n'],
  ['__proto__', 'proto'],
])('names what an introspection finds: %j', (dbName, apiName) => {
  expect(conventionalName(dbName, transliterate)).toBe(apiName)
})

it('finds a valid name for anything', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (dbName) => {
      expect(conventionalName(dbName, transliterate)).toMatch(/^[A-Za-z][A-Za-z0-9]*$/)
    }),
  )
})

it.each([
  ['author_id', 'author'],
  ['authorId', 'author'],
  ['AuthorID', 'Author'],
  ['AUTHOR_ID', 'AUTHOR'],
  ['author id', 'author'],
  ['paid', undefined],
  ['author', undefined],
  ['id', undefined],
  ['_id', undefined],
  ['Id', undefined],
])('tells what a key stands for: %j', (dbName, stem) => {
  expect(withoutKeySuffix(dbName)).toBe(stem)
})
