/** Compiled reads on a real MariaDB: what a plan asks for is what comes back, as JSON that the database wrote. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fullAccess, granted, type Viewer } from '../../src/core/access/access.ts'
import { decodeJson } from '../../src/core/model/codec.ts'
import type { Collection, Model } from '../../src/core/model/model.ts'
import { all } from '../../src/core/query/filter.ts'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import { compile, ident, join, type SqlParam, sql } from '../../src/core/sql/statement.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { build } from '../support/data/build.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'

const types = {
  small: 'int8',
  short: 'int16',
  medium: 'int32',
  large: 'int64',
  usmall: 'uint8',
  ushort: 'uint16',
  umedium: 'uint32',
  ularge: 'uint64',
  single: 'float32',
  double: 'float64',
  price: 'decimal(65,30)',
  code: 'string(80)',
  text: 'string',
  token: 'uuid',
  flag: 'boolean',
  day: 'date',
  clock: 'time',
  local: 'dateTime',
  instant: 'dateTimeWithTimezone',
  json: 'json',
  blob: 'bytes',
  place: 'geometry',
}

const model = build.model(
  {
    values: { id: 'int32', ...Object.fromEntries(Object.entries(types).map(([name, type]) => [name, `${type}?`])) },
    countries: { id: 'int32', name: 'string(40)' },
    authors: { id: 'int32', name: 'string(40)?', countryId: 'int32?' },
    articles: { id: 'int64', authorId: 'int32', title: 'string', rank: 'int32?', live: 'boolean' },
    comments: { id: 'int32', articleId: 'int64', text: 'string?' },
    profiles: { id: 'int32', ownerId: 'int32', bio: 'json?' },
  },
  [
    'authors.country(countryId) -> countries.authors',
    'articles.author(authorId) -> authors.articles',
    'comments.article(articleId) -> articles.comments',
    'profiles.owner(ownerId) -> authors.profile?',
  ],
)

let server: TestMariadb
let driver: SqlDriver

beforeAll(async () => {
  server = await startMariadb()
  driver = openMysql(server)
  await createTables(model)
  await insert('countries', [
    { id: 1, name: 'Österreich' },
    { id: 2, name: 'Chile' },
  ])
  await insert('authors', [
    { id: 1, name: 'Ada', countryId: 1 },
    { id: 2, name: 'Bo "the" \\ Builder\n', countryId: null },
    { id: 3, name: null, countryId: 2 },
    { id: 4, name: 'ada', countryId: 1 },
  ])
  await insert('articles', [
    { id: '9007199254740993', authorId: 1, title: 'One', rank: 3, live: true },
    { id: '2', authorId: 1, title: 'two 50% off', rank: null, live: false },
    { id: '3', authorId: 1, title: 'Three!', rank: 1, live: true },
    { id: '4', authorId: 2, title: 'ÄRGER ', rank: 1, live: true },
  ])
  await insert(
    'comments',
    [1, 2, 3, 4, 5].map((id) => ({ id, articleId: id % 2 === 0 ? '3' : '4', text: id === 3 ? null : `c${id}` })),
  )
  await insert('profiles', [{ id: 1, ownerId: 1, bio: { nested: [1, 'a\\"b', null] } }])
})

afterAll(async () => {
  await driver?.close()
  await server?.close()
})

describe('wire forms', () => {
  it.each([
    ['small', [-128, 127, 0]],
    ['short', [-32768, 32767]],
    ['medium', [-2147483648, 2147483647]],
    ['large', ['-9223372036854775808', '9223372036854775807', '9007199254740993']],
    ['usmall', [0, 255]],
    ['ushort', [65535]],
    ['umedium', [4294967295]],
    ['ularge', ['18446744073709551615', '9223372036854775808']],
    ['single', [0.1, -2.5, 16777215, 1.5e-38, 1e38, 0]],
    ['double', [0.1, 1e300, 5e-324, 123456789.12345679, -1.7976931348623157e308, 1e21, 1e-7]],
    ['price', ['12345678901234567890123456789012345.123456789012345678901234567891']],
    ['code', ['', 'trailing ', '\u0001\t"\\/\u2028é😀', "' or 1=1 -- "]],
    ['text', ['', 'ä'.repeat(100_000)]],
    ['token', ['019a0000-0000-7000-8000-0123456789ab', 'ffffffff-ffff-ffff-ffff-ffffffffffff']],
    ['flag', [true, false]],
    ['day', ['2024-02-29', '1000-01-01', '9999-12-31']],
    ['clock', ['09:00:00', '23:59:59.999999', '00:00:00', '10:10:10.5']],
    ['local', ['2024-01-01T09:00:00', '2024-01-01T09:00:00.120001', '1000-01-01T00:00:00', '9999-12-31T23:59:59.9']],
    ['instant', ['2024-01-01T09:00:00Z', '2024-10-27T00:30:00.000001Z', '1970-01-01T00:00:01Z']],
    ['json', [{ a: [1, 2.5, null, { b: 'x"\\' }] }, 'text', 'null', 0, false, [], {}]],
    ['blob', ['', 'AAEC/w==', 'AAAA'.repeat(1000)]],
    ['place', [{ type: 'Point', coordinates: [1.123456789, -2] }]],
  ])('come back as they were sent: %s', async (name, values) => {
    await driver.query({ text: 'delete from `values`', params: [] })
    await insert('values', [{ id: 0 }, ...values.map((value, index) => ({ id: index + 1, [name]: value }))])

    const { data } = await read('values', `fields=${name}&sort[0][id][direction]=asc`)

    expect(data).toEqual([null, ...values].map((value) => ({ [name]: value })))
  })

  it('write a float with more than six digits as the double of its value', async () => {
    await driver.query({ text: 'delete from `values`', params: [] })
    await insert('values', [
      { id: 1, single: 16777216.5 },
      { id: 2, single: 1234.5678 },
    ])

    const { data } = await read('values', 'fields=single')

    expect((data as { single: number }[]).map(({ single }) => Math.fround(single))).toEqual([
      Math.fround(16777216.5),
      Math.fround(1234.5678),
    ])
  })
})

describe('filters', () => {
  beforeAll(async () => {
    await driver.query({ text: 'delete from `values`', params: [] })
    await insert('values', [
      {
        id: 1,
        large: '9007199254740993',
        ularge: '18446744073709551615',
        single: 0.1,
        double: 0.1,
        price: '0.1',
        code: 'Straße ',
        token: '019a0000-0000-7000-8000-0123456789ab',
        flag: true,
        day: '2024-02-29',
        clock: '09:00:00.5',
        local: '2024-01-01T09:00:00.5',
        instant: '2024-01-01T09:00:00.5Z',
        json: { a: 1 },
      },
      { id: 2 },
    ])
  })

  it.each([
    ['large', '_eq', '9007199254740993', '9007199254740992'],
    ['ularge', '_eq', '18446744073709551615', '18446744073709551614'],
    ['ularge', '_gt', '18446744073709551614', '18446744073709551615'],
    ['single', '_eq', '0.1', '0.11'],
    ['double', '_eq', '0.1', '0.11'],
    ['price', '_eq', '0.10', '0.100000000000000000000000000001'],
    ['code', '_eq', 'Straße ', 'straße '],
    ['code', '_eq', 'Straße ', 'Straße'],
    ['code', '_contains', 'aß', 'Aß'],
    ['code', '_icontains', 'AßE', 'ase'],
    ['code', '_starts_with', 'Str', 'str'],
    ['code', '_ends_with', 'e ', 'e'],
    ['token', '_eq', '019A0000-0000-7000-8000-0123456789AB', '019a0000-0000-7000-8000-0123456789ac'],
    ['flag', '_eq', 'true', 'false'],
    ['day', '_lte', '2024-02-29', '2024-02-28'],
    ['clock', '_eq', '09:00:00.5', '09:00:00'],
    ['local', '_eq', '2024-01-01T09:00:00.5', '2024-01-01T09:00:00'],
    ['instant', '_eq', '2024-01-01T11:00:00.5%2B02:00', '2024-01-01T09:00:00.5%2B02:00'],
    ['instant', '_lt', '2500-01-01T00:00:00Z', '1900-01-01T00:00:00Z'],
    ['json', '_eq', '{"a":1}', '{"a":2}'],
    ['json', '_eq', '{ "a": 1.0 }', '{"A":1}'],
    ['json', '_neq', '{"a":2}', '{"a":1e0}'],
  ])('compare exactly: %s %s', async (name, operator, matching, other) => {
    expect(await ids('values', `filter[${name}][${operator}]=${matching}`)).toEqual([1])
    expect(await ids('values', `filter[${name}][${operator}]=${other}`)).toEqual([])
  })

  it.each([
    [String.raw`{"n":"\u00e9"}`, { n: 'é' }],
    [String.raw`{"\u00FC":["a\/b"]}`, { ü: ['a/b'] }],
    [String.raw`["\ud83d\ude00","\"\u00e9\"","\\","\\\u20ac"]`, ['😀', '"é"', '\\', '\\€']],
    [String.raw`["\\u00e9"]`, [String.raw`\u00e9`]],
  ])('find JSON whose characters others have escaped: %s', async (stored, value) => {
    const found = (one: unknown) => ids('profiles', `filter[bio][_eq]=${encodeURIComponent(JSON.stringify(one))}`)
    await driver.query({ text: 'insert into profiles values (9, 1, ?)', params: [stored] })

    const [equal, other] = [await found(value), await found([value])]
    await driver.query({ text: 'delete from profiles where id = 9', params: [] })

    expect([equal, other]).toEqual([[9], []])
  })

  it.each([
    ['filter[id][_in][0]=1&filter[id][_in][1]=2&filter[id][_in][2]=7', [1, 2]],
    ['filter[id][_nin][0]=1', [2]],
    ['filter[large][_neq]=1', [1]],
    ['filter[large][_null]=true', [2]],
    ['filter[code][_ncontains]=x', [1]],
    ['filter[day][_between][0]=2024-01-01&filter[day][_between][1]=2024-12-31', [1]],
    ['filter[_or][0][id][_eq]=2&filter[_or][1][flag][_eq]=true', [1, 2]],
  ])('follow SQL on nulls and lists: %s', async (search, expected) => {
    expect(await ids('values', search)).toEqual(expected)
  })

  it.each([
    ['%25', ['2']],
    ['!', ['3']],
    ['_', []],
    ['\\', []],
  ])('take no character of a text for a pattern: %s', async (operand, expected) => {
    expect(await ids('articles', `filter[title][_contains]=${operand}`)).toEqual(expected)
  })

  it('ignore case beyond ASCII, and never accents', async () => {
    expect(await ids('articles', 'filter[title][_icontains]=ärger')).toEqual(['4'])
    expect(await ids('articles', 'filter[title][_icontains]=arger')).toEqual([])
  })

  it('reach through relations', async () => {
    expect(await ids('authors', 'filter[articles][_some][live][_eq]=false')).toEqual([1])
    expect(await ids('authors', 'filter[articles][_every][live][_eq]=true')).toEqual([2, 3, 4])
    expect(await ids('authors', 'filter[articles][_none][title][_eq]=One')).toEqual([2, 3, 4])
    expect(await ids('articles', 'filter[author][country][name][_eq]=Österreich')).toEqual([
      '2',
      '3',
      '9007199254740993',
    ])
  })
})

describe('lists', () => {
  it.each([
    ['asc', ['3', '4', '9007199254740993', '2']],
    ['desc', ['2', '9007199254740993', '4', '3']],
  ])('have nulls last ascending and first descending: %s', async (direction, expected) => {
    expect(await ids('articles', `sort[0][rank][direction]=${direction}`)).toEqual(expected)
  })

  it('sort numbers as numbers although they are written as texts', async () => {
    await insert('articles', [{ id: '10', authorId: 4, title: 'x', rank: null, live: true }])

    expect(await ids('articles', '')).toEqual(['2', '3', '4', '10', '9007199254740993'])
    await driver.query({ text: 'delete from articles where id = 10', params: [] })
  })

  it('sort strings by their bytes', async () => {
    const { data } = await read('authors', 'fields=name&sort[0][name][direction]=asc')

    expect(data).toEqual([{ name: 'Ada' }, { name: 'Bo "the" \\ Builder\n' }, { name: 'ada' }, { name: null }])
  })

  it('are paged, with the number of all rows beside them and the order kept', async () => {
    const search = 'fields=id&sort[0][title][direction]=desc&filter[live][_eq]=true&meta=totalCount'

    expect(await read('articles', `${search}&limit=2&offset=1`)).toEqual({
      data: [{ id: '3' }, { id: '9007199254740993' }],
      total: 3,
    })
    expect(await read('articles', `${search}&offset=100`)).toEqual({ data: [], total: 3 })
    expect(await read('articles', 'filter[id][_eq]=77&meta=totalCount')).toEqual({ data: [], total: 0 })
  })

  it('keep the order of many rows beside a count', async () => {
    const search = 'fields=id&sort[0][id][direction]=desc&limit=3000&meta=totalCount'
    await driver.query({ text: 'insert into countries select seq, seq from seq_1000_to_5999', params: [] })

    const { data, total } = await read('countries', search)

    expect(total).toBe(5002)
    expect(data).toEqual(Array.from({ length: 3000 }, (_, index) => ({ id: 5999 - index })))
    await driver.query({ text: 'delete from countries where id >= 1000', params: [] })
  })
})

describe('relations', () => {
  it('are objects or null to one, and lists of their own to many', async () => {
    const { data } = await read('authors', 'fields=id,country.name,profile.bio,articles.id&sort[0][id][direction]=asc')

    expect(data).toEqual([
      {
        id: 1,
        country: { name: 'Österreich' },
        profile: { bio: { nested: [1, 'a\\"b', null] } },
        articles: { data: [{ id: '2' }, { id: '3' }, { id: '9007199254740993' }] },
      },
      { id: 2, country: null, profile: null, articles: { data: [{ id: '4' }] } },
      { id: 3, country: { name: 'Chile' }, profile: null, articles: { data: [] } },
      { id: 4, country: { name: 'Österreich' }, profile: null, articles: { data: [] } },
    ])
  })

  it('are sorted, filtered and paged per parent', async () => {
    const page = 'deep[articles][_limit]=1&deep[articles][_offset]=1&deep[articles][_sort][0][rank][direction]=asc'

    const { data } = await read('authors', `fields=id,articles.title&${page}&deep[articles][_filter][live][_eq]=true`)

    expect(data).toEqual([
      { id: 1, articles: { data: [{ title: 'One' }] } },
      { id: 2, articles: { data: [] } },
      { id: 3, articles: { data: [] } },
      { id: 4, articles: { data: [] } },
    ])
  })

  it('may be nested several levels deep and back again', async () => {
    const fields = 'fields=name,authors.name,authors.articles.title,authors.articles.comments.text'
    const arguments_ = 'deep[authors][articles][comments][_limit]=1&filter[id][_eq]=1'
    const back = 'authors.articles.comments.article.author.country.name'

    const { data } = await read('countries', `${fields},${back}&${arguments_}`)

    const comment = { text: 'c2', article: { author: { country: { name: 'Österreich' } } } }
    expect(data).toEqual([
      {
        name: 'Österreich',
        authors: {
          data: [
            {
              name: 'Ada',
              articles: {
                data: [
                  { title: 'two 50% off', comments: { data: [] } },
                  { title: 'Three!', comments: { data: [comment] } },
                  { title: 'One', comments: { data: [] } },
                ],
              },
            },
            { name: 'ada', articles: { data: [] } },
          ],
        },
      },
    ])
  })

  it('are never cut, however long the list', async () => {
    const text = 'x'.repeat(50_000)
    await insert('articles', [{ id: '500', authorId: 3, title: 'long', rank: null, live: true }])
    await insert(
      'comments',
      Array.from({ length: 100 }, (_, index) => ({ id: 1000 + index, articleId: '500', text })),
    )

    const { data } = await read('authors', 'fields=articles.comments.text&filter[id][_eq]=3')

    expect(data).toEqual([
      { articles: { data: [{ comments: { data: Array.from({ length: 100 }, () => ({ text })) } }] } },
    ])
  })

  it('that do not fit into a packet fail the read and are never left out', async () => {
    await insert('articles', [{ id: '501', authorId: 3, title: 'too long', rank: null, live: true }])
    await driver.query({
      text: `insert into comments select seq, 501, repeat('x', 1000000) from seq_2000_to_2019`,
      params: [],
    })

    const tooLong = read('authors', 'fields=articles.comments.text&filter[id][_eq]=3')

    await expect(tooLong).rejects.toMatchObject({ errno: 1690 })
    await driver.query({ text: 'delete from comments where id >= 1000', params: [] })
    await driver.query({ text: 'delete from articles where id in (500, 501)', params: [] })
  })
})

describe('hidden fields', () => {
  it('are null, relations among them, where no policy shows them', async () => {
    const collection = model.byName.get('articles') as Collection
    const live = build.read(model, 'articles', 'filter[live][_eq]=true').where
    const partial = granted([
      { rows: all, fields: new Set(['articles.id']), validation: all },
      { rows: live, fields: 'every', validation: all },
    ])
    const viewer: Viewer = {
      seesModel: true,
      accessTo: (other) => (other === collection ? partial : fullAccess),
    }
    const plan = build.read(model, 'articles', 'fields=title,author.name,comments.text&limit=2', viewer)

    const { data } = await run(plan)

    expect(data).toEqual([
      { title: null, author: null, comments: null },
      { title: 'Three!', author: { name: 'Ada' }, comments: { data: [{ text: 'c2' }, { text: 'c4' }] } },
    ])
  })
})

async function createTables({ collections }: Model): Promise<void> {
  for (const { dbName, primitives, primaryKey } of collections.values()) {
    const columns = primitives.map(({ dbName: name, type, isList, isNullable }) => {
      const columnType = mariadb.columnType(type, isList) ?? sql`unknown`
      return sql`${ident(name)} ${columnType} ${isNullable ? sql`null` : sql`not null`}`
    })
    const key = join(primaryKey.map(({ dbName: name }) => ident(name)))
    await driver.query(compile(sql`create table ${ident(dbName)} (${join(columns)}, primary key (${key}))`, mariadb))
  }
}

/** Wire values, through the codec. */
async function insert(name: string, items: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  const { dbName, primitives } = model.byName.get(name) as Collection
  const rows = items.map((item) => {
    const cells = primitives.map(({ apiName, type }) =>
      mariadb.typed({ type, isList: false }, encoded(type, item[apiName])),
    )
    return sql`(${join(cells)})`
  })
  await driver.query(compile(sql`insert into ${ident(dbName)} values ${join(rows)}`, mariadb))
}

function encoded(type: Parameters<typeof decodeJson>[0], value: unknown): SqlParam {
  if (value === undefined || value === null) return null
  const decoded = decodeJson(type, false, value)
  if ('fault' in decoded) throw new Error(decoded.fault)
  return decoded.ok
}

async function run(plan: Parameters<typeof build.statement>[0]): Promise<{ data: unknown; total?: number }> {
  const { data, total } = mariadb.answerList(await driver.query(build.statement(plan, mariadb)), plan.count)
  return { data: JSON.parse(data), ...(total !== undefined && { total }) }
}

function read(name: string, search: string): Promise<{ data: unknown; total?: number }> {
  return run(build.read(model, name, search))
}

async function ids(name: string, search: string): Promise<unknown[]> {
  const { data } = await read(name, `fields=id&${search}`)
  return (data as { id: unknown }[]).map(({ id }) => id)
}
