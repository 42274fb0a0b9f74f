/** The writes of the golden suite: what is asked of us, and the best statement that was found by hand for the same change. */
import { fullAccess, type Viewer } from '../../../src/core/access/access.ts'
import type { Parts } from '../../../src/core/parts.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { alone } from '../../../src/core/plan/batch/planned-operation.ts'
import type { WritePlan } from '../../../src/core/plan/plan.ts'
import {
  planCreate,
  planDeleteMany,
  planUpdateMany,
  planUpdateOne,
  type WriteRequest,
} from '../../../src/core/plan/write.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseItemQuery } from '../../../src/core/query/parameters.ts'
import { unbound } from '../../../src/core/query/placeholder.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import type { Statement } from '../../../src/core/sql/statement.ts'
import { compileBatch } from '../../../src/core/sql/write/batch.ts'
import { model } from './stock.ts'

export type GoldenWrite = {
  readonly name: string
  readonly ours: readonly Statement[]
  readonly golden: Statement
}

type BenchedWrite = {
  readonly kind: 'create' | 'updateOne' | 'updateMany' | 'delete'
  readonly collection: string
  readonly body?: unknown
  readonly key?: string
  readonly query: string
}

const administrator: Viewer = { accessTo: () => fullAccess, seesModel: true }

function statementsOf({ kind, collection: name, body, key, query }: BenchedWrite): readonly Statement[] {
  const collection = model.byName.get(name)
  if (collection === undefined) throw new Error(`there are no ${name}`)
  const limits = { default: 100, max: 10_000 }
  const request: WriteRequest = {
    viewer: administrator,
    collection,
    generators: { uuid: () => '00000000-0000-0000-0000-000000000000', now: () => '2026-01-01T00:00:00Z' },
    read: { viewer: administrator, collection, access: fullAccess, limits, maxRows: 100_000 },
    query: () => parseItemQuery(parseBrackets(query)),
  }
  const plans: Readonly<Record<BenchedWrite['kind'], () => Parts<WritePlan>>> = {
    create: () => planCreate(request, body, 1_000),
    updateOne: () => planUpdateOne(request, body, { kind: 'value', value: key }),
    updateMany: () => planUpdateMany(request, body),
    delete: () => planDeleteMany(request),
  }
  return atOnce(compileBatch(alone(atOnce(plans[kind]()), collection), postgres)).statements(unbound)
}

const columns = ['title', 'slug', 'status', 'views', 'featured', 'score', 'publishedOn'] as const
const types = ['text', 'text', 'text', 'int', 'boolean', 'float8', 'date'] as const

function entry(n: number) {
  return {
    title: `The entry of number ${n}`,
    slug: `the-entry-of-number-${n}`,
    status: 'draft',
    views: n,
    featured: n % 2 === 0,
    score: n / 4,
    publishedOn: '2026-11-23',
  }
}

const names = columns.map((name) => `"${name}"`).join(', ')
const returned = `select coalesce('[' || string_agg(concat('{"id":"', id, '"}'), ',') || ']', '[]') from w`

function insertOf(count: number): GoldenWrite {
  const entries = Array.from({ length: count }, (_, index) => entry(index))
  const arrays = columns.map((name) => `{${entries.map((one) => JSON.stringify(String(one[name]))).join(',')}}`)
  const values = types.map((type, index) => `$${index + 1}::${type}`).join(', ')
  const unnested = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')
  const golden =
    count === 1
      ? {
          text: `insert into entries (${names}) values (${values}) returning concat('[{"id":"', id, '"}]')`,
          params: columns.map((name) => String(entry(0)[name])),
        }
      : {
          text: `with w as (insert into entries (${names}) select * from unnest(${unnested}) returning id) ${returned}`,
          params: arrays,
        }
  return {
    name: `insert of ${count.toLocaleString('en')}`,
    ours: statementsOf({ kind: 'create', collection: 'entries', body: entries, query: 'fields=id' }),
    golden,
  }
}

const child = (n: number) => ({ id: String(n), ...entry(n), summary: 'A summary', price: '1.50' })

export const goldenWrites = (): readonly GoldenWrite[] => [
  insertOf(1),
  insertOf(100),
  insertOf(1_000),
  {
    name: 'nested create of 1 with 3',
    ours: statementsOf({
      kind: 'create',
      collection: 'authors',
      body: [
        {
          id: '900001',
          name: 'New',
          email: 'new@example.com',
          cityId: '1',
          articles: [{ _create: { data: [900_001, 900_002, 900_003].map(child) } }],
        },
      ],
      query: 'fields=id',
    }),
    golden: {
      text: `with w as (insert into authors (id, name, email, "cityId") values ($1::bigint, $2, $3, $4::bigint) returning id), c as (insert into articles (id, title, slug, status, summary, views, featured, score, "publishedOn", price, "authorId") select x.*, w.id from unnest($5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::int[], $11::boolean[], $12::float8[], $13::date[], $14::numeric[]) x, w) ${returned}`,
      params: [
        '900001',
        'New',
        'new@example.com',
        '1',
        '{900001,900002,900003}',
        '{a,b,c}',
        '{a,b,c}',
        '{draft,draft,draft}',
        '{s,s,s}',
        '{1,2,3}',
        '{t,f,t}',
        '{0.25,0.5,0.75}',
        '{2026-11-23,2026-11-23,2026-11-23}',
        '{1.5,1.5,1.5}',
      ],
    },
  },
  {
    name: 'patch of one',
    ours: statementsOf({
      kind: 'updateOne',
      collection: 'articles',
      body: { title: 'Another' },
      key: '240',
      query: 'fields=id,title',
    }),
    golden: {
      text: `update articles set title = $1 where id = $2::bigint returning concat('[{"id":"', id, '","title":', to_json(title), '}]')`,
      params: ['Another', '240'],
    },
  },
  {
    name: 'patch of 1,000 by filter',
    ours: statementsOf({
      kind: 'updateMany',
      collection: 'articles',
      body: { title: 'Another' },
      query: 'fields=id&filter[id][_lte]=1000',
    }),
    golden: {
      text: `with w as (update articles set title = $1 where id <= $2::bigint returning id) ${returned}`,
      params: ['Another', '1000'],
    },
  },
  {
    name: 'delete of 900 by filter',
    ours: statementsOf({ kind: 'delete', collection: 'comments', query: 'filter[id][_lte]=900' }),
    golden: { text: 'delete from comments where id <= $1::bigint', params: ['900'] },
  },
]
