/** What the console's assistant shows of a call that waits, and what the dry run of one is asked with (console/src/screens/assistant). */
import { expect, it } from 'vitest'
import { argumentsOf, unpacked } from '../../console/src/screens/assistant/arguments.ts'

it('keeps the digits of the arguments that are shown', () => {
  const text = '{"collection":"articles","key":9007199254740993,"data":{"price":1.50,"big":[12345678901234567890]}}'

  expect(JSON.stringify(argumentsOf(text))).toBe(text)
  expect(JSON.stringify(argumentsOf(text)?.key)).toBe('9007199254740993')
})

it.each(['{"collection":', '[1]', '"text"', '12345678901234567890', 'null', ''])('has no arguments of %j', (text) => {
  expect(argumentsOf(text)).toBeUndefined()
})

it.each([
  ['as they are', (operations: string) => `{"operations":${operations}}`],
  ['as a JSON text', (operations: string) => JSON.stringify({ operations: ` ${operations}` })],
])('has operations of a migration that are sent %s, exactly', (_how, sentAs) => {
  const operations = '[{"kind":"createField","data":{"default":9007199254740993}}]'

  expect(JSON.stringify(unpacked(argumentsOf(sentAs(operations))?.operations))).toBe(operations)
})

it.each(['no JSON', '[oops', 1, null, undefined])('leaves %j as it is', (value) => {
  expect(unpacked(value)).toBe(value)
})
