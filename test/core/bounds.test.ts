import { describe, expect, it } from 'vitest'
import { beyondBounds, isNestedDeeper } from '../../src/core/bounds.ts'

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe('the depth of a JSON text', () => {
  it.each([
    ['as deep as allowed', nested(5), false],
    ['one level deeper', nested(6), true],
    ['objects and arrays alike', '[{"a":[{"a":[{"a":1}]}]}]', true],
    ['brackets in a text', JSON.stringify(`${'['.repeat(50)}`), false],
    ['brackets behind an escaped quote', JSON.stringify([`"${'{'.repeat(50)}`]), false],
    ['brackets behind an escaped backslash', `["\\\\",${nested(6)}]`, true],
    ['many, one after another', `[${Array(50).fill('[]').join()}]`, false],
    ['never closed', '['.repeat(1_000_000), true],
  ])('%s', (_name, text, isDeeper) => {
    expect(isNestedDeeper(text, 5)).toBe(isDeeper)
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
    expect(beyondBounds(value, small)).toBe(reason)
  })
})
