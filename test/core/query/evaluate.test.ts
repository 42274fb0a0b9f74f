import { describe, expect, it } from 'vitest'
import { evaluate } from '../../../src/core/query/evaluate.ts'
import { all, and, type Filter, isTrue, none, not, or } from '../../../src/core/query/filter.ts'
import { compareTexts } from '../../../src/core/query/text-order.ts'
import { build } from '../../support/data/build.ts'

function fieldOf(type: string) {
  const [field] = build.model({ c: { f: type } }).byName.get('c')?.primitives ?? []
  if (field === undefined) throw new Error('no field')
  return field
}

describe('order', () => {
  it.each<[string, string, string, number]>([
    ['int64', '9007199254740993', '9007199254740992', 1],
    ['int64', '-10', '9', -1],
    ['int64', '-10', '-9', -1],
    ['int64', '10', '9', 1],
    ['decimal', '1.50', '1.5', 0],
    ['decimal', '-0.0', '0', 0],
    ['decimal', '10.01', '10.009', 1],
    ['float64', '1e3', '999', 1],
    ['string', 'B', 'a', -1],
    ['date', '2026-01-02', '2026-01-10', -1],
    ['time', '10:00:00', '10:00:00.5', -1],
    ['dateTimeWithTimezone', '2026-01-01T10:00:00Z', '2026-01-01T10:00:00.5Z', -1],
    ['json', '{"a":1,"b":2}', '{"b":2,"a":1}', 0],
    ['json', '[1]', '[2]', -1],
  ])('%s: %s against %s', (type, one, other, expected) => {
    expect(Math.sign(compareTexts(fieldOf(type), one, other))).toBe(expected)
    expect(Math.sign(compareTexts(fieldOf(type), other, one)) + 0).toBe(-expected + 0)
  })
})

describe('a filter over a row', () => {
  const field = fieldOf('string?')
  const is = (operand: string): Filter => ({ kind: 'compare', field, visible: all, operator: '=', operand })
  const starts = (operand: string, ignoreCase: boolean): Filter => ({
    kind: 'match',
    field,
    visible: all,
    match: { part: 'starts', ignoreCase },
    negated: false,
    operand,
  })

  it.each<[string, Filter, string | null, boolean | undefined]>([
    ['all', all, null, true],
    ['none', none, null, false],
    ['equal', is('x'), 'x', true],
    ['another', is('x'), 'y', false],
    ['null', is('x'), null, undefined],
    ['not null', not(is('x')), null, undefined],
    ['true or unknown', or([is('x'), not(is('x'))]), 'x', true],
    ['false and unknown', and([none, is('x')]), null, false],
    ['unknown taken for false', isTrue(is('x')), null, false],
    ['a beginning', starts('Ab', false), 'Abc', true],
    ['a beginning of another case', starts('Ab', false), 'abc', false],
    ['a beginning, whatever its case', starts('Ab', true), 'abc', true],
    ['hidden', { kind: 'null', field, visible: none, negated: false }, 'x', true],
    ['in a list', { kind: 'in', field, visible: all, negated: false, operands: ['x', 'y'] }, 'y', true],
    ['in no list', { kind: 'in', field, visible: all, negated: true, operands: ['x'] }, 'y', true],
    ['between', { kind: 'between', field, visible: all, negated: false, low: 'a', high: 'c' }, 'b', true],
    ['not between', { kind: 'between', field, visible: all, negated: true, low: 'a', high: 'c' }, 'b', false],
  ])('%s', (_, filter, value, expected) => {
    expect(evaluate(filter, () => value)).toBe(expected)
  })
})
