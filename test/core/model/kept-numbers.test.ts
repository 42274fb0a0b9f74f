/** Which JSON numbers JavaScript has as they were sent: those that it writes in the same digits (docs/contract.md#values). */
import { expect, it } from 'vitest'
import { parseExactJson } from '../../../src/core/exact-json.ts'
import { changedNumber } from '../../../src/core/model/codec/number.ts'

it.each(
  `0 -0 0.0 0e5 -0.00 7 -7 1.50 1e2 1E+2 0.10e1 123456789012345 9007199254740991 9007199254740992 1e20 100000000000000000000
   0.1 0.30000000000000004 3.0000000000000004e-1 1.7976931348623157e308 17976931348623157e292 5e-324 0.5e-323 1e-323 1.235e-320
   2.2250738585072014e-308 -1.5e-323`.split(/\s+/),
)('keeps %s', (text) => {
  expect(changedNumber(parseExactJson(text))).toBeUndefined()
})

it.each(
  `1.23456789e-320 4.9e-324 9.9e-324 1e-324 1e-400 3e-324 1e309 1e400 -1e309 9007199254740993 0.1000000000000000055
   750727362669608961 1.00000000000000001 0.1234567890123456789 123456789012345678e-330`.split(/\s+/),
)('tells that it would round %s', (text) => {
  expect(changedNumber({ in: [parseExactJson(text)] })).toEqual({ path: ['in', 0], number: text })
})
