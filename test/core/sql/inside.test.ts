/** Filters on what lists and JSON values hold, as each dialect has them; what they find is in test/property. */
import { expect, it } from 'vitest'
import { fullAccess } from '../../../src/core/access/access.ts'
import { type ErrorBody, errorBody, ServiceError } from '../../../src/core/error.ts'
import { planList } from '../../../src/core/plan/read.ts'
import { parseListArguments } from '../../../src/core/query/parse-json.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { mariadb, mysql, mysqlConversation } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { predicate } from '../../../src/core/sql/read/predicate.ts'
import { rootScope } from '../../../src/core/sql/read/scope.ts'
import { compile, type Statement } from '../../../src/core/sql/statement.ts'
import { build } from '../../support/data/build.ts'

const model = build.model({ things: { id: 'int64', tags: 'string[]?', codes: 'int32[]', meta: 'json?' } }, [])

it('asks arrays by operators that an index serves', () => {
  expect(filter(postgres, { tags: { _has: 'new' } })).toEqual({
    text: '"t0"."tags"::text[] @> $1::text[]',
    params: ['{"new"}'],
  })
  expect(filter(postgres, { codes: { _has_any: [1, 2, 3] } })).toEqual({
    text: '"t0"."codes"::integer[] && $1::integer[]',
    params: ['{"1","2","3"}'],
  })
  expect(filter(postgres, { codes: { _has_all: [1], _empty: false } }).text).toBe(
    '("t0"."codes"::integer[] @> $1::integer[] and not (cardinality("t0"."codes") = 0))',
  )
})

it('asks JSON by operators that an index serves', () => {
  expect(filter(postgres, { meta: { _contains: { a: [1] } } })).toEqual({
    text: '"t0"."meta"::jsonb @> $1::jsonb',
    params: ['{"a":[1]}'],
  })
  expect(filter(postgres, { meta: { _has_key: 'a' } })).toEqual({
    text: `("t0"."meta"::jsonb ? $1::text and jsonb_typeof("t0"."meta"::jsonb) = 'object')`,
    params: ['a'],
  })
})

it.each([postgres, mariadb, mysql])('sends a path as a value: $title', (dialect) => {
  const { text, params } = filter(dialect, { meta: { _path: ['a"b', 'c'], _eq: 'x' } })

  expect(text).not.toMatch(/a"b|\bx\b/)
  expect(params).toContain('x')
  expect(params).toContainEqual(expect.stringContaining('$."a\\"b"."c"'))
})

it.each([mariadb, mysql])('has one text for containments of one shape: $title', (dialect) => {
  const texts = [{ a: ['x', { b: 1 }] }, { '`': ['y', { c: 2 }] }].map(
    (_contains) => filter(dialect, { meta: { _contains } }).text,
  )

  expect(texts[1]).toBe(texts[0])
})

it('looks into lists by what Vitess knows, and refuses what it does not', () => {
  const { text, params } = filter(mysqlConversation, { meta: { _contains: { a: ['x'] } } })

  expect(text).toContain('json_overlaps(')
  expect(text).not.toContain('json_table')
  expect(params).toContain('["x"]')
  expect(refusal(() => filter(mysqlConversation, { meta: { _contains: [{ a: 1 }] } }))).toEqual([
    'Failed to execute query',
    'filter.meta._contains',
    'the data source cannot look for lists and objects inside of lists',
  ])
})

it.each([
  [{ meta: { _contains: Array.from({ length: 51 }, () => 1) } }, 'has more than 50 values'],
  [{ meta: { _path: [], _eq: 1 } }, 'must be a list of names'],
  [{ meta: { _path: ['a'] } }, /^needs an operator beside _path: _eq, /],
  [{ meta: { _path: ['a'], _null: true } }, /^is not an operator at a path; allowed: _eq, /],
  [{ meta: { _path: ['a'], _contains: 'x' } }, /^is not an operator at a path; allowed: _eq, /],
  [{ meta: { _path: [-1], _eq: 1 } }, 'must be a name, or the place in a list'],
  [{ meta: { _path: ['\0'], _eq: 1 } }, 'must not contain the character U+0000'],
  [{ meta: { _path: ['a'], _eq: {} } }, 'must be a text, a number, true or false'],
  [{ meta: { _path: ['a'], _eq: null } }, 'must be a text, a number, true or false'],
  [{ meta: { _path: ['a'], _lt: true } }, 'must be a text or a number'],
  [{ meta: { _path: ['a'], _in: ['x', 1] } }, 'must be a string, as the first'],
  [{ meta: { _path: ['a'], _between: [1] } }, 'must be a list of two values'],
  [{ meta: { _lt: 1 } }, /^is not an operator of json; allowed: _eq, _neq, _contains, _has_key, _path, _null$/],
  [{ meta: { _has_key: 1 } }, 'must be a string'],
  [{ tags: { _has: 1 } }, 'must be a string'],
  [{ tags: { _has_any: 'x' } }, 'must be a list, such as ["x", "y"]'],
  [{ tags: { _has_any: [null] } }, 'must be a string'],
  [{ tags: { _empty: 'yes' } }, 'must be true or false'],
  [{ tags: { _eq: 'x' } }, /^is not an operator of lists; allowed: _has, _has_any, _has_all, _empty, _null$/],
])('refuses %j', (sent, reason) => {
  const messages = refusal(() => filter(postgres, sent))

  expect(messages.at(-1)).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason))
})

function filter(dialect: Dialect, sent: object): Statement {
  const collection = model.byName.get('things')
  if (collection === undefined) throw new Error('there are no things')
  const viewer = { accessTo: () => fullAccess, seesModel: true }
  const limits = { default: 10, max: 100 }
  const context = { viewer, collection, access: fullAccess, limits, maxRows: 1_000 }
  const { where } = planList(context, parseListArguments({ filter: sent }))
  return compile(predicate(where, rootScope(dialect)), dialect)
}

function refusal(run: () => unknown): readonly string[] {
  try {
    run()
  } catch (error) {
    if (error instanceof ServiceError) return story(errorBody(error))
    throw error
  }
  return []
}

function story({ message, source }: ErrorBody): readonly string[] {
  return source === undefined ? [message] : [message, ...story(source)]
}
