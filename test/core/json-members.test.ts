import fc from 'fast-check'
import { expect, it } from 'vitest'
import { memberTexts } from '../../src/core/json-members.ts'
import { casesOr } from '../support/run/cases.ts'

const parsed = (text: string) =>
  Object.fromEntries([...memberTexts(text)].map(([name, one]) => [name, JSON.parse(one)]))

it('finds the members that are there, however it is written', () => {
  const anyObject = fc.dictionary(fc.string(), fc.jsonValue()).filter((one) => !Object.hasOwn(one, '__proto__'))
  fc.assert(
    fc.property(anyObject, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space)
      expect(parsed(text)).toEqual(JSON.parse(text))
    }),
    { numRuns: casesOr(1_000) },
  )
})

it.each([
  ['{}', {}],
  [' { } ', {}],
  ['{"a":"\\\\"}', { a: '\\' }],
  ['{"a":"\\"}","b":[{"c":"],"}]}', { a: '"}', b: [{ c: '],' }] }],
  ['{"\\u0041\\"":-1.5e3 , "b" : null}', { 'A"': -1500, b: null }],
])('%s', (text, members) => {
  expect(parsed(text)).toEqual(members)
})

it('keeps each value as it is written', () => {
  expect([...memberTexts('{"n":12345678901234567890.10,"o":{ "x":1 }}')]).toEqual([
    ['n', '12345678901234567890.10'],
    ['o', '{ "x":1 }'],
  ])
})
