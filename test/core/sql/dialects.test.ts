/**
 * Every dialect side by side, so that a difference is visible as a difference. MySQL is only compared here; what the
 * other two make of these texts is run in test/databases.
 */

import { describe, expect, it } from 'vitest'
import type { PrimitiveField } from '../../../src/core/model/model.ts'
import type { WritePlan } from '../../../src/core/plan/plan.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { SqlFault } from '../../../src/core/sql/fault.ts'
import { mariadb, mysql } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { predicate } from '../../../src/core/sql/read/predicate.ts'
import { rootScope } from '../../../src/core/sql/read/scope.ts'
import { compile, literal, type Sql, type Statement, sql } from '../../../src/core/sql/statement.ts'
import { build } from '../../support/data/build.ts'
import { writeStatements } from '../../support/data/write-statements.ts'

const model = build.model(
  {
    authors: { id: 'int64', name: 'string(80)?' },
    articles: {
      id: 'uuid',
      authorId: 'int64?',
      title: 'string',
      price: 'decimal(10,2)?',
      rank: 'int32?',
      live: 'boolean',
      at: 'dateTimeWithTimezone?',
      meta: 'json?',
    },
  },
  ['articles.author(authorId) -> authors.articles'],
)

/** An answer that no process could hold fails in the database. */
const otherwise = "then a.a\n  else current_setting('service:tooLarge') end"
const boundedTogether = `case when octet_length(a.a) <= 838 then a.a when set_config('service.answered', (coalesce(nullif(current_setting('service.answered', true), ''), '0')::int + octet_length(a.a))::text, true)::int <= 16777216 ${otherwise}`
const bounded = "case when octet_length(a.a) <= 16777216 then a.a else current_setting('service:tooLarge') end"

/** Fails as soon as what is gathered is too long. */
const weight = (text: string) => `sum(octet_length(${text}) * '1.0715085433193811e+301'::float8)`
const joined = (start: string, end: string) =>
  `concat('${start}', case when ${weight('i.j')} is not null then string_agg(i.j, ',') end, '${end}')`
/** Members as PostgreSQL writes them. */
const object = (members: Readonly<Record<string, string>>) => {
  const parts = Object.entries(members).map(
    ([name, value], index) => `'${index === 0 ? '{' : ','}"${name}":', coalesce(${value}, 'null')`,
  )
  return `concat(${parts.join(', ')}, '}')`
}
const quoted = (column: string) => `'"' || ${column}::text || '"'`
const gathered = `select ${joined('[', ']')} a from`

describe('a filter', () => {
  it('compares texts by the column and by their bytes', () => {
    expect(filter('articles', 'filter[title][_eq]=Live')).toEqual({
      postgres: { text: '"t0"."title" = $1::text', params: ['Live'] },
      mariadb: {
        text: '(`t0`.`title` = ? and `t0`.`title` = convert(? using utf8mb4) collate utf8mb4_nopad_bin)',
        params: ['Live', 'Live'],
      },
      mysql: {
        text: '(`t0`.`title` = ? and `t0`.`title` = convert(? using utf8mb4) collate utf8mb4_0900_bin)',
        params: ['Live', 'Live'],
      },
    })
  })

  it('orders texts by the column, and by their bytes where that has them equal', () => {
    expect(filter('articles', 'filter[title][_lt]=Live')).toEqual({
      postgres: { text: '"t0"."title" < $1::text', params: ['Live'] },
      mariadb: {
        text: '(`t0`.`title` <= ? and (`t0`.`title` < ? or `t0`.`title` < convert(? using utf8mb4) collate utf8mb4_nopad_bin))',
        params: ['Live', 'Live', 'Live'],
      },
      mysql: {
        text: '(`t0`.`title` <= ? and (`t0`.`title` < ? or `t0`.`title` < convert(? using utf8mb4) collate utf8mb4_0900_bin))',
        params: ['Live', 'Live', 'Live'],
      },
    })
  })

  it('compares 64-bit integers as such, never as doubles', () => {
    expect(filter('articles', 'filter[authorId][_gte]=9007199254740993')).toEqual({
      postgres: { text: '"t0"."authorId" >= $1::bigint', params: ['9007199254740993'] },
      mariadb: { text: '`t0`.`authorId` >= cast(? as signed)', params: ['9007199254740993'] },
      mysql: { text: '`t0`.`authorId` >= cast(? as signed)', params: ['9007199254740993'] },
    })
  })

  it('compares decimals exactly', () => {
    expect(filter('articles', 'filter[price][_neq]=9.99')).toEqual({
      postgres: { text: '"t0"."price" <> $1::numeric', params: ['9.99'] },
      mariadb: {
        text: "`t0`.`price` <> cast(nullif(nullif(nullif(?, 'NaN'), 'Infinity'), '-Infinity') as decimal(10, 2))",
        params: ['9.99'],
      },
      mysql: {
        text: "`t0`.`price` <> cast(nullif(nullif(nullif(?, 'NaN'), 'Infinity'), '-Infinity') as decimal(10, 2))",
        params: ['9.99'],
      },
    })
  })

  it('compares booleans', () => {
    expect(filter('articles', 'filter[live][_eq]=true')).toEqual({
      postgres: { text: '"t0"."live" = $1::boolean', params: ['true'] },
      mariadb: {
        text: "(? = 'true' and `t0`.`live` <> 0 or ? = 'false' and `t0`.`live` = 0)",
        params: ['true', 'true'],
      },
      mysql: { text: "(? = 'true' and `t0`.`live` <> 0 or ? = 'false' and `t0`.`live` = 0)", params: ['true', 'true'] },
    })
  })

  it('compares instants in UTC', () => {
    expect(filter('articles', 'filter[at][_lt]=2024-01-01T09:00:00%2B02:00')).toEqual({
      postgres: { text: '"t0"."at" < $1::timestamptz', params: ['2024-01-01T07:00:00Z'] },
      mariadb: { text: "`t0`.`at` < cast(replace(?, 'Z', '') as datetime(6))", params: ['2024-01-01T07:00:00Z'] },
      mysql: { text: "`t0`.`at` < cast(replace(?, 'Z', '') as datetime(6))", params: ['2024-01-01T07:00:00Z'] },
    })
  })

  it('compares a uuid', () => {
    expect(filter('articles', 'filter[id][_eq]=019a0000-0000-7000-8000-000000000001')).toEqual({
      postgres: { text: '"t0"."id" = $1::uuid', params: ['019a0000-0000-7000-8000-000000000001'] },
      mariadb: { text: '`t0`.`id` = cast(? as uuid)', params: ['019a0000-0000-7000-8000-000000000001'] },
      mysql: { text: '`t0`.`id` = ?', params: ['019a0000-0000-7000-8000-000000000001'] },
    })
  })

  it('compares JSON', () => {
    expect(filter('articles', 'filter[meta][_eq]={"a":1}')).toEqual({
      postgres: { text: '"t0"."meta"::jsonb = $1::jsonb', params: ['{"a":1}'] },
      mariadb: {
        text: expect.stringMatching(/^\(json_equals\(concat\(`t0`.`meta`, ' '\), concat\(\?, ' '\)\) = 1 or instr\(/),
        params: ['{"a":1}', '{"a":1}'],
      },
      mysql: { text: '`t0`.`meta` = cast(? as json)', params: ['{"a":1}'] },
    })
  })

  it('matches a part of a text', () => {
    expect(filter('articles', 'filter[title][_contains]=50%25_!')).toEqual({
      postgres: { text: `"t0"."title" like $1::text escape '!'`, params: ['%50!%!_!!%'] },
      mariadb: {
        text: "concat(`t0`.`title`) like convert(? using utf8mb4) collate utf8mb4_nopad_bin escape '!'",
        params: ['%50!%!_!!%'],
      },
      mysql: {
        text: "`t0`.`title` like convert(? using utf8mb4) collate utf8mb4_0900_bin escape '!'",
        params: ['%50!%!_!!%'],
      },
    })
  })

  it('matches the end of a text, negated', () => {
    expect(filter('articles', 'filter[title][_nends_with]=!')).toEqual({
      postgres: { text: `not ("t0"."title" like $1::text escape '!')`, params: ['%!!'] },
      mariadb: {
        text: "not (concat(`t0`.`title`) like convert(? using utf8mb4) collate utf8mb4_nopad_bin escape '!')",
        params: ['%!!'],
      },
      mysql: {
        text: "not (`t0`.`title` like convert(? using utf8mb4) collate utf8mb4_0900_bin escape '!')",
        params: ['%!!'],
      },
    })
  })

  it('matches without regard to case', () => {
    expect(filter('articles', 'filter[title][_icontains]=Live')).toEqual({
      postgres: { text: `"t0"."title" ilike $1::text escape '!'`, params: ['%Live%'] },
      mariadb: {
        text: "lower(`t0`.`title`) like lower(convert(? using utf8mb4)) collate utf8mb4_nopad_bin escape '!'",
        params: ['%Live%'],
      },
      mysql: {
        text: "lower(`t0`.`title`) like lower(convert(? using utf8mb4)) collate utf8mb4_0900_bin escape '!'",
        params: ['%Live%'],
      },
    })
  })

  it('looks into a range', () => {
    expect(filter('articles', 'filter[rank][_between][0]=1&filter[rank][_between][1]=5')).toEqual({
      postgres: { text: '"t0"."rank" between $1::integer and $2::integer', params: ['1', '5'] },
      mariadb: { text: '`t0`.`rank` between cast(? as signed) and cast(? as signed)', params: ['1', '5'] },
      mysql: { text: '`t0`.`rank` between cast(? as signed) and cast(? as signed)', params: ['1', '5'] },
    })
  })

  it('looks into a range, negated', () => {
    expect(filter('articles', 'filter[rank][_nbetween][0]=1&filter[rank][_nbetween][1]=5')).toEqual({
      postgres: { text: '"t0"."rank" not between $1::integer and $2::integer', params: ['1', '5'] },
      mariadb: { text: '`t0`.`rank` not between cast(? as signed) and cast(? as signed)', params: ['1', '5'] },
      mysql: { text: '`t0`.`rank` not between cast(? as signed) and cast(? as signed)', params: ['1', '5'] },
    })
  })

  it('looks into a list, with few texts for many lengths', () => {
    expect(filter('articles', 'filter[rank][_in][0]=1&filter[rank][_in][1]=2&filter[rank][_in][2]=3')).toEqual({
      postgres: { text: '"t0"."rank" = any(array[$1, $2, $3]::integer[])', params: ['1', '2', '3'] },
      mariadb: {
        text: '`t0`.`rank` in (cast(? as signed), cast(? as signed), cast(? as signed), cast(? as signed))',
        params: ['1', '2', '3', '3'],
      },
      mysql: {
        text: '`t0`.`rank` in (cast(? as signed), cast(? as signed), cast(? as signed), cast(? as signed))',
        params: ['1', '2', '3', '3'],
      },
    })
  })

  it('looks into a list, negated', () => {
    expect(filter('articles', 'filter[title][_nin][0]=a&filter[title][_nin][1]=b')).toEqual({
      postgres: { text: 'not ("t0"."title" = any(array[$1, $2]::text[]))', params: ['a', 'b'] },
      mariadb: {
        text: 'not ((`t0`.`title` in (?, ?) and convert(`t0`.`title` using utf8mb4) collate utf8mb4_nopad_bin in (?, ?)))',
        params: ['a', 'b', 'a', 'b'],
      },
      mysql: {
        text: 'not ((`t0`.`title` in (?, ?) and convert(`t0`.`title` using utf8mb4) collate utf8mb4_0900_bin in (?, ?)))',
        params: ['a', 'b', 'a', 'b'],
      },
    })
  })

  it('tests for null', () => {
    expect(filter('articles', 'filter[rank][_null]=true')).toEqual({
      postgres: { text: '"t0"."rank" is null', params: [] },
      mariadb: { text: '`t0`.`rank` is null', params: [] },
      mysql: { text: '`t0`.`rank` is null', params: [] },
    })
  })

  it('joins conditions', () => {
    expect(
      filter(
        'articles',
        'filter[_or][0][rank][_eq]=1&filter[_or][1][_not][live][_eq]=true&filter[_or][2][_and][0][rank][_gt]=5&filter[_or][2][_and][1][rank][_lt]=9',
      ),
    ).toEqual({
      postgres: {
        text: '("t0"."rank" = $1::integer or not ("t0"."live" = $2::boolean) or ("t0"."rank" > $3::integer and "t0"."rank" < $4::integer))',
        params: ['1', 'true', '5', '9'],
      },
      mariadb: {
        text: "(`t0`.`rank` = cast(? as signed) or not ((? = 'true' and `t0`.`live` <> 0 or ? = 'false' and `t0`.`live` = 0)) or (`t0`.`rank` > cast(? as signed) and `t0`.`rank` < cast(? as signed)))",
        params: ['1', 'true', 'true', '5', '9'],
      },
      mysql: {
        text: "(`t0`.`rank` = cast(? as signed) or not ((? = 'true' and `t0`.`live` <> 0 or ? = 'false' and `t0`.`live` = 0)) or (`t0`.`rank` > cast(? as signed) and `t0`.`rank` < cast(? as signed)))",
        params: ['1', 'true', 'true', '5', '9'],
      },
    })
  })

  it('asks for some related row', () => {
    expect(filter('authors', 'filter[articles][_some][live][_eq]=true')).toEqual({
      postgres: {
        text: 'exists (select 1 from "articles" "t1" where "t1"."authorId" = "t0"."id" and "t1"."live" = $1::boolean)',
        params: ['true'],
      },
      mariadb: {
        text: "exists (select 1 from `articles` `t1` where `t1`.`authorId` = `t0`.`id` and (? = 'true' and `t1`.`live` <> 0 or ? = 'false' and `t1`.`live` = 0))",
        params: ['true', 'true'],
      },
      mysql: {
        text: "exists (select 1 from `articles` `t1` where `t1`.`authorId` = `t0`.`id` and (? = 'true' and `t1`.`live` <> 0 or ? = 'false' and `t1`.`live` = 0))",
        params: ['true', 'true'],
      },
    })
  })

  it('has PostgreSQL plan once what is asked behind or within a condition, which it may plan in two ways each', () => {
    const within = 'filter[articles][_some]'
    const { postgres, mariadb } = filter(
      'authors',
      `${within}[_or][0][author][name][_eq]=a&${within}[_or][1][author][name][_eq]=b&${within}[author][name][_neq]=c`,
    )

    expect(postgres.text.match(/exists \(|offset 0\)/g)).toEqual([
      'exists (',
      ...['exists (', 'offset 0)', 'exists (', 'offset 0)'],
      'exists (',
    ])
    expect(mariadb.text).not.toContain('offset')
  })

  it('asks for every related row', () => {
    expect(filter('authors', 'filter[articles][_every][live][_eq]=true')).toEqual({
      postgres: {
        text: 'not exists (select 1 from "articles" "t1" where "t1"."authorId" = "t0"."id" and ("t1"."live" = $1::boolean) is not true)',
        params: ['true'],
      },
      mariadb: {
        text: "(select 1 from `articles` `t1` where `t1`.`authorId` = `t0`.`id` and ((? = 'true' and `t1`.`live` <> 0 or ? = 'false' and `t1`.`live` = 0)) is not true limit 1) is null",
        params: ['true', 'true'],
      },
      mysql: {
        text: "not exists (select 1 from `articles` `t1` where `t1`.`authorId` = `t0`.`id` and ((? = 'true' and `t1`.`live` <> 0 or ? = 'false' and `t1`.`live` = 0)) is not true)",
        params: ['true', 'true'],
      },
    })
  })

  it('asks for no related row', () => {
    expect(filter('authors', 'filter[articles][_none][live][_eq]=true')).toEqual({
      postgres: {
        text: 'not exists (select 1 from "articles" "t1" where "t1"."authorId" = "t0"."id" and "t1"."live" = $1::boolean)',
        params: ['true'],
      },
      mariadb: {
        text: "(select 1 from `articles` `t1` where `t1`.`authorId` = `t0`.`id` and (? = 'true' and `t1`.`live` <> 0 or ? = 'false' and `t1`.`live` = 0) limit 1) is null",
        params: ['true', 'true'],
      },
      mysql: {
        text: "not exists (select 1 from `articles` `t1` where `t1`.`authorId` = `t0`.`id` and (? = 'true' and `t1`.`live` <> 0 or ? = 'false' and `t1`.`live` = 0))",
        params: ['true', 'true'],
      },
    })
  })

  it('asks through a to-one', () => {
    expect(filter('articles', 'filter[author][name][_eq]=Ada')).toEqual({
      postgres: {
        text: 'exists (select 1 from "authors" "t1" where "t1"."id" = "t0"."authorId" and "t1"."name"::text = $1::text)',
        params: ['Ada'],
      },
      mariadb: {
        text: 'exists (select 1 from `authors` `t1` where `t1`.`id` = `t0`.`authorId` and (`t1`.`name` = ? and `t1`.`name` = convert(? using utf8mb4) collate utf8mb4_nopad_bin))',
        params: ['Ada', 'Ada'],
      },
      mysql: {
        text: 'exists (select 1 from `authors` `t1` where `t1`.`id` = `t0`.`authorId` and (`t1`.`name` = ? and `t1`.`name` = convert(? using utf8mb4) collate utf8mb4_0900_bin))',
        params: ['Ada', 'Ada'],
      },
    })
  })

  it('matches nothing with an empty list', () => {
    const [field] = build.model({ plain: { id: 'int32' } }).byName.get('plain')?.primitives ?? []
    if (field === undefined) throw new Error('a field is missing')

    expect(compiled((dialect) => dialect.isOneOf(sql`x`, field, [], () => true))).toEqual({
      postgres: { text: 'x = any($1::integer[])', params: ['{}'] },
      mariadb: { text: '1 = 0', params: [] },
      mysql: { text: '1 = 0', params: [] },
    })
  })
})

describe('a read', () => {
  const utc = `("t0"."at" at time zone 'UTC')`
  const year = `to_char(extract(year from ${utc}) + (${utc} < '0001-01-01')::int, 'FMSG9000000')`
  const day = `substring(to_json(${utc})::text, '-[0-9][0-9]-[0-9][0-9][^ "]*')`
  const utcText = `case when "t0"."at" >= '0001-01-01Z' and "t0"."at" < '10000-01-01Z' then rtrim(to_json(${utc})::text, '"') || 'Z"' else '"' || coalesce(${year} || ${day} || 'Z', "t0"."at"::text) || '"' end`
  const hex = (text: string) => `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`
  const doubtful = hex(String.raw`[.](?![0-9])|\\(?!["/bfnrtu\\])`)
  const strict = hex(String.raw`^(?:[^".]++|[.][0-9]|"(?:[^"\\]++|\\(?:["/bfnrt\\]|u[0-9A-Fa-f]{4}))*+")*+$`)
  const metaText = `case when \`t0\`.\`meta\` not regexp ${doubtful} or \`t0\`.\`meta\` regexp ${strict} then \`t0\`.\`meta\` else json_quote(\`t0\`.\`meta\`) end`

  it('renders each type in its wire form', () => {
    expect(read('articles', 'fields=id,authorId,title,price,rank,live,at,meta&limit=1')).toEqual({
      postgres: {
        text: `select ${bounded} from (${gathered} (select ${object({ id: quoted('"t0"."id"'), authorId: quoted('"t0"."authorId"'), title: 'to_json("t0"."title")', price: quoted('"t0"."price"'), rank: '"t0"."rank"::text', live: '"t0"."live"::text', at: utcText, meta: 'to_json("t0"."meta")' })} j from (select "t0"."id", "t0"."authorId", "t0"."title", "t0"."price", "t0"."rank", "t0"."live", "t0"."at", "t0"."meta" from "articles" "t0" order by "t0"."id" asc limit 1) "t0" offset 0) i) a`,
        params: [],
      },
      mariadb: {
        text: `select ifnull(concat('{"id":', ifnull(concat('"', \`t0\`.\`id\`, '"'), 'null'), ',"authorId":', ifnull(concat('"', \`t0\`.\`authorId\` + 0, '"'), 'null'), ',"title":', ifnull(json_quote(\`t0\`.\`title\`), 'null'), ',"price":', ifnull(concat('"', \`t0\`.\`price\`, '"'), 'null'), ',"rank":', ifnull(\`t0\`.\`rank\` + 0, 'null'), ',"live":', ifnull(elt(1 + (\`t0\`.\`live\` <> 0), 'false', 'true'), 'null'), ',"at":', ifnull(concat('"', trim(trailing '.' from trim(trailing '0' from date_format(\`t0\`.\`at\`, '%Y-%m-%dT%H:%i:%s.%f'))), 'Z"'), 'null'), ',"meta":', ifnull(${metaText}, 'null'), '}'), exp(1000)) as r from \`articles\` \`t0\` order by \`t0\`.\`id\` asc limit 1`,
        params: [],
      },
      mysql: {
        text: `select /*+ set_var(group_concat_max_len = 1073741824) */ ifnull(concat('{"id":', ifnull(concat('"', \`t0\`.\`id\`, '"'), 'null'), ',"authorId":', ifnull(concat('"', \`t0\`.\`authorId\` + 0, '"'), 'null'), ',"title":', ifnull(json_quote(\`t0\`.\`title\`), 'null'), ',"price":', ifnull(concat('"', \`t0\`.\`price\`, '"'), 'null'), ',"rank":', ifnull(\`t0\`.\`rank\` + 0, 'null'), ',"live":', ifnull(elt(1 + (\`t0\`.\`live\` <> 0), 'false', 'true'), 'null'), ',"at":', ifnull(concat('"', trim(trailing '.' from trim(trailing '0' from date_format(\`t0\`.\`at\`, '%Y-%m-%dT%H:%i:%s.%f'))), 'Z"'), 'null'), ',"meta":', ifnull(\`t0\`.\`meta\`, 'null'), '}'), exp(1000 + rand())) as r from \`articles\` \`t0\` order by \`t0\`.\`id\` asc limit 1`,
        params: [],
      },
    })
  })

  it('pages and sorts, with nulls last ascending and first descending', () => {
    expect(
      read('articles', 'fields=rank&sort[0][rank][direction]=desc&sort[1][title][direction]=asc&limit=5&offset=10'),
    ).toEqual({
      postgres: {
        text: `select ${bounded} from (${gathered} (select ${object({ rank: '"t0"."rank"::text' })} j from (select "t0"."rank" from "articles" "t0" order by "t0"."rank" desc, "t0"."title" asc, "t0"."id" asc limit 5 offset $1::bigint) "t0" offset 0) i) a`,
        params: ['10'],
      },
      mariadb: {
        text: `select ifnull(concat('{"rank":', ifnull(\`t0\`.\`rank\` + 0, 'null'), '}'), exp(1000)) as r from \`articles\` \`t0\` order by \`t0\`.\`rank\` is null desc, \`t0\`.\`rank\` desc, \`t0\`.\`title\` asc, \`t0\`.\`id\` asc limit 5 offset 10`,
        params: [],
      },
      mysql: {
        text: `select /*+ set_var(group_concat_max_len = 1073741824) */ ifnull(concat('{"rank":', ifnull(\`t0\`.\`rank\` + 0, 'null'), '}'), exp(1000 + rand())) as r from \`articles\` \`t0\` order by \`t0\`.\`rank\` is null desc, \`t0\`.\`rank\` desc, \`t0\`.\`title\` asc, \`t0\`.\`id\` asc limit 5 offset 10`,
        params: [],
      },
    })
  })

  it('chooses a page by its keys where they have to be sorted, and looks the rows up', () => {
    const { postgres: sorted } = read('articles', 'fields=id,title,rank,live&sort[0][rank][direction]=asc&limit=50')

    expect(sorted).toEqual({
      text: `select ${bounded} from (${gathered} (select ${object({ id: quoted('"t0"."id"'), title: 'to_json("t0"."title")', rank: '"t0"."rank"::text', live: '"t0"."live"::text' })} j from (select "t0"."id" from "articles" "t0" order by "t0"."rank" asc, "t0"."id" asc limit 50) k, lateral (select "t0"."id", "t0"."title", "t0"."rank", "t0"."live" from "articles" "t0" where "t0"."id" = "k"."id" limit 1) "t0" offset 0) i) a`,
      params: [],
    })
  })

  it('skips in the index alone where much is skipped', () => {
    const { postgres: own, mariadb: other } = read('articles', 'fields=rank&limit=5&offset=200')

    expect(own.text).toContain(
      '(select "t0"."id" from "articles" "t0" order by "t0"."id" asc limit 5 offset $1::bigint) k, lateral (select "t0"."rank" from "articles" "t0" where "t0"."id" = "k"."id" limit 1) "t0"',
    )
    expect(other.text).toContain(
      'from (select `t0`.`id` from `articles` `t0` order by `t0`.`id` asc limit 5 offset 200) k join `articles` `t0` on `t0`.`id` = `k`.`id` order by `t0`.`id` asc',
    )
  })

  it('cuts a page of an unusual size at the next usual one, behind which the planner cannot look', () => {
    const { postgres: page } = read('articles', 'fields=rank&limit=26')

    expect(page.text).toContain(
      '(with c as materialized (select "t0"."rank" from "articles" "t0" order by "t0"."id" asc limit 30) table c limit $1::bigint) "t0"',
    )
    expect(page.params).toEqual(['26'])
  })

  it('lets the planner expect what is skipped in the order of an index, whatever it is', () => {
    const texts = ['9', '16', '17'].map(
      (offset) => read('articles', `fields=rank&limit=5&offset=${offset}`).postgres.text,
    )

    expect(texts[0]).toContain(
      '(select * from (select "t0"."rank" from "articles" "t0" order by "t0"."id" asc limit 160) c limit 5 offset $1::bigint) "t0"',
    )
    expect(texts[1]).toBe(texts[0])
    expect(texts[2]).not.toBe(texts[0])
  })

  it('counts in the same statement', () => {
    expect(read('articles', 'fields=rank&limit=5&filter[live][_eq]=true&meta=totalCount')).toEqual({
      postgres: {
        text: `select ${bounded}, (select count(*) from "articles" "t0" where "t0"."live" = $1::boolean) from (${gathered} (select ${object({ rank: '"t0"."rank"::text' })} j from (select "t0"."rank" from "articles" "t0" where "t0"."live" = $2::boolean order by "t0"."id" asc limit 5) "t0" offset 0) i) a`,
        params: ['true', 'true'],
      },
      mariadb: {
        text: `(select cast((select count(*) from \`articles\` \`t0\` where (? = 'true' and \`t0\`.\`live\` <> 0 or ? = 'false' and \`t0\`.\`live\` = 0)) as char) as r) union all (select ifnull(concat('{"rank":', ifnull(\`t0\`.\`rank\` + 0, 'null'), '}'), exp(1000)) as r from \`articles\` \`t0\` where (? = 'true' and \`t0\`.\`live\` <> 0 or ? = 'false' and \`t0\`.\`live\` = 0) order by \`t0\`.\`id\` asc limit 5)`,
        params: ['true', 'true', 'true', 'true'],
      },
      mysql: {
        text: `(select /*+ set_var(group_concat_max_len = 1073741824) */ cast((select count(*) from \`articles\` \`t0\` where (? = 'true' and \`t0\`.\`live\` <> 0 or ? = 'false' and \`t0\`.\`live\` = 0)) as char) as r) union all (select /*+ set_var(group_concat_max_len = 1073741824) */ ifnull(concat('{"rank":', ifnull(\`t0\`.\`rank\` + 0, 'null'), '}'), exp(1000 + rand())) as r from \`articles\` \`t0\` where (? = 'true' and \`t0\`.\`live\` <> 0 or ? = 'false' and \`t0\`.\`live\` = 0) order by \`t0\`.\`id\` asc limit 5)`,
        params: ['true', 'true', 'true', 'true'],
      },
    })
  })

  it('nests a to-one', () => {
    expect(read('articles', 'fields=author.name&limit=5')).toEqual({
      postgres: {
        text: `select ${bounded} from (${gathered} (select ${object({ author: `(select ${object({ name: 'to_json("t1"."name"::text)' })} j from "authors" "t1" where "t1"."id" = "t0"."authorId" limit 1)` })} j from (select "t0"."authorId" from "articles" "t0" order by "t0"."id" asc limit 5) "t0" offset 0) i) a`,
        params: [],
      },
      mariadb: {
        text: `select ifnull(concat('{"author":', ifnull((select ifnull(concat('{"name":', ifnull(json_quote(\`t1\`.\`name\`), 'null'), '}'), exp(1000)) from \`authors\` \`t1\` where \`t1\`.\`id\` = \`t0\`.\`authorId\` limit 1), 'null'), '}'), exp(1000)) as r from \`articles\` \`t0\` order by \`t0\`.\`id\` asc limit 5`,
        params: [],
      },
      mysql: {
        text: `select /*+ set_var(group_concat_max_len = 1073741824) */ ifnull(concat('{"author":', ifnull((select ifnull(concat('{"name":', ifnull(json_quote(\`t1\`.\`name\`), 'null'), '}'), exp(1000 + rand())) from \`authors\` \`t1\` where \`t1\`.\`id\` = \`t0\`.\`authorId\` limit 1), 'null'), '}'), exp(1000 + rand())) as r from \`articles\` \`t0\` order by \`t0\`.\`id\` asc limit 5`,
        params: [],
      },
    })
  })

  it('nests a to-many with a page of its own', () => {
    expect(
      read(
        'authors',
        'fields=articles.title&deep[articles][_limit]=2&deep[articles][_offset]=4&deep[articles][_sort][0][rank][direction]=asc&limit=5',
      ),
    ).toEqual({
      postgres: {
        text: `select ${bounded} from (${gathered} (select ${object({ articles: `(select ${joined('{"data":[', ']}')} from (select ${object({ title: 'to_json("t1"."title")' })} j from (select "t1"."title" from "articles" "t1" where "t1"."authorId" = "t0"."id" order by "t1"."rank" asc, "t1"."id" asc limit 2 offset $1::bigint) "t1" offset 0) i)` })} j from (select "t0"."id" from "authors" "t0" order by "t0"."id" asc limit 5) "t0" offset 0) i) a`,
        params: ['4'],
      },
      mariadb: {
        text: `select ifnull(concat('{"articles":', ifnull((select ifnull(concat('{"data":[', ifnull(group_concat(ifnull(concat('{"title":', ifnull(json_quote(\`t1\`.\`title\`), 'null'), '}'), exp(1000)) order by \`t1\`.\`rank\` is null asc, \`t1\`.\`rank\` asc, \`t1\`.\`id\` asc separator ',' limit 4, 2), ''), ']}'), exp(1000)) from \`articles\` \`t1\` where \`t1\`.\`authorId\` = \`t0\`.\`id\`), 'null'), '}'), exp(1000)) as r from \`authors\` \`t0\` order by \`t0\`.\`id\` asc limit 5`,
        params: [],
      },
      mysql: {
        text: `select /*+ set_var(group_concat_max_len = 1073741824) */ ifnull(concat('{"articles":', ifnull((select ifnull(concat('{"data":[', ifnull(group_concat(r.r order by r.n separator ','), ''), ']}'), exp(1000 + rand())) from (select ifnull(concat('{"title":', ifnull(json_quote(\`t1\`.\`title\`), 'null'), '}'), exp(1000 + rand())) as r, row_number() over (order by \`t1\`.\`rank\` is null asc, \`t1\`.\`rank\` asc, \`t1\`.\`id\` asc) as n from \`articles\` \`t1\` where \`t1\`.\`authorId\` = \`t0\`.\`id\` order by n limit 2 offset 4) r), 'null'), '}'), exp(1000 + rand())) as r from \`authors\` \`t0\` order by \`t0\`.\`id\` asc limit 5`,
        params: [],
      },
    })
  })
})

describe('a write', () => {
  const { collection, selection, where } = build.read(model, 'authors', 'fields=name&filter[name][_eq]=Ada')
  const [id, name] = collection.primitives
  if (id === undefined || name === undefined) throw new Error('authors has lost its fields')
  const counted: PrimitiveField = { ...id, defaultValue: { source: 'connectorManaged', isAutoincrement: true } }
  const kept = { table: sql`authors`, key: [counted], kept: [counted], unless: undefined }
  const assignments = [{ field: name, value: 'Bo' }]

  it('inserts', () => {
    const rows = [[{ field: id, value: '7' }, ...assignments]]

    expect(written({ kind: 'create', collection, rows, selection })).toEqual({
      postgres: [
        `with "t0" as (insert into "authors" as "t0" ("id", "name") values ($1::bigint, $2) returning concat('[{"name":', coalesce(to_json("t0"."name"::text), 'null'), '}]') a) select ${boundedTogether} from (select a from "t0" limit 1) a`,
      ],
      mariadb: [
        `insert into \`authors\` (\`id\`, \`name\`) values (cast(? as signed), ?) returning ifnull(concat('{"name":', ifnull(json_quote(\`authors\`.\`name\`), 'null'), '}'), exp(1000)) as r`,
      ],
      mysql: [
        'insert into `authors` (`id`, `name`) values (cast(? as signed), ?)',
        `select /*+ set_var(group_concat_max_len = 1073741824) */ ifnull(concat('{"name":', ifnull(json_quote(\`t0\`.\`name\`), 'null'), '}'), exp(1000 + rand())) as r from \`authors\` \`t0\` where \`t0\`.\`id\` in (cast(? as signed))`,
      ],
    })
  })

  it('inserts several rows as an array for each column', () => {
    const row = (key: string | null, text: string) => [
      { field: id, value: key },
      { field: name, value: text },
    ]
    const plan: WritePlan = { kind: 'create', collection, rows: [row('7', 'Bo'), row(null, 'a"\\')], selection }
    const [statement] = writeStatements(plan, postgres)

    expect(statement?.text).toContain(
      'insert into "authors" ("id", "name") select "c0", "c1" from unnest($1::bigint[], $2::text[]) u("c0", "c1") returning "name"',
    )
    expect(statement?.params).toEqual(['{"7",NULL}', '{"Bo","a\\"\\\\"}'])
  })

  it('updates', () => {
    const keep = (collation: string) =>
      `select concat(\`t0\`.\`id\`) from \`authors\` \`t0\` where (\`t0\`.\`name\` = ? and \`t0\`.\`name\` = convert(? using utf8mb4) collate ${collation}) for update`
    const update =
      'update `authors` `t0` force index (primary) set `t0`.`name` = ? where `t0`.`id` in (cast(? as signed), cast(? as signed))'

    const { postgres: onPostgres, ...others } = written({
      kind: 'update',
      collection,
      where,
      order: [],
      assignments,
      selection,
    })

    expect(onPostgres).toEqual([
      `with "t0" as (update "authors" "t0" set "name" = $1 where "t0"."name"::text = $2::text returning "t0"."name") select ${boundedTogether} from (${gathered} (select ${object({ name: 'to_json("t0"."name"::text)' })} j from "t0" offset 0) i) a`,
    ])
    expect(others.mariadb.slice(0, 2)).toEqual([keep('utf8mb4_nopad_bin'), update])
    expect(others.mysql.slice(0, 2)).toEqual([keep('utf8mb4_0900_bin'), update])
  })

  it('deletes', () => {
    const {
      postgres: onPostgres,
      mariadb: onMariadb,
      mysql: onMysql,
    } = written({
      kind: 'delete',
      collection,
      where,
      order: [],
      selection: [],
    })

    expect(onPostgres).toEqual([
      `with "t0" as (delete from "authors" "t0" where "t0"."name"::text = $1::text returning 1) select ${boundedTogether} from (${gathered} (select '{}'::text j from "t0" offset 0) i) a`,
    ])
    expect(onMariadb).toEqual([
      `delete from \`authors\` where (\`authors\`.\`name\` = ? and \`authors\`.\`name\` = convert(? using utf8mb4) collate utf8mb4_nopad_bin) returning '{}' as r`,
    ])
    expect(onMysql.at(-1)).toBe(
      'delete `authors` from `authors` force index (primary) where `authors`.`id` in (cast(? as signed), cast(? as signed))',
    )
  })

  it('keeps what the database has counted', () => {
    const insertion = { ...kept, fields: [name], rows: [[sql`'a'`], [sql`'b'`]], provided: sql`1 = 1` }
    const texts = all((dialect) => dialect.slots.keepInserted(3, { ...insertion, rows: insertion.rows.slice(0, 1) }))
    const many = all((dialect) => dialect.slots.keepInserted(3, { ...insertion, provided: undefined }))

    expect(texts.postgres).toEqual([
      `with i as (insert into authors ("name") select 'a' where 1 = 1 returning *) select set_config('service.slot3', coalesce((select json_agg(r)::text from (select "id"::text as "c0" from i) r), '[]'), true)`,
    ])
    expect(texts.mysql).toEqual([
      "insert into authors (`name`) values ('a')",
      'select last_insert_id(), @@auto_increment_increment',
    ])
    expect(many.mysql).toEqual([
      "insert into authors (`name`) values ('a'), ('b')",
      'select last_insert_id(), @@auto_increment_increment',
    ])
    expect(texts.mariadb).toEqual(["insert into authors (`name`) values ('a') returning concat(`id`)"])
  })

  it('inserts apart what brings a number of its own', () => {
    const rows = [
      [undefined, sql`'a'`],
      [sql`7`, sql`'b'`],
    ]

    const texts = all((dialect) =>
      dialect.slots.keepInserted(0, { ...kept, fields: [counted, name], rows, provided: undefined }),
    )

    expect(texts.mysql).toEqual([
      "insert into authors (`name`) values ('a')",
      'select last_insert_id(), @@auto_increment_increment',
      "insert into authors (`id`, `name`) values (7, 'b')",
    ])
    expect(texts.mariadb).toEqual([
      "insert into authors (`name`) values ('a') returning concat(`id`)",
      "insert into authors (`id`, `name`) values (7, 'b') returning concat(`id`)",
    ])
  })

  it('ends where a demand is not met', () => {
    const asked = ({ slots }: Dialect) => slots.assertion(sql`1 = 0`, 'service:x')
    expect(compile(asked(postgres), postgres)).toEqual({
      text: `select case when 1 = 0 then 1\n      else (coalesce(current_setting('service.none', true), '') || 'service:x')::int end`,
      params: [],
    })
    const { text, onRows } = compile(asked(mariadb), mariadb)
    expect(text).toBe('select 1 = 0')
    expect(() => onRows?.([['0']])).toThrow('service:x')
    expect(onRows?.([['1']])).toBeUndefined()
  })

  it('reads a kept value as one of its type', () => {
    const shape = { type: build.type('uuid'), isList: false }
    const value = (dialect: Dialect) => {
      const slots = dialect.newSlots()
      const from = [sql` from articles`]
      for (const one of slots.keep(2, { columns: [{ value: sql`a`, shape }], from })) one.onRows?.([['x']])
      return compile(slots.value(2, { row: 0, position: 0 }, shape), dialect)
    }

    expect(value(postgres)).toEqual({
      text: "(current_setting('service.slot2')::json -> 0 ->> 'c0')::uuid",
      params: [],
    })
    expect(value(mariadb)).toEqual({ text: 'cast(? as uuid)', params: ['x'] })
    expect(value(mysql)).toEqual({ text: '?', params: ['x'] })
  })
})

describe('a column', () => {
  it.each([
    ['int8', undefined, 'tinyint', 'tinyint'],
    ['int16', 'smallint', 'smallint', 'smallint'],
    ['int32', 'integer', 'int', 'int'],
    ['int64', 'bigint', 'bigint', 'bigint'],
    ['uint8', undefined, 'tinyint unsigned', 'tinyint unsigned'],
    ['uint16', undefined, 'smallint unsigned', 'smallint unsigned'],
    ['uint32', undefined, 'int unsigned', 'int unsigned'],
    ['uint64', undefined, 'bigint unsigned', 'bigint unsigned'],
    ['float32', 'real', 'float', 'float'],
    ['float64', 'double precision', 'double', 'double'],
    ['decimal', 'numeric', undefined, undefined],
    ['decimal(65,30)', 'numeric(65, 30)', 'decimal(65, 30)', 'decimal(65, 30)'],
    ['decimal(65,38)', 'numeric(65, 38)', 'decimal(65, 38)', undefined],
    ['decimal(66,0)', 'numeric(66, 0)', undefined, undefined],
    [
      'string',
      'text',
      'longtext character set utf8mb4 collate utf8mb4_nopad_bin',
      'longtext character set utf8mb4 collate utf8mb4_0900_bin',
    ],
    [
      'string(80)',
      'varchar(80)',
      'varchar(80) character set utf8mb4 collate utf8mb4_nopad_bin',
      'varchar(80) character set utf8mb4 collate utf8mb4_0900_bin',
    ],
    ['string(16384)', 'varchar(16384)', undefined, undefined],
    ['uuid', 'uuid', 'uuid', 'char(36) character set ascii collate ascii_bin'],
    ['boolean', 'boolean', 'tinyint(1)', 'tinyint(1)'],
    ['date', 'date', 'date', 'date'],
    ['time', 'time', 'time(6)', 'time(6)'],
    ['dateTime', 'timestamp', 'datetime(6)', 'datetime(6)'],
    ['dateTimeWithTimezone', 'timestamptz', 'timestamp(6)', 'timestamp(6)'],
    ['json', 'jsonb', 'json', 'json'],
    ['bytes', 'bytea', 'longblob', 'longblob'],
    ['geometry', undefined, 'geometry', 'geometry'],
  ])('of %s', (text, onPostgres, onMariadb, onMysql) => {
    const type = build.type(text)
    const columnType = (dialect: Dialect) => {
      const found = dialect.columnType(type, false)
      return found && compile(found, dialect).text
    }

    expect([postgres, mariadb, mysql].map(columnType)).toEqual([onPostgres, onMariadb, onMysql])
  })

  it('holds a list on Postgres only', () => {
    const type = build.type('int32')

    expect(mariadb.columnType(type, true)).toBeUndefined()
    expect(mysql.columnType(type, true)).toBeUndefined()
    expect(compile(postgres.columnType(type, true) ?? sql``, postgres).text).toBe('integer[]')
  })
})

describe('a constant text', () => {
  it('means the same whether or not a backslash escapes', () => {
    expect(compiled(() => literal(`it's`)).mariadb.text).toBe(`'it''s'`)
    expect(compiled(() => literal('a\\ü')).mariadb.text).toBe(`_utf8mb4 x'615cc3bc'`)
  })
})

describe('a refusal', () => {
  it.each([
    ['Unique constraint failed', '23505', 1062],
    ['Null constraint failed', '23502', 1048],
    ['Foreign key constraint failed', '23503', 1452],
    ['Check constraint failed', '23514', 3819],
    ['Check constraint failed', 'P0001', 1644],
    ['Value out of range', '22003', 1264],
    ['Table does not exist', '42P01', 1146],
    ['The table or view is not ready for this', '55000', 1356],
    ['The database is busy: no connection was free', '53300', 1040],
    ['The database is busy: no connection was free', '53300', 1203],
  ])('means the same everywhere: %s', (message, state, errno) => {
    const expected = postgres.explain(new SqlFault('', { state }))
    const fault = new SqlFault('', { state: 'HY000', errno })

    expect(expected?.message).toBe(message)
    expect(mysql.explain(fault)).toMatchObject({ kind: expected?.kind, message, code: expected?.code })
    expect(mariadb.explain(fault)).toMatchObject({ kind: expected?.kind, message, code: expected?.code })
  })

  it.each([
    ['MariaDB', "DOUBLE value is out of range in 'exp(1000)'"],
    ['MySQL', "DOUBLE value is out of range in 'exp((1000 + rand()))'"],
  ])('of a text that %s cannot make whole is that the answer is too large', (_, message) => {
    const fault = new SqlFault(message, { state: '22003', errno: 1690 })

    expect([mariadb, mysql].map((dialect) => dialect.explain(fault)?.code)).toEqual(['1006', '1006'])
  })

  it('of memory is that the answer is too large, but not where memory is shared', () => {
    const explained = (message: string) => postgres.explain(new SqlFault(message, { state: '53200' }))?.code

    expect(explained('out of memory')).toBe('1006')
    expect(explained('out of shared memory')).toBeUndefined()
  })

  it.each([
    ['1001', '54000', 'RelationGetBufferForTuple', 'row is too big: size 8808, maximum size 8160'],
    ['1001', '54000', '_bt_check_third_page', 'index row size 24048 exceeds btree version 4 maximum 2704'],
    ['1001', '54000', 'ArrayCheckBoundsSafe', 'array lower bound is too large: 2147483647'],
    ['1006', '54000', 'enlargeStringInfo', 'string buffer exceeds maximum allowed length (1073741823 bytes)'],
    ['1006', '54000', undefined, 'the answer is too large'],
    ['100', '54001', 'check_stack_depth', 'stack depth limit exceeded'],
    ['100', '54011', 'transformTargetList', 'target lists can have at most 1664 entries'],
    ['100', '54023', 'ParseFuncOrColumn', 'cannot pass more than 100 arguments to a function'],
  ])('of what is more than PostgreSQL takes is %s where its state is %s in %s', (code, state, routine, message) => {
    expect(postgres.explain(new SqlFault(message, { state, routine }))).toMatchObject({ kind: 'invalid', code })
  })

  it('of a text that is longer than a packet may be is one of its value, though the connection ends', () => {
    const fault = new SqlFault('', { state: '08S01', errno: 1153 })

    expect([mariadb, mysql].map((dialect) => dialect.explain(fault)?.code)).toEqual(['1001', '1001'])
  })

  it('to be reached is no fault of the request', () => {
    const fault = new SqlFault('', { state: '08000' })

    const [expected, ...others] = [postgres, mariadb, mysql].map((dialect) => dialect.explain(fault))

    expect(expected?.message).toBe('Failed to connect to the database')
    expect(others).toMatchObject(Array(2).fill({ kind: expected?.kind, code: expected?.code }))
  })
})

function filter(name: string, search: string): Record<'postgres' | 'mariadb' | 'mysql', Statement> {
  const { where } = build.read(model, name, search)
  return compiled((dialect) => predicate(where, rootScope(dialect)))
}

function read(name: string, search: string): Record<'postgres' | 'mariadb' | 'mysql', Statement> {
  const plan = build.read(model, name, search)
  return {
    postgres: build.statement(plan, postgres),
    mariadb: build.statement(plan, mariadb),
    mysql: build.statement(plan, mysql),
  }
}

function compiled(make: (dialect: Dialect) => Sql): Record<'postgres' | 'mariadb' | 'mysql', Statement> {
  return {
    postgres: compile(make(postgres), postgres),
    mariadb: compile(make(mariadb), mariadb),
    mysql: compile(make(mysql), mysql),
  }
}

function written(plan: WritePlan): Record<'postgres' | 'mariadb' | 'mysql', readonly string[]> {
  const texts = (dialect: Dialect) => writeStatements(plan, dialect).map(({ text }) => text)
  return { postgres: texts(postgres), mariadb: texts(mariadb), mysql: texts(mysql) }
}

function all(make: (dialect: Dialect) => Iterable<Sql>): Record<'postgres' | 'mariadb' | 'mysql', readonly string[]> {
  const texts = (dialect: Dialect) =>
    Array.from(make(dialect), (statement) => {
      const { text, onRows } = compile(statement, dialect)
      const next = onRows?.([['1']])
      return next === undefined ? text : `${text}; then: ${next.text}`
    })
  return { postgres: texts(postgres), mariadb: texts(mariadb), mysql: texts(mysql) }
}
