import { describe, expect, it } from 'vitest'
import { exceedsLimits, hasPrototypeMember, oversizedJson, weightOfJson } from '../../src/core/json-limits.ts'

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

const deeper = 'is nested deeper than 5 levels'
const wider = 'has an object of more than 3 members'
const within = undefined

describe('the shape of a JSON text', () => {
  it.each([
    ['as deep as allowed', nested(5), within],
    ['one level deeper', nested(6), deeper],
    ['objects and arrays alike', '[{"a":[{"a":[{"a":1}]}]}]', deeper],
    ['brackets in a text', JSON.stringify(`${'['.repeat(50)}`), within],
    ['brackets behind an escaped quote', JSON.stringify([`"${'{'.repeat(50)}`]), within],
    ['brackets behind an escaped backslash', `["\\\\",${nested(6)}]`, deeper],
    ['many, one after another', `[${Array(50).fill('[]').join()}]`, within],
    ['never closed', '['.repeat(1_000_000), deeper],
    ['as many members as allowed', '[{"a":1,"b":[1,2,3,4],"c":3},{"a":1}]', within],
    ['one member more', '{"a":1,"b":2,"c":{},"d":4}', wider],
    ['commas in a text', '{"a":",,,,,"}', within],
    ['closed more often than opened', ']]]]]]{"a":1,"b":2,"c":3,"d":4}', wider],
  ])('%s', (_name, text, reason) => {
    expect(oversizedJson(text, { depth: 5, members: 3 })).toBe(reason)
  })

  it('has a bound for all values together', () => {
    const bounds = { depth: 5, members: 3, values: 4 }

    expect(oversizedJson('[1,[2,{"a":3}],"4,,,,"]', bounds)).toBe(within)
    expect(oversizedJson('[1,[2,{"a":3}],4,5]', bounds)).toBe('has more than 4 values')
  })

  it('has a bound for all arrays and objects together', () => {
    const bounds = { depth: 5, members: 3, containers: 4 }

    expect(oversizedJson('[[[[]]],1,"[[["]', bounds)).toBe(within)
    expect(oversizedJson('[[[]],{"a":[]}]', bounds)).toBe('has more than 4 arrays and objects')
  })

  it('bounds the arrays of a body, which no comma may separate', () => {
    expect(oversizedJson(`[${Array(1_000).fill(nested(501)).join()}]`)).toBe('has more than 500000 arrays and objects')
  })
})

describe('the bounds of a value', () => {
  const small = { depth: 3, values: 5, elements: 4, length: 20, nameLength: 6 }
  const deep = (levels: number): unknown => JSON.parse(nested(levels))

  it.each<[string, unknown, string | undefined]>([
    ['a text', 'x'.repeat(20), undefined],
    ['a longer text', 'x'.repeat(21), 'is longer than 20 characters'],
    ['names and texts together', { abcdef: { abcdef: 'ghijklmnopqrst' } }, 'is longer than 20 characters'],
    ['a long name', { abcdefg: 1 }, 'has a name longer than 6 characters'],
    ['as deep as allowed', [[[1]]], undefined],
    ['too deep', [[[[1]]]], 'is nested deeper than 3 levels'],
    ['a million levels', deep(1_000_000), 'is nested deeper than 3 levels'],
    ['a long list', [1, 2, 3, 4, 5], 'has a list of more than 4 elements'],
    ['as many values as allowed', { a: [1, 2, 3, 4], b: 5 }, undefined],
    ['too many values', { a: [1, 2, 3, 4], b: 5, c: 6 }, 'has more than 5 values'],
    ['too many empty objects', { a: [{}, {}, {}, {}], b: [[], {}] }, 'has more than 5 values'],
    ['a million members', Object.fromEntries(Array.from({ length: 1e6 }, (_, i) => [i, i])), 'has more than 5 values'],
    ['null', null, undefined],
  ])('%s', (_name, value, reason) => {
    expect(exceedsLimits(value, small)).toBe(reason)
  })
})

describe('a member __proto__', () => {
  it.each<[string, string, boolean]>([
    ['is found', '{"a":[{"__proto__":1}]}', true],
    ['is found by its escapes', '{"a":{"\\u005f_proto__":1}}', true],
    ['is not one in a text', '["__proto__", {"a":"\\u005f"}]', false],
    ['is not there', '{"a":1}', false],
  ])('%s', (_name, text, is) => {
    expect(hasPrototypeMember(text, JSON.parse(text))).toBe(is)
  })
})

it.each([
  ['{}', 2 * 2 + 96],
  ['[1,{"a":[2]}]', 2 * 13 + 2 * 48 + 3 * 96],
  [`"${'é'.repeat(10)}"`, 2 * 22],
])('weighs %s before it is parsed', (text, weight) => {
  expect(weightOfJson(new TextEncoder().encode(text))).toBe(weight)
})
