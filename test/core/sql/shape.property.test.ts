/**
 * No text from outside ever becomes part of a statement's text: requests of one shape compile to one text whatever their
 * values, and what is sent where a name belongs is refused. Every value here bears a mark that no text may show.
 */

import fc, { type Arbitrary } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fullAccess, type Viewer } from '../../../src/core/access/access.ts'
import { ServiceError } from '../../../src/core/error.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { decodeKey, keyEquals, keyFields } from '../../../src/core/plan/item-key.ts'
import { planOne } from '../../../src/core/plan/read.ts'
import {
  planCreate,
  planDeleteMany,
  planUpdateMany,
  planUpdateOne,
  type WriteRequest,
} from '../../../src/core/plan/write.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseItemQuery } from '../../../src/core/query/parameters.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { mariadb, mysql } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { compileRead } from '../../../src/core/sql/read.ts'
import { binder, compile, ident, literal, type Statement } from '../../../src/core/sql/statement.ts'
import { build } from '../../support/data/build.ts'
import { anyCharacter } from '../../support/data/characters.ts'
import { writeStatements } from '../../support/data/write-statements.ts'
import { casesOr } from '../../support/run/cases.ts'

const MARK = '§'

const fields = {
  title: 'string?',
  short: 'string(80)?',
  rank: 'int32?',
  views: 'int64?',
  price: 'decimal(10,2)?',
  ratio: 'float64?',
  live: 'boolean?',
  code: 'uuid?',
  day: 'date?',
  hour: 'time?',
  local: 'dateTime?',
  at: 'dateTimeWithTimezone?',
  meta: 'json?',
} as const

const model = build.model(
  {
    authors: { id: 'string', name: 'string?' },
    articles: { id: 'string', ...fields, authorId: 'string?', editorId: 'string?' },
  },
  ['articles.author(authorId) -> authors.articles', 'articles.editor(editorId) -> authors.edited'],
)

const dialects = [
  ['PostgreSQL', postgres],
  ['MariaDB', mariadb],
  ['MySQL', mysql],
] as const

describe.each(dialects)('a statement for %s', (_title, dialect) => {
  it('of a read has one text for all values', () => {
    const property = fc.property(anyRead, fc.infiniteStream(anyThrow), (template, throws) => {
      const texts = [0, 1].map(() => read(dialect, fill(template, throws)).text)

      expect(texts[0]).toBe(texts[1])
      expect(texts[0]).not.toContain(MARK)
    })
    fc.assert(property, { numRuns: casesOr(400) })
  })

  it('of a write has one text for all values', () => {
    const property = fc.property(anyWrite, fc.infiniteStream(anyThrow), (template, throws) => {
      const texts = [0, 1].map(() => write(dialect, fill(template, throws)).map(({ text }) => text))

      expect(texts[0]).toEqual(texts[1])
      expect(texts[0]?.join('\n')).not.toContain(MARK)
    })
    fc.assert(property, { numRuns: casesOr(400) })
  })

  it('never shows what is sent where a name belongs', () => {
    const property = fc.property(anyMisnamed, anyMarked, (place, text) => {
      const shown = shownBy(() => read(dialect, place(text)))

      expect(shown).not.toContain(MARK)
    })
    fc.assert(property, { numRuns: casesOr(400) })
  })

  it('never shows what a body names', () => {
    const property = fc.property(anyMisnamedBody, anyMarked, (place, text) => {
      const shown = shownBy(() => ({
        text: write(dialect, place(text))
          .map((one) => one.text)
          .join('\n'),
      }))

      expect(shown).not.toContain(MARK)
    })
    fc.assert(property, { numRuns: casesOr(200) })
  })

  it('of a read by key is the same for every key', () => {
    const property = fc.property(anyMarked, (key) => {
      const { text, params } = readByKey(dialect, key)

      expect(text).toBe(readByKey(dialect, 'other').text)
      expect(params).toContain(key)
    })
    fc.assert(property)
  })

  it('quotes every name and every text so that it ends where it ends', () => {
    const property = fc.property(fc.string({ unit: anyCharacter, minLength: 1 }), (text) => {
      const rest = compile({ parts: [...ident(text).parts, ...literal(text).parts] }, dialect).text

      expect(unquoted(rest, dialect)).toBe('')
    })
    fc.assert(property, { numRuns: casesOr(400) })
  })
})

/** What is left of a text once a quoted name and a quoted constant are taken from its beginning. */
function unquoted(text: string, dialect: Dialect): string {
  const afterName = text.replace(dialect === postgres ? /^"(?:[^"]|"")*"/ : /^`(?:[^`]|``)*`/, '')
  return afterName.replace(/^(?:'(?:[^']|'')*'|_utf8mb4 x'[0-9a-f]*')/, '')
}

type Json = null | string | number | boolean | readonly Json[] | Members
type Members = { readonly [key: string]: Json }

/** Stands for a value of the type, to be thrown. */
function some(type: string): Json {
  return { $: type }
}

type Throw = { readonly text: string; readonly number: number }

const anyMarked = fc
  .oneof(
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc.constantFrom(`'`, '"', '`', '\\', `'; drop table articles; --`, '$1', '?', ':x', '/*', '%', '\n', 'id'),
  )
  .map((text) => `${MARK}${text.replaceAll('\0', '')}`)
const anyThrow: Arbitrary<Throw> = fc.record({ text: anyMarked, number: fc.nat({ max: 99 }) })

function fill(template: unknown, throws: fc.Stream<Throw>): unknown {
  if (Array.isArray(template)) return template.map((one) => fill(one, throws))
  if (typeof template !== 'object' || template === null) return template
  if ('$' in template) return thrown(String(template.$), throws.next().value)
  return Object.fromEntries(Object.entries(template).map(([name, one]) => [name, fill(one, throws)]))
}

function thrown(type: string, { text, number }: Throw): Json {
  const two = String(number).padStart(2, '0')
  const minute = String(number % 60).padStart(2, '0')
  switch (type) {
    case 'int32':
    case 'float64':
      return number
    case 'int64':
    case 'decimal':
      return String(number)
    case 'boolean':
      return number % 2 === 0
    case 'uuid':
      return `00000000-0000-0000-0000-0000000000${two}`
    case 'date':
      return `20${two}-01-01`
    case 'time':
      return `10:${minute}:00`
    case 'dateTime':
      return `20${two}-01-01T10:${minute}:00`
    case 'dateTimeWithTimezone':
      return `20${two}-01-01T10:${minute}:00Z`
    case 'json':
      return { [text]: [text, number, { [`${text}x`]: text }] }
    default:
      return text
  }
}

const anyField = fc.constantFrom(...Object.entries(fields).map(([name, text]) => ({ name, type: typeName(text) })))

function typeName(text: string): string {
  return text.replace(/\W.*/, '')
}

const { filter } = fc.letrec<{ filter: { readonly [key: string]: Json } }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4 },
    fc.tuple(anyField, fc.nat()).map(([{ name, type }, choice]) => ({ [name]: condition(type, choice) })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((filters) => ({ _and: filters })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((filters) => ({ _or: filters })),
    tie('filter').map((one) => ({ _not: one })),
    fc.tuple(fc.constantFrom('_some', '_every', '_none'), tie('filter')).map(([quantifier, one]) => ({
      author: { name: { _contains: some('string') }, articles: { [quantifier]: one } },
    })),
  ),
}))

function condition(type: string, choice: number): Json {
  const value = some(type)
  const equality: Json[] = [{ _eq: value }, { _neq: value }, { _null: true }]
  if (type === 'json' || type === 'boolean') return equality[choice % 3] ?? null
  const identity: Json[] = [...equality, { _in: [value, value] }, { _nin: [value] }]
  if (type === 'uuid') return identity[choice % 5] ?? null
  const ordered: Json[] = [...identity, { _lt: value }, { _gte: value }]
  const parts = ['_contains', '_icontains', '_nicontains', '_starts_with', '_nends_with'].map((name) => ({
    [name]: value,
  }))
  const all = type === 'string' ? [...ordered, ...parts] : [...ordered, { _between: [value, value] }]
  return all[choice % all.length] ?? null
}

const anyRead = fc.record(
  {
    filter,
    fields: fc.constantFrom('title,meta', 'author.name,author.articles.title', '*', 'author.*'),
    sort: fc.constantFrom<Json>([{ rank: { direction: 'desc' } }], [{ meta: { nulls: 'first' } }]),
    offset: fc.constantFrom(0, 5),
    meta: fc.constant('totalCount'),
  },
  { requiredKeys: ['filter'] },
)

type Write = {
  readonly kind: 'create' | 'updateOne' | 'updateMany' | 'delete'
  readonly body: Json
  readonly query: Json
}

const anyItem = fc
  .subarray(Object.entries(fields))
  .map((chosen) =>
    Object.fromEntries(
      [['id', 'string'], ['title', 'string'], ...chosen].map(([name = '', text = '']) => [name, some(typeName(text))]),
    ),
  )

const anyRelation: Arbitrary<Members> = fc.oneof(
  fc.constant({}),
  anyItem.map((item) => ({
    author: {
      _create: { data: { id: some('string'), name: some('string'), edited: [{ _create: { data: [item] } }] } },
    },
  })),
  fc.constant({ author: { _connect: { key: { id: some('string') } } } }),
)

const anyChange: Arbitrary<Members> = filter.map(
  (one): Members => ({
    author: [
      { _connect: { key: { id: some('string') } } },
      { _update: { data: { name: some('string'), edited: [{ _disconnect: { filter: one } }] } } },
      { _delete: { filter: { name: { _eq: some('string') } } } },
    ],
  }),
)

const anyWrite: Arbitrary<Write> = fc.oneof(
  fc.array(fc.tuple(anyItem, anyRelation), { minLength: 1, maxLength: 3 }).map(
    (items): Write => ({
      kind: 'create',
      body: items.map(([item, relation]) => ({ ...item, ...relation })),
      query: { fields: 'title,author.name' },
    }),
  ),
  fc
    .tuple(anyItem, fc.oneof(fc.constant({}), anyChange))
    .map(([item, change]): Write => ({ kind: 'updateOne', body: { ...item, ...change }, query: {} })),
  fc.tuple(anyItem, filter).map(([body, one]): Write => ({ kind: 'updateMany', body, query: { filter: one } })),
  filter.map((one): Write => ({ kind: 'delete', body: null, query: { filter: one, fields: 'title' } })),
)

const anyMisnamed = fc.constantFrom<(text: string) => unknown>(
  (text) => ({ filter: { [text]: { _eq: '1' } } }),
  (text) => ({ filter: { title: { [text]: '1' } } }),
  (text) => ({ filter: { title: { [`_${text}`]: '1' } } }),
  (text) => ({ filter: { author: { [text]: { _eq: '1' } } } }),
  (text) => ({ filter: { author: { articles: { [`_${text}`]: { title: '1' } } } } }),
  (text) => ({ filter: { [`_${text}`]: [{ title: '1' }] } }),
  (text) => ({ filter: { meta: { _eq: { [text]: text } } } }),
  (text) => ({ fields: text }),
  (text) => ({ fields: `title,${text}` }),
  (text) => ({ fields: `author.${text}` }),
  (text) => ({ fields: `${text}.name` }),
  (text) => ({ sort: [{ [text]: { direction: 'asc' } }] }),
  (text) => ({ sort: [{ title: { direction: text } }] }),
  (text) => ({ sort: [{ title: { nulls: text } }] }),
  (text) => ({ limit: text }),
  (text) => ({ offset: text }),
  (text) => ({ meta: text }),
  (text) => ({ [text]: '1' }),
  (text) => ({
    fields: 'author.articles.id',
    deep: { author: { articles: { _sort: [{ [text]: { direction: 'asc' } }] } } },
  }),
  (text) => ({ fields: 'author.articles.id', deep: { author: { articles: { _filter: { [text]: '1' } } } } }),
  (text) => ({ fields: 'author.articles.id', deep: { author: { articles: { _limit: text } } } }),
  (text) => ({ fields: 'author.articles.id', deep: { [text]: { _limit: '1' } } }),
  (text) => ({ fields: 'author.articles.id', deep: { author: { [`_${text}`]: '1' } } }),
)

const anyMisnamedBody = fc.constantFrom<(text: string) => Write>(
  (text) => ({ kind: 'create', body: [{ id: 'a', title: 'a', [text]: text }], query: {} }),
  (text) => ({ kind: 'create', body: [{ id: 'a', title: 'a', author: { [text]: {} } }], query: {} }),
  (text) => ({
    kind: 'create',
    body: [{ id: 'a', title: 'a', author: { _connect: { key: { [text]: 'a' } } } }],
    query: {},
  }),
  (text) => ({
    kind: 'create',
    body: [{ id: 'a', title: 'a', author: { _create: { data: { [text]: 'a' } } } }],
    query: {},
  }),
  (text) => ({ kind: 'create', body: [{ id: 'a', title: 'a' }], query: { fields: text } }),
  (text) => ({ kind: 'updateOne', body: { [text]: 'a' }, query: {} }),
  (text) => ({ kind: 'updateOne', body: { author: [{ _delete: { filter: { [text]: 'a' } } }] }, query: {} }),
  (text) => ({ kind: 'updateMany', body: { title: 'a' }, query: { filter: { [text]: 'a' } } }),
  (text) => ({ kind: 'delete', body: null, query: { filter: { title: { [text]: 'a' } } } }),
)

const administrator: Viewer = { accessTo: () => fullAccess, seesModel: true }

function read(dialect: Dialect, request: unknown): Statement {
  return build.statement(build.read(model, 'articles', searchOf(request)), dialect)
}

function readByKey(dialect: Dialect, key: string): Statement {
  const context = { viewer: administrator, collection: articles(), access: fullAccess, limits, maxRows: 100_000 }
  const fields = keyFields(context.collection)
  const plan = planOne(
    context,
    parseItemQuery(parseBrackets('')),
    keyEquals(fullAccess, fields, [{ kind: 'key', index: 0 }]),
  )
  const [decoded = null] = decodeKey(fields, { kind: 'value', value: key })
  return binder(compileRead(plan, dialect))(() => decoded)
}

function write(dialect: Dialect, filled: unknown): readonly Statement[] {
  const { kind, body, query } = filled as Write
  const collection = articles()
  const request: WriteRequest = {
    viewer: administrator,
    collection,
    generators: { uuid: () => '00000000-0000-0000-0000-000000000000', now: () => '2026-01-01T00:00:00Z' },
    read: { viewer: administrator, collection, access: fullAccess, limits, maxRows: 100_000 },
    query: () => parseItemQuery(parseBrackets(searchOf(query))),
  }
  const plans = {
    create: () => atOnce(planCreate(request, body, 1_000)),
    updateOne: () => atOnce(planUpdateOne(request, body, { kind: 'value', value: 'key' })),
    updateMany: () => atOnce(planUpdateMany(request, body)),
    delete: () => atOnce(planDeleteMany(request)),
  }
  return writeStatements(plans[kind](), dialect)
}

const limits = { default: 100, max: 10_000 }

function articles() {
  const collection = model.byName.get('articles')
  if (collection === undefined) throw new Error('there are no articles')
  return collection
}

/** The text that was made; nothing where the request was refused. */
function shownBy(make: () => { readonly text: string }): string {
  try {
    return make().text
  } catch (error) {
    if (error instanceof ServiceError) return ''
    throw error
  }
}

function searchOf(request: unknown): string {
  return Object.entries(request as object)
    .flatMap(([name, part]) => print(encodeURIComponent(name), part))
    .join('&')
}

/** An object that is an operand of a JSON field stands in brackets only where all its members are texts. */
function print(place: string, node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap((one, index) => print(`${place}[${index}]`, one))
  if (typeof node !== 'object' || node === null) return [`${place}=${encodeURIComponent(String(node))}`]
  const entries = Object.entries(node)
  if (entries.some(([name]) => name.startsWith(MARK) && /\[meta\]\[_n?eq\]$/.test(place))) {
    return [`${place}=${encodeURIComponent(JSON.stringify(node))}`]
  }
  return entries.flatMap(([name, one]) => print(`${place}[${encodeURIComponent(name)}]`, one))
}
