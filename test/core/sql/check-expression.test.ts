import { describe, expect, it } from 'vitest'
import { readCheck } from '../../../src/core/sql/checks/expression.ts'
import { clauses, plainClause } from '../../../src/core/sql/mysql/checks.ts'
import { printed } from '../../../src/core/sql/postgres/checks.ts'

describe('PostgreSQL, as it prints an expression', () => {
  it.each([
    [
      "((status)::text = ANY ((ARRAY['a'::character varying, 'it''s'::character varying])::text[]))",
      { values: ['a', "it's"] },
    ],
    ["(status = ANY (ARRAY['a'::text, 'b'::text]))", { values: ['a', 'b'] }],
    [
      "((status)::text = ANY (ARRAY[('a'::character varying)::text, ('b'::character varying)::text]))",
      { values: ['a', 'b'] },
    ],
    ["(status = 'a'::text)", { values: ['a'] }],
    ['(status >= (0)::numeric)', { minimum: '0' }],
    ['((status > (0)::numeric) AND (status < 100.5))', { exclusiveMinimum: '0', exclusiveMaximum: '100.5' }],
    ['((status >= 1) AND (status <= 10) AND (status >= 3))', { minimum: '3', maximum: '10' }],
    ["(status >= '-5'::integer)", { minimum: '-5' }],
    ['(0 < status)', { exclusiveMinimum: '0' }],
    ['(status = ANY (ARRAY[3, 1, 2]))', { minimum: '1', maximum: '3' }],
    ['(char_length((status)::text) <= 5)', { maxLength: 5 }],
    ['((length(status) >= 2) AND (length(status) < 5))', { minLength: 2, maxLength: 4 }],
    ['(octet_length(status) >= 3)', { minLength: 1 }],
    ["(status <> ''::text)", { minLength: 1 }],
    ["((status)::text ~ '^[a-z]{2}-\\.(?:x|y)*$'::text)", { pattern: '^[a-z]{2}-\\.(?:x|y)*$' }],
    ['("status" >= 0)', { minimum: '0' }],
  ])('%s', (expression, limits) => {
    expect(readCheck(expression, printed)).toEqual({ column: 'status', limits })
  })

  it.each([
    '((status >= 0) OR (status < -5))',
    '(NOT (status >= 0))',
    '(status >= other)',
    '((status >= 0) AND (other >= 0))',
    '(lower(status) = status)',
    '((status)::integer >= 0)',
    "(status >= '2020-01-01'::date)",
    '(status >= (0.5)::integer)',
    '(status >= (1.55)::numeric(3,1))',
    "(status ~ '^\\d+$'::text)",
    "(status ~ '^.+$'::text)",
    "(status ~ '(?i)a'::text)",
    "(status ~ '[[:alpha:]]'::text)",
    "(status ~* 'a'::text)",
    "(status !~ 'a'::text)",
    "(status <> 'a'::text)",
    '(status <> 0)',
    '(status IS NOT NULL)',
    'true',
    'status',
    "(status = ANY (ARRAY['a'::text, NULL::text]))",
    "('a'::text = 'a'::text)",
    '(status >= 0',
    "(status = 'a'::mood)",
    '((status % 2) = 0)',
    '',
  ])('is silent on %s', (expression) => {
    expect(readCheck(expression, printed)).toBeUndefined()
  })
})

describe('MariaDB and MySQL', () => {
  it.each([
    ["`status` in ('a','it\\'s','b''c')", { values: ['a', "it's", "b'c"] }],
    ['`status` in (1,2)', { minimum: '1', maximum: '2' }],
    ['`status` >= -5', { minimum: '-5' }],
    ['`status` between 1 and 10', { minimum: '1', maximum: '10' }],
    ['`status` between 1 and 10 and `status` > 3', { minimum: '1', maximum: '10', exclusiveMinimum: '3' }],
    ['char_length(`status`) <= 5', { maxLength: 5 }],
    ['length(`status`) > 3', { minLength: 1 }],
    ["`status` <> ''", { minLength: 1 }],
    ["(`status` in (_utf8mb4\\'a\\',_utf8mb4\\'b\\'))", { values: ['a', 'b'] }],
    ['(`status` between 1 and 10)', { minimum: '1', maximum: '10' }],
  ])('%s', (expression, limits) => {
    expect(readCheck(plainClause(expression), clauses)).toEqual({ column: 'status', limits })
  })

  it.each([
    'json_valid(`status`)',
    "`status` regexp '^a'",
    '`a` > `b`',
    '`a` > 1 or `a` < 0',
    '`a` is not null',
    "`a` = 'x' or 1",
    'constructor(`a`) > 3',
  ])('are silent on %s', (expression) => {
    expect(readCheck(plainClause(expression), clauses)).toBeUndefined()
  })
})
