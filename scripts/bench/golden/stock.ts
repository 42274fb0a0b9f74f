/** The tables of the golden suite: their model, and the statements by which PostgreSQL makes them. */
import { buildModel, type IndexRecord, type Model, type RelationFieldRecord } from '../../../src/core/model/model.ts'
import { build } from '../../../test/support/data/build.ts'

/** Twelve columns of one type each, five times over: the width of a table that has grown for years. */
const wideTypes = {
  label: { field: 'string', column: 'text', value: "'Value ' || n" },
  short: { field: 'string(20)?', column: 'varchar(20)', value: "case when n % 7 > 0 then 'short ' || n % 90 end" },
  small: { field: 'int32', column: 'int', value: 'n % 1000' },
  big: { field: 'int64?', column: 'bigint', value: 'case when n % 5 > 0 then n::bigint * 1000000007 end' },
  ratio: { field: 'float64', column: 'double precision', value: 'n / 8.0' },
  price: { field: 'decimal(12,2)', column: 'numeric(12, 2)', value: 'n / 100.0' },
  live: { field: 'boolean', column: 'boolean', value: 'n % 2 = 0' },
  code: { field: 'uuid', column: 'uuid', value: 'md5(n::text)::uuid' },
  day: { field: 'date', column: 'date', value: "date '2026-01-01' + n % 365" },
  at: {
    field: 'dateTimeWithTimezone',
    column: 'timestamptz',
    value: "timestamptz '2026-01-01 00:00Z' + n * interval '1 minute'",
  },
  local: {
    field: 'dateTime?',
    column: 'timestamp',
    value: "case when n % 3 > 0 then timestamp '2026-01-01' + n * interval '1 minute' end",
  },
  meta: {
    field: 'json?',
    column: 'jsonb',
    value: `case when n % 4 > 0 then jsonb_build_object('n', n, 'tag', 'x') end`,
  },
} as const

const wide = Array.from({ length: 5 }, (_, round) =>
  Object.entries(wideTypes).map(([name, type]) => ({ name: `${name}${round}`, ...type })),
)
  .flat()
  .slice(0, 59)

export const wideColumns = wide.map(({ name }) => name)

const counted = { source: 'connectorManaged', isAutoincrement: true } as const

const indexed = [
  ['cities', 'countryId'],
  ['authors', 'cityId'],
  ['articles', 'authorId'],
  ['articles', 'publishedOn'],
  ['articles', 'status'],
  ['comments', 'articleId'],
  ['articleTags', 'articleId'],
  ['articleTags', 'tagId'],
] as const

function makeModel(): Model {
  const { records } = build.model(
    {
      countries: { id: 'int64', name: 'string', code: 'string' },
      cities: { id: 'int64', name: 'string', countryId: 'int64' },
      authors: { id: 'int64', name: 'string', email: 'string', cityId: 'int64' },
      articles: {
        id: 'int64',
        title: 'string',
        slug: 'string',
        status: 'string',
        summary: 'string',
        views: 'int32',
        featured: 'boolean',
        score: 'float64',
        publishedOn: 'date',
        price: 'decimal(12,2)',
        authorId: 'int64',
      },
      comments: { id: 'int64', body: 'string', isSpam: 'boolean', rating: 'int32?', articleId: 'int64' },
      entries: {
        id: 'int64',
        title: 'string',
        slug: 'string',
        status: 'string',
        views: 'int32',
        featured: 'boolean',
        score: 'float64',
        publishedOn: 'date',
      },
      tags: { id: 'int64', name: 'string' },
      articleTags: { id: 'int64', articleId: 'int64', tagId: 'int64' },
      wide: { id: 'int64', ...Object.fromEntries(wide.map(({ name, field }) => [name, field])) },
    },
    [
      'cities.country(countryId) -> countries.cities',
      'authors.city(cityId) -> cities.authors',
      'articles.author(authorId) -> authors.articles',
      'comments.article(articleId) -> articles.comments',
      'articleTags.article(articleId) -> articles.links',
      'articleTags.tag(tagId) -> tags.links',
    ],
  )
  const tags: RelationFieldRecord = {
    id: 'articles.tags',
    collectionId: 'articles',
    apiName: 'tags',
    oppositeCollectionId: 'tags',
    oppositeRelationFieldId: null,
    constraintId: null,
    isList: true,
    isNullable: true,
    through: { nearId: 'articles.links', farId: 'articleTags.tag' },
  }
  const indexes = indexed.map(([collection, field]): IndexRecord => {
    const id = `${collection}.${field}`
    return { id: `${id}_index`, collectionId: collection, dbName: `${id}_index`, kind: 'normal', fieldIds: [id] }
  })
  const primitiveFields = records.primitiveFields.map((field) =>
    field.id === 'entries.id' ? { ...field, defaultValue: counted } : field,
  )
  return buildModel(1, {
    ...records,
    primitiveFields,
    relationFields: [...records.relationFields, tags],
    indexes: [...records.indexes, ...indexes],
  })
}

export const model: Model = makeModel()

/** Makes the tables with `rows` articles, five of each author, with three comments and three tags each. */
export function stockStatements(rows: number): readonly string[] {
  const authors = rows / 5
  return [
    'create table countries (id bigint primary key, name text not null, code text not null)',
    'create table cities (id bigint primary key, name text not null, "countryId" bigint not null references countries)',
    'create table authors (id bigint primary key, name text not null, email text not null, "cityId" bigint not null references cities)',
    'create table articles (id bigint primary key, title text not null, slug text not null, status text not null, summary text not null, views int not null, featured boolean not null, score double precision not null, "publishedOn" date not null, price numeric(12, 2) not null, "authorId" bigint not null references authors)',
    'create table comments (id bigint primary key, body text not null, "isSpam" boolean not null, rating int, "articleId" bigint not null references articles)',
    'create table entries (id bigint generated by default as identity primary key, title text not null, slug text not null, status text not null, views int not null, featured boolean not null, score double precision not null, "publishedOn" date not null)',
    'create table tags (id bigint primary key, name text not null)',
    'create table "articleTags" (id bigint primary key, "articleId" bigint not null references articles, "tagId" bigint not null references tags)',
    `create table wide (id bigint primary key, ${wide.map(({ name, column, field }) => `${name} ${column}${field.endsWith('?') ? '' : ' not null'}`).join(', ')})`,
    `insert into countries select n, 'Country ' || n, 'C' || n from generate_series(1, 50) n`,
    `insert into cities select n, 'City ' || n, 1 + n % 50 from generate_series(1, 500) n`,
    `insert into authors select n, 'Author ' || n, 'author' || n || '@example.com', 1 + n % 500 from generate_series(1, ${authors}) n`,
    `insert into articles select n, 'The article of number ' || n, 'the-article-of-number-' || n, case when n % 3 = 0 then 'draft' else 'published' end, 'What is worth knowing of number ' || n || ', in "one" sentence', n::bigint * 7919 % 977, n % 10 = 0, (n % 100) / 8.0, date '2026-01-01' + n % 365, n / 100.0, 1 + n::bigint * 7919 % ${authors} from generate_series(1, ${rows}) n`,
    `insert into comments select n, 'Comment ' || n || ' says something of the article', n % 20 = 0, case when n % 9 > 0 then n % 5 end, 1 + n::bigint * 7919 % ${rows} from generate_series(1, ${rows * 3}) n`,
    `insert into tags select n, 'Tag ' || n from generate_series(1, 200) n`,
    `insert into "articleTags" select n, 1 + n % ${rows}, 1 + n::bigint * 7919 % 200 from generate_series(1, ${rows * 3}) n`,
    `insert into wide select n, ${wide.map(({ value }) => value).join(', ')} from generate_series(1, ${rows}) n`,
    ...indexed.map(([collection, field]) => `create index on "${collection}" ("${field}")`),
    'vacuum analyze',
  ]
}

/** The same in MariaDB's words, for a session with `||` and quoted names; without the wide table, whose types it lacks. */
export function mariadbStatements(rows: number): readonly string[] {
  const statements = stockStatements(rows).filter((text) => !text.includes('wide') && !text.startsWith('vacuum'))
  const tables = Object.keys(Object.fromEntries(model.byName)).filter((name) => name !== 'wide')
  return [
    ...statements.map((text) => words.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)),
    `analyze table ${tables.map((name) => `"${name}"`).join(', ')}`,
  ]
}

const words: readonly (readonly [RegExp, string])[] = [
  [/status text/g, 'status varchar(20)'],
  [/ text\b/g, ' longtext'],
  [/double precision/g, 'double'],
  [/generated by default as identity/g, 'auto_increment'],
  [/references (\w+)/g, 'references $1(id)'],
  [/^(create table .*)$/g, '$1 engine=innodb charset=utf8mb4 collate=utf8mb4_nopad_bin'],
  [/^create index on "(\w+)" \("(\w+)"\)$/g, 'create index "$1_$2" on "$1" ("$2")'],
  [/::bigint/g, ''],
  [/generate_series\(1, (\d+)\) n/g, '(select seq n from seq_1_to_$1) s'],
  [/date '2026-01-01' \+ n % 365/g, "date_add('2026-01-01', interval (n % 365) day)"],
]
