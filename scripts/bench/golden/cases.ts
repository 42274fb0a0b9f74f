/**
 * The reads of the golden suite: what is asked of us, and the best statement that was found by hand for the same answer.
 * Values are parameters on both sides, limits are constants in the golden text.
 */
import { model, wideColumns } from './stock.ts'

export type GoldenCase = {
  readonly name: string
  readonly collection: string
  /** The query string, as a request has it. */
  readonly query: string
  /** What the caller's policies let them read of each collection; without any, they may read everything. */
  readonly policies?: readonly Readonly<Record<string, unknown>>[]
  readonly golden: string
  readonly params?: readonly string[]
}

const ten = ['id', 'title', 'slug', 'status', 'summary', 'views', 'featured', 'score', 'publishedOn', 'authorId']

/** A row as JSON, member by member: texts that need no escapes stand between quotes, the others are left to `to_json`. */
function row(
  collection: string,
  columns: readonly string[],
  more: Readonly<Record<string, string>> = {},
  alias = 't',
): string {
  const fields = model.byName.get(collection)?.fields
  const members = columns.map((name) => {
    const field = fields?.get(name)
    if (field?.kind !== 'primitive') throw new Error(`${collection} has no ${name}`)
    return [name, rendered(`${alias}."${name}"`, field.type.name, field.isNullable)]
  })
  const parts = [...members, ...Object.entries(more)].map(
    ([name, value], index) => `'${index === 0 ? '{' : ','}"${name}":', ${value}`,
  )
  // A function takes a hundred arguments.
  const calls = Array.from({ length: Math.ceil(parts.length / 25) }, (_, call) =>
    parts.slice(call * 25, call * 25 + 25),
  )
  return `${calls.map((some) => `concat(${some.join(', ')})`).join(' || ')} || '}'`
}

function rendered(column: string, type: string, isNullable: boolean): string {
  const [plain, quoted] = plainForms[type]?.(column) ?? [`to_json(${column})`]
  if (quoted !== undefined) return isNullable ? `coalesce('"' || ${quoted} || '"', 'null')` : `'"', ${quoted}, '"'`
  return isNullable ? `coalesce(${plain}, 'null')` : `${plain}`
}

/** Either a value that is JSON as it is, or one that needs quotes only. */
const plainForms: Readonly<Record<string, (column: string) => readonly [string] | readonly [undefined, string]>> = {
  int32: (column) => [`${column}::text`],
  boolean: (column) => [`${column}::text`],
  json: (column) => [column],
  int64: (column) => [undefined, column],
  decimal: (column) => [undefined, column],
  uuid: (column) => [undefined, column],
  date: (column) => [undefined, column],
  dateTimeWithTimezone: (column) => [undefined, `btrim(to_json(${column} at time zone 'UTC')::text, '"') || 'Z'`],
}

/** The rows of `from`, which has them in their order, as a list. */
function list(object: string, from: string, more = ''): string {
  return `select coalesce('[' || string_agg(${object}, ',') || ']', '[]')${more} from ${from}`
}

const articles = (where: string, rest = 'order by t.id limit 25') =>
  `(select t.* from articles t where ${where} ${rest}) t`
const short = row('articles', ['id', 'title'])
const author = (columns: readonly string[], more = {}) =>
  `coalesce((select ${row('authors', columns, more, 'a')} from authors a where a.id = t."authorId"), 'null')`
const children = (object: string, from: string) =>
  `concat('{"data":[', (select string_agg(${object}, ',') from ${from}), ']}')`
const childColumns = ['id', 'title', 'status', 'views', 'publishedOn']
const five = `(select c.* from articles c where c."authorId" = t.id order by c.id limit 5) c`
const three = children(
  row('comments', ['id', 'body'], {}, 'x'),
  '(select x.* from comments x where x."articleId" = c.id order by x.id limit 3) x',
)
/** The keys of a page first: what is skipped or sorted is as narrow as can be. */
const keysFirst = (order: string, page: string, keys = 't.id') =>
  `(select t.* from (select ${keys} from articles t order by ${order} ${page}) k join articles t on t.id = k.id order by ${order}) t`

const drafts = { articles: { read: { filter: { status: { _eq: 'draft' } } } } }

export const goldenCases: readonly GoldenCase[] = [
  {
    name: 'point',
    collection: 'articles',
    query: `fields=${ten}&filter[id][_eq]=240&limit=1`,
    golden: `select '[' || (select ${row('articles', ten)} from articles t where t.id = $1::bigint) || ']'`,
    params: ['240'],
  },
  {
    name: 'list by index',
    collection: 'articles',
    query: `fields=${ten}&filter[id][_gt]=240&limit=25`,
    golden: list(row('articles', ten), articles('t.id > $1::bigint')),
    params: ['240'],
  },
  {
    name: 'list, sort by index',
    collection: 'articles',
    query: `fields=${ten}&sort[][publishedOn][direction]=asc&limit=25`,
    golden: list(row('articles', ten), articles('true', 'order by t."publishedOn", t.id limit 25')),
  },
  {
    name: 'list, sort without index',
    collection: 'articles',
    query: `fields=${ten}&sort[][views][direction]=asc&limit=25`,
    golden: list(row('articles', ten), keysFirst('t.views, t.id', 'limit 25')),
  },
  {
    name: 'offset 0',
    collection: 'articles',
    query: `fields=${ten}&limit=25`,
    golden: list(row('articles', ten), articles('true')),
  },
  {
    name: 'offset 1,000',
    collection: 'articles',
    query: `fields=${ten}&limit=25&offset=1000`,
    golden: list(row('articles', ten), keysFirst('t.id', 'limit 25 offset 1000')),
  },
  {
    name: 'offset 100,000',
    collection: 'articles',
    query: `fields=${ten}&limit=25&offset=100000`,
    golden: list(row('articles', ten), keysFirst('t.id', 'limit 25 offset 100000')),
  },
  {
    name: '1 column',
    collection: 'articles',
    query: 'fields=title&limit=25',
    golden: list(row('articles', ['title']), articles('true')),
  },
  {
    name: '60 columns',
    collection: 'wide',
    query: `fields=id,${wideColumns}&limit=25`,
    golden: list(row('wide', ['id', ...wideColumns]), '(select t.* from wide t order by t.id limit 25) t'),
  },
  {
    name: 'to-one at offset 240',
    collection: 'articles',
    query: `fields=${ten},author.id,author.name,author.email&limit=25&offset=240`,
    golden: list(
      row('articles', ten, { author: author(['id', 'name', 'email']) }),
      articles('true', 'order by t.id limit 25 offset 240'),
    ),
  },
  {
    name: 'to-one over 3 hops at offset 240',
    collection: 'articles',
    query: 'fields=id,title,author.name,author.city.name,author.city.country.name&limit=25&offset=240',
    golden: list(
      row('articles', ['id', 'title'], {
        author: `case when a.id is null then 'null' else ${row('authors', ['name'], { city: `case when c.id is null then 'null' else ${row('cities', ['name'], { country: `case when o.id is null then 'null' else ${row('countries', ['name'], {}, 'o')} end` }, 'c')} end` }, 'a')} end`,
      }),
      `${articles('true', 'order by t.id limit 25 offset 240')} left join authors a on a.id = t."authorId" left join cities c on c.id = a."cityId" left join countries o on o.id = c."countryId"`,
    ).replace(`, ',')`, `, ',' order by t.id)`),
  },
  {
    name: '100 × 5 at offset 200',
    collection: 'authors',
    query: `fields=id,name,${childColumns.map((name) => `articles.${name}`)}&deep[articles][_limit]=5&limit=100&offset=200`,
    golden: list(
      row('authors', ['id', 'name'], { articles: children(row('articles', childColumns, {}, 'c'), five) }),
      '(select t.* from authors t order by t.id limit 100 offset 200) t',
    ),
  },
  {
    name: '100 × 5 × 3',
    collection: 'authors',
    query: `fields=id,name,articles.id,articles.title,articles.comments.id,articles.comments.body&deep[articles][_limit]=5&deep[articles][comments][_limit]=3&limit=100`,
    golden: list(
      row('authors', ['id', 'name'], {
        articles: children(row('articles', ['id', 'title'], { comments: three }, 'c'), five),
      }),
      '(select t.* from authors t order by t.id limit 100) t',
    ),
  },
  {
    name: 'many-to-many',
    collection: 'articles',
    query: 'fields=id,title,tags.id,tags.name&limit=25&offset=240',
    golden: list(
      row('articles', ['id', 'title'], {
        tags: children(
          row('tags', ['id', 'name'], {}, 'g'),
          '(select g.* from tags g where g.id in (select l."tagId" from "articleTags" l where l."articleId" = t.id) order by g.id limit 100) g',
        ),
      }),
      articles('true', 'order by t.id limit 25 offset 240'),
    ),
  },
  {
    name: 'filter by a to-one over 2 hops',
    collection: 'articles',
    query: 'fields=id,title&filter[author][city][countryId][_eq]=7&limit=25',
    golden: list(
      short,
      articles(
        't."authorId" = any(array(select a.id from authors a where a."cityId" = any(array(select c.id from cities c where c."countryId" = $1::bigint))))',
      ),
    ),
    params: ['7'],
  },
  {
    name: 'filter _some',
    collection: 'articles',
    query: 'fields=id,title&filter[comments][_some][isSpam][_eq]=true&limit=25',
    golden: list(
      short,
      articles('exists (select from comments x where x."articleId" = t.id and x."isSpam" = $1::boolean)'),
    ),
    params: ['true'],
  },
  {
    name: 'filter _every',
    collection: 'articles',
    query: 'fields=id,title&filter[comments][_every][isSpam][_eq]=false&limit=25',
    golden: list(
      short,
      articles('not exists (select from comments x where x."articleId" = t.id and x."isSpam" <> $1::boolean)'),
    ),
    params: ['false'],
  },
  {
    name: 'filter _none',
    collection: 'articles',
    query: 'fields=id,title&filter[comments][_none][isSpam][_eq]=true&limit=25',
    golden: list(
      short,
      articles('not exists (select from comments x where x."articleId" = t.id and x."isSpam" = $1::boolean)'),
    ),
    params: ['true'],
  },
  {
    name: 'filter by many-to-many',
    collection: 'articles',
    query: 'fields=id,title&filter[tags][_some][id][_eq]=7&limit=25',
    golden: list(short, articles('t.id in (select l."articleId" from "articleTags" l where l."tagId" = $1::bigint)')),
    params: ['7'],
  },
  {
    name: 'total',
    collection: 'articles',
    query: 'fields=id,title&filter[status][_eq]=draft&meta=totalCount&limit=25',
    golden: list(short, articles('t.status = $1'), ', (select count(*) from articles where status = $1)'),
    params: ['draft'],
  },
  {
    name: 'policy: row filter',
    collection: 'articles',
    query: `fields=${ten}&limit=25`,
    policies: [drafts],
    golden: list(row('articles', ten), articles('t.status = $1')),
    params: ['draft'],
  },
  {
    name: 'policy: relation condition',
    collection: 'articles',
    query: `fields=${ten}&limit=25`,
    policies: [{ articles: { read: { filter: { author: { city: { name: { _eq: 'City 7' } } } } } } }],
    golden: list(
      row('articles', ten),
      articles(
        't."authorId" = any(array(select a.id from authors a where a."cityId" = any(array(select c.id from cities c where c.name = $1))))',
      ),
    ),
    params: ['City 7'],
  },
  {
    name: 'policy: a field in some rows',
    collection: 'articles',
    query: `fields=${ten}&limit=25`,
    policies: [
      { articles: { read: { fields: ten.filter((name) => name !== 'summary') } } },
      { articles: { read: { fields: ['summary'], filter: { status: { _eq: 'published' } } } } },
    ],
    golden: list(
      row('articles', ten).replace(
        'to_json(t."summary")',
        `case when t.status = $1 then to_json(t."summary") else 'null' end`,
      ),
      articles('true'),
    ),
    params: ['published'],
  },
  {
    name: 'policies: 2 of the same rows',
    collection: 'articles',
    query: `fields=${ten}&limit=25`,
    policies: [
      {
        articles: { read: { fields: ten.filter((name) => name !== 'summary'), filter: { status: { _eq: 'draft' } } } },
      },
      { articles: { read: { fields: ['summary'], filter: { status: { _eq: 'draft' } } } } },
    ],
    golden: list(row('articles', ten), articles('t.status = $1')),
    params: ['draft'],
  },
  {
    name: 'policies: 5 on one column',
    collection: 'articles',
    query: `fields=${ten}&limit=25`,
    policies: [3, 303, 603, 903, 1203].map((id) => ({
      articles: { read: { filter: { authorId: { _eq: String(id) } } } },
    })),
    golden: list(row('articles', ten), articles('t."authorId" = any(array[$1, $2, $3, $4, $5]::bigint[])')),
    params: ['3', '303', '603', '903', '1203'],
  },
]

/** Aggregates, asked of `/aggregates/{collection}`. */
export const goldenAggregates: readonly GoldenCase[] = [
  {
    name: 'aggregates by a column',
    collection: 'articles',
    query: 'group[0]=status&aggregate[n][count]=*&aggregate[views][sum]=views&filter[id][_gt]=240',
    golden: groups(
      `'{"group":{"status":', to_json(g.status), '},"n":', g.n, ',"views":"', g.v, '"}'`,
      'select status, count(*) n, sum(views) v from articles where id > $1::bigint group by status order by status limit 100',
    ),
    params: ['240'],
  },
  {
    name: 'aggregates by month',
    collection: 'articles',
    query: 'group[0][publishedOn][trunc]=month&aggregate[score][max]=score',
    golden: groups(
      `'{"group":{"publishedOn":', coalesce(to_json(g.m)::text, 'null'), '},"score":', coalesce(to_json(g.s)::text, 'null'), '}'`,
      `select date_trunc('month', "publishedOn"::timestamp)::date m, max(score) s from articles group by 1 order by 1 limit 100`,
    ),
  },
  {
    name: 'aggregates of all rows',
    collection: 'articles',
    query: 'aggregate[n][count]=*&aggregate[views][avg]=views',
    golden: groups(
      `'{"group":{},"n":', g.n, ',"views":', to_json(g.v), '}'`,
      'select count(*) n, sum(views)::double precision / count(views) v from articles',
    ),
  },
]

function groups(parts: string, query: string): string {
  return `select '[' || string_agg(concat(${parts}), ',') || ']' from (${query}) g`
}
