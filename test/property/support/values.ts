/**
 * Values of every type at random, in the form in which a read answers them: a good part are the extremes of the type
 * and texts that mean something elsewhere, another part comes from so few that rows collide.
 */
import fc, { type Arbitrary } from 'fast-check'
import { anyCharacter } from '../../support/data/characters.ts'
import { oddTexts } from './odd-texts.ts'
import type { TypeText } from './shop.ts'

/** What a database can hold of a type whose bounds are left to it. */
export type Storage = {
  readonly uuidVersions: (1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15)[]
  /** The first and the last instant, without fraction. */
  readonly instants: readonly [string, string]
}

export function anyValue(type: TypeText, storage: Storage): Arbitrary<unknown> {
  if (!type.isList) return anyScalar(type, storage)
  const element = anyScalar(type, storage)
  return fc.array(fc.option(element, { nil: null, freq: 6 }), { maxLength: 4 })
}

function anyScalar({ name, sizes }: TypeText, storage: Storage): Arbitrary<unknown> {
  switch (name) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'uint8':
    case 'uint16':
    case 'uint32':
      return anyInteger(name).map(Number)
    case 'int64':
    case 'uint64':
      return anyInteger(name).map(String)
    case 'float32':
      return anySingle.map((value) => Math.fround(value) + 0)
    case 'float64':
      return anyDouble.map((value) => value + 0)
    case 'decimal':
      return sizes.length === 0 ? anyDecimal : anyFixedDecimal(sizes)
    case 'string':
      return sizes[0] === undefined ? anyText : anyText.map((text) => [...text].slice(0, sizes[0]).join(''))
    case 'uuid':
      return fc.oneof(fc.uuid({ version: storage.uuidVersions }), fc.constantFrom(...uuids))
    case 'boolean':
      return fc.boolean()
    case 'date':
      return anyDate
    case 'time':
      return anyTime
    case 'dateTime':
      return fc.tuple(anyDate, anyTime).map(([date, time]) => `${date}T${time}`)
    case 'dateTimeWithTimezone':
      return anyInstant(storage.instants)
    case 'json':
      return anyJson
    case 'bytes':
      return fc
        .oneof({ weight: 4, arbitrary: fc.uint8Array({ maxLength: 9 }) }, fc.uint8Array({ minLength: 90 }))
        .map((bytes) => Buffer.from(bytes).toString('base64'))
    case 'geometry':
      return fc
        .tuple(fc.integer({ min: -360, max: 360 }), fc.integer({ min: -180, max: 180 }))
        .map(([x, y]) => ({ type: 'Point', coordinates: [x / 2 + 0, y / 2 + 0] }))
  }
}

export const integerBounds: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int8: [-(2n ** 7n), 2n ** 7n - 1n],
  int16: [-(2n ** 15n), 2n ** 15n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0n, 2n ** 8n - 1n],
  uint16: [0n, 2n ** 16n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
}

function anyInteger(name: string): Arbitrary<bigint> {
  const [min, max] = integerBounds[name] ?? [0n, 0n]
  const edges = [min, min + 1n, max - 1n, max, 0n, 1n, 2n ** 53n + 1n].filter((edge) => edge <= max)
  return fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min, max }), fc.bigInt({ min: 0n, max: 5n }))
}

const anySingle = fc.oneof(
  fc.constantFrom(0, 0.1, -0.1, 1 / 3, 16_777_216, 16_777_215, 3.4028234663852886e38, -3.4028234663852886e38, 1e-37),
  fc.float({ noNaN: true, noDefaultInfinity: true }).filter((value) => value === 0 || Math.abs(value) > 1.2e-38),
  fc.integer({ min: -2, max: 2 }),
)

const anyDouble = fc.oneof(
  fc.constantFrom(
    0,
    0.1,
    1 / 3,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    2.2250738585072014e-308,
    2 ** 53,
    1e21,
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => value === 0 || Math.abs(value) > 2.3e-308),
  fc.integer({ min: -2, max: 2 }),
)

const anyDecimal = fc.oneof(
  fc.constantFrom('0', '1.5', '1.50', '-1.5', '0.00000000000000000001', '0.10', `${'9'.repeat(40)}.${'9'.repeat(30)}`),
  fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 25 }))
    .map(([digits, scale]) => decimalText(digits, scale)),
)

function anyFixedDecimal([precision = 0, scale = 0]: readonly number[]): Arbitrary<string> {
  const max = 10n ** BigInt(precision) - 1n
  const digits = fc.oneof(fc.constantFrom(0n, 1n, -1n, max, -max), fc.bigInt({ min: -max, max }), few)
  return digits.map((value) => decimalText(value, scale))
}

const few = fc.bigInt({ min: -3n, max: 3n }).map((value) => value * 5_000n)

export function decimalText(digits: bigint, scale: number): string {
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  const whole = text.slice(0, text.length - scale)
  const sign = digits < 0n ? '-' : ''
  return scale === 0 ? sign + whole : `${sign}${whole}.${text.slice(text.length - scale)}`
}

// A Kelvin sign and a dotted I are letters of ASCII to a database that ignores case; the oracle folds ASCII only.
const anyText = fc.oneof(
  fc.constantFrom(...oddTexts),
  fc.string({ unit: anyCharacter, maxLength: 12 }).filter((text) => !/[\0\u212a\u0130]/.test(text)),
  fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'B', '%', '_', ' '), maxLength: 4 }),
)

const uuids = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']

const anyDate = fc.oneof(
  fc.constantFrom('0001-01-01', '0099-12-31', '1000-01-01', '1969-12-31', '1970-01-01', '2000-02-29', '9999-12-31'),
  fc
    .date({ min: new Date('1900-01-01T00:00:00Z'), max: new Date('2100-12-31T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
)

const fractions = fc.constantFrom('', '', '', '.5', '.000001', '.999999', '.12', '.120001')

const anyTime = fc.oneof(
  fc.constantFrom('00:00:00', '23:59:59.999999', '00:00:00.000001', '12:00:00', '09:00:00.5'),
  fc.tuple(fc.integer({ min: 0, max: 86_399 }), fractions).map(([second, fraction]) => {
    const parts = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60]
    return parts.map((part) => String(part).padStart(2, '0')).join(':') + fraction
  }),
)

function anyInstant([first, last]: readonly [string, string]): Arbitrary<string> {
  const date = fc.date({ min: new Date(`${first}Z`), max: new Date(`${last}Z`), noInvalidDate: true })
  const between = fc.tuple(date, fractions).map(([at, fraction]) => `${at.toISOString().slice(0, 19)}${fraction}Z`)
  return fc.oneof(
    fc.constantFrom(`${first}Z`, `${last}Z`, '2000-02-29T23:59:59.999999Z', '2024-01-01T09:00:00Z'),
    between.filter((text) => text < `${last}Z`),
  )
}

const { member } = fc.letrec<{ member: unknown }>((tie) => ({
  member: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'json' },
    fc.oneof(
      fc.constantFrom<unknown>(null, true, false, 0, 1, -1.5, 1e21, 123_456_789, 'null', '5', '{"a"', ''),
      anyText,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    ),
    fc.array(tie('member'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('', 'a', 'b', 'site', '_eq', 'é"\\', '😀', '0'), tie('member'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}))

/** Null itself is the absence of a value, and a text that encodes an object or array is refused. */
const anyJson = fc
  .oneof(
    { weight: 3, arbitrary: member },
    fc.constantFrom<unknown>({ site: 'east' }, { a: '1', b: '2' }, [], {}, [1, 2], 'text', 1, true),
  )
  .filter((value) => value !== null && !(typeof value === 'string' && /^\s*[[{]/.test(value)))
