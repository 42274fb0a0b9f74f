/** Texts of values at random, with a good part of extremes and of what means something elsewhere. */
import fc, { type Arbitrary } from 'fast-check'
import { anyCharacter } from '../../../support/data/characters.ts'
import { oddTexts } from '../odd-texts.ts'

export function few(...texts: readonly string[]): Arbitrary<string> {
  return fc.constantFrom(...texts)
}

export function digits(min: bigint, max: bigint): Arbitrary<string> {
  const edges = [min, min + 1n, max - 1n, max, 0n, 1n].filter((edge) => edge >= min && edge <= max)
  return fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min, max })).map(String)
}

export const singles = fc
  .oneof(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.integer({ max: 9 }))
  .map(numberText)
export const doubles = fc
  .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ max: 9 }))
  .map(numberText)

export function decimals(whole: number, scale: number): Arbitrary<string> {
  const max = 10n ** BigInt(whole) - 1n
  const fraction = fc
    .bigInt({ min: 0n, max: 10n ** BigInt(scale) - 1n })
    .map((part) => String(part).padStart(scale, '0'))
  return fc
    .tuple(fc.bigInt({ min: -max, max }), fraction)
    .map(([one, rest]) => (scale === 0 ? `${one}` : `${one}.${rest}`))
}

export function text(length: number): Arbitrary<string> {
  const any = fc.string({ unit: anyCharacter, maxLength: length }).filter((one) => !one.includes('\0'))
  return fc.oneof(fc.constantFrom(...oddTexts), any).map((one) => [...one].slice(0, length).join(''))
}

export const words = text(12)

export function dates(from: number, to: number): Arbitrary<string> {
  const parts = fc.tuple(
    fc.integer({ min: from, max: to }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 28 }),
  )
  return parts.map(
    ([year, month, day]) => `${pad(year < 1 ? 1 - year : year, 4)}-${pad(month)}-${pad(day)}${era(year)}`,
  )
}

const fractions = few('', '', '.5', '.000001', '.999999', '.120001')

export const times = fc.tuple(fc.integer({ min: 0, max: 86_399 }), fractions).map(([second, fraction]) => {
  const parts = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60]
  return parts.map((part) => pad(part)).join(':') + fraction
})

export function instants(from: number, to: number, zone: Arbitrary<string> = fc.constant('')): Arbitrary<string> {
  return fc.tuple(dates(from, to), times, zone).map(([date, time, at]) => {
    const [day = '', after] = date.split(' ')
    return `${day} ${time}${at}${after === undefined ? '' : ` ${after}`}`
  })
}

export const zones = few('Z', '+00:00', '+05:30', '-11', '+14', '-00:45')

export const intervals = fc
  .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.integer({ min: -999, max: 999 }), fc.integer(), fractions)
  .map(([months, days, seconds, fraction]) => `${months} months ${days} days ${seconds}${fraction} seconds`)

const byte = fc.integer({ min: 0, max: 255 })
export const addresses = fc.tuple(byte, byte, byte, byte).map((parts) => parts.join('.'))
export const longAddresses = fc
  .array(fc.integer({ min: 0, max: 65_535 }), { minLength: 8, maxLength: 8 })
  .map((parts) => parts.map((part) => part.toString(16)).join(':'))
export const masked = fc
  .tuple(addresses, fc.integer({ min: 0, max: 32 }))
  .map(([address, size]) => `${address}/${size}`)

export function hex(size: { readonly minLength: number; readonly maxLength: number }): Arbitrary<string> {
  return fc.uint8Array(size).map((bytes) => Buffer.from(bytes).toString('hex'))
}

export function bits(minLength: number, maxLength: number): Arbitrary<string> {
  return fc.array(few('0', '1'), { minLength, maxLength }).map((all) => all.join(''))
}

/** Ranges whose bounds are in order. */
export function ranges(bounds: Arbitrary<number>, shown: (bound: number) => string = String): Arbitrary<string> {
  return fc.tuple(bounds, bounds, few('[', '('), few(')', ']')).map(([one, other, opening, closing]) => {
    const [low, high] = one < other ? [one, other] : [other, one]
    return `${opening}${shown(low)},${shown(high)}${closing}`
  })
}

/** Texts of JSON, with numbers that JavaScript would change. */
const numbers = few(
  '0',
  '-1',
  '1.0',
  '1.50',
  '12345678901234567890.123456789',
  '1e2',
  '0.1',
  '-0',
  '1E+5',
  '100000000000000000000001',
)
const { member } = fc.letrec<{ member: string }>((tie) => ({
  member: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'json text' },
    fc.oneof(
      numbers,
      few('true', 'false', '"null"', '"{\\"a\\":1}"', '""', '"[]"'),
      words.map((one) => JSON.stringify(one)),
    ),
    fc.array(tie('member'), { maxLength: 3 }).map((all) => `[${all.join(', ')}]`),
    fc
      .dictionary(few('', 'a', 'b', '_eq', 'é"\\', '😀', '0', 'rawJSON'), tie('member'), { maxKeys: 3 })
      .map((all) => `{${Object.entries(all).map(([name, one]) => `${JSON.stringify(name)}: ${one}`)}}`),
  ),
}))
export const json = member

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

function era(year: number): string {
  return year < 1 ? ' BC' : ''
}

function pad(value: number, length = 2): string {
  return String(value).padStart(length, '0')
}
