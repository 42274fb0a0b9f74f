/** License keys (docs/contract.md#licensing). */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { completeKey, KEY_SYMBOLS, parseLicenseKey } from '../../../src/core/license/key.ts'

/** Worked out by hand from the rule: doubled from the right, minus 31 from 32 up. */
const key = 'M0000-00000-00000-00000-00001'
const good = completeKey(`M${'0123456789ABCDEFGHJKMNP'}`)

it('has a check symbol by Luhn mod 32', () => {
  // M is 20 and stands in an odd place from the right: 20 alone, and 32 - 20 = 12, which is C.
  expect(completeKey(`M${'0'.repeat(23)}`)).toBe('M0000-00000-00000-00000-0000C')
  // Z is 31: doubled 62, minus 31 is 31; 20 + 31 = 51, mod 32 is 19, 32 - 19 = 13, which is D.
  expect(completeKey(`M${'0'.repeat(22)}Z`)).toBe('M0000-00000-00000-00000-000ZD')
  // G is 16: doubled 32, minus 31 is 1.
  expect(completeKey(`M${'0'.repeat(22)}G`)).toBe('M0000-00000-00000-00000-000GB')
})

it.each([
  ['spaces around', `  ${good}\n`],
  ['small letters', good.toLowerCase()],
  ['no dashes', good.replaceAll('-', '')],
  ['dashes elsewhere', `-${good.replaceAll('-', '--')}-`],
  ['O for 0', good.replaceAll('0', 'O')],
  ['I for 1', good.replaceAll('1', 'i')],
  ['L for 1', good.replaceAll('1', 'l')],
])('reads a key with %s in its normal form', (_, text) => {
  expect(parseLicenseKey(text)).toEqual({ kind: 'key', key: good })
})

it.each([
  ['nothing', '', 'is empty'],
  ['only dashes', ' -- ', 'is empty'],
  ['another first letter', key.replace('M', 'N'), 'must begin with the letter M'],
  ['a symbol of no key', good.replace('2', 'U'), 'has a character that is not used in license keys'],
  ['an emoji', good.replace('2', '😀'), 'has a character that is not used in license keys'],
  ['too few symbols', good.slice(0, -1), 'must have 25 symbols, it has 24'],
  ['too many symbols', `${good}0`, 'must have 25 symbols, it has 26'],
  ['a wrong check symbol', key, 'is mistyped: its check symbol is wrong'],
])('refuses %s with a message of its own', (_, text, message) => {
  expect(parseLicenseKey(text)).toEqual({ kind: 'fault', message })
})

const body = fc
  .array(fc.constantFrom(...KEY_SYMBOLS), { minLength: 23, maxLength: 23 })
  .map((symbols) => `M${symbols.join('')}`)

it('reads every key that is made, and its normal form is stable', () => {
  return fc.assert(
    fc.property(body, (symbols) => {
      const made = completeKey(symbols)

      expect(parseLicenseKey(made)).toEqual({ kind: 'key', key: made })
    }),
  )
})

it('notices every symbol that was mistyped', () => {
  return fc.assert(
    fc.property(body, fc.integer({ min: 1, max: 24 }), fc.constantFrom(...KEY_SYMBOLS), (symbols, at, other) => {
      const plain = completeKey(symbols).replaceAll('-', '')
      fc.pre(plain[at] !== other)

      const mistyped = plain.slice(0, at) + other + plain.slice(at + 1)

      expect(parseLicenseKey(mistyped)).toMatchObject({ kind: 'fault' })
    }),
  )
})

it('never throws, and never repeats what was sent', () => {
  return fc.assert(
    fc.property(fc.string({ minLength: 6 }), (text) => {
      const reading = parseLicenseKey(text)

      if (reading.kind === 'fault') expect(reading.message).not.toContain(text)
    }),
  )
})
