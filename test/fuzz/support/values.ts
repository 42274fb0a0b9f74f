/**
 * Values at random for a type: good ones, its extremes, and what other services have stumbled over. As texts for a
 * query string or a path, and as JSON texts for a body, so that a body can hold what `JSON.stringify` never writes.
 */
import type { TypeName } from '../../../src/core/model/field-type.ts'
import { operators } from '../../../src/core/model/vocabulary.ts'
import type { FieldSketch } from '../../support/data/model-sketch.ts'
import type { Dice } from './dice.ts'

/** For a query string or a path. May hold a lone surrogate, which only `escaped` can write. */
export function anyText(dice: Dice, field: FieldSketch): string {
  if (dice.spoils(3)) return dice.pick(hostile)
  const value: unknown = JSON.parse(dice.pick(good[field.type]))
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A JSON text; by far most often one that the field takes. */
export function anyJson(dice: Dice, field: FieldSketch): string {
  if (dice.spoils(12)) return anyWrongJson(dice)
  if (field.isNullable && dice.once(5)) return 'null'
  const scalar = () => dice.pick(good[field.type])
  if (!field.isList) return scalar()
  return `[${dice.some(4, () => (dice.once(5) ? 'null' : scalar())).join(',')}]`
}

/** JSON text of any kind, nested at random, or one of the odd ones. */
export function anyWrongJson(dice: Dice, depth = 0): string {
  switch (dice.below(depth > 4 ? 3 : 6)) {
    case 0:
      return JSON.stringify(dice.pick(hostile))
    case 1:
      return dice.pick(numbers)
    case 2:
      return dice.pick(['null', 'true', 'false', '[]', '{}', '""', '[null]', '[[]]', '{"":null}'])
    case 3:
      return `[${dice.some(4, () => anyWrongJson(dice, depth + 1)).join(',')}]`
    case 4:
      return `{${dice.some(4, () => `${JSON.stringify(anyName(dice))}:${anyWrongJson(dice, depth + 1)}`).join(',')}}`
    default:
      return dice.once(8) ? dice.pick(huge)() : dice.pick(odd)
  }
}

export function anyName(dice: Dice): string {
  return dice.pick(dice.once(2) ? hostile : names)
}

/** As a part of a query string; a lone surrogate becomes the bytes that some encoders make of it. */
export function escaped(text: string): string {
  if (text.isWellFormed()) return encodeURIComponent(text)
  return [...text].map((point) => (point.isWellFormed() ? encodeURIComponent(point) : '%ED%A0%80')).join('')
}

export const hostile: readonly string[] = [
  '',
  ' ',
  '0',
  '-0',
  '-1',
  '1e400',
  '1e-400',
  'NaN',
  'Infinity',
  '0x10',
  '١٢٣',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '9'.repeat(400),
  `0.${'0'.repeat(20_000)}1`,
  'null',
  'undefined',
  'true',
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00y',
  '\ufffe\uffff',
  '\u2028',
  '😀',
  '👩‍👩‍👧‍👦',
  'e\u0301',
  "'",
  '"',
  '\\',
  '\\x41',
  "\\'; --",
  "' or 1=1 --",
  "'; drop table things; --",
  '1; select pg_sleep(60)',
  "') union select null,version()--",
  '$1',
  '$$x$$',
  '?',
  ':id',
  '%',
  '%s%n',
  '_',
  '!',
  '{1,2}',
  '{"a":1}',
  '[1]',
  '[',
  '(a+)+$',
  `${'a'.repeat(3_000)}!`,
  '%_'.repeat(1_000),
  '../../etc/passwd',
  '0001-01-01',
  '0000-00-00',
  '2023-02-29',
  '9999-12-31T23:59:59.999999Z',
  '10000-01-01',
  '-0001-01-01',
  '24:00:00',
  '23:59:60',
  '2020-01-01T00:00:00',
  '2020-01-01T00:00:00+99:99',
  '2020-01-01T00:00:00.1234567Z',
  '0001-01-01T00:00:00+23:59',
  'infinity',
  '-infinity',
  'epoch',
  'now',
  '00000000-0000-0000-0000-000000000000',
  '{00000000-0000-0000-0000-000000000000}',
  'AA==',
  'AB==',
  '__proto__',
  'constructor',
  'toString',
  '*',
  '**',
  'id',
  't0.id',
  'things.id',
  '"id"',
  'id::text',
  '$CURRENT_USER',
  '$NOW(-7 days)',
]

export const names: readonly string[] = [
  ...operators,
  '_and',
  '_or',
  '_not',
  '_some',
  '_every',
  '_none',
  '_connect',
  '_create',
  '_update',
  '_disconnect',
  '_delete',
  '_filter',
  '_sort',
  '_limit',
  '_regex',
  'data',
  'key',
  'keys',
  'filter',
  'fields',
  'direction',
  'nulls',
  'id',
  'author',
  'books',
  'detail',
  'tag',
  'length',
  '0',
  '-1',
  'hasOwnProperty',
]

const numbers = ['0', '-0', '1', '-1', '1.5', '1e2', '1E400', '-1e-400', '0.1', '9007199254740993', '1e308', '2e308']

/** What is JSON, but no `JSON.stringify` writes it. */
const odd: readonly string[] = [
  '{"__proto__":{"isAdministrator":true}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"a":1,"a":2}',
  '"\\ud800"',
  '"\\u0000"',
  '{"\\u0000":1}',
  '{"\\ud800":1}',
  '123456789012345678901234567890.123456789',
  `1${'0'.repeat(400)}`,
  `${'['.repeat(999)}${']'.repeat(999)}`,
  `${'['.repeat(1_001)}${']'.repeat(1_001)}`,
  `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`,
]

const huge: readonly (() => string)[] = [
  () => `"${'x'.repeat(2 ** 20)}"`,
  () => `"${'(a+)+'.repeat(100_000)}"`,
  () => `[${Array(20_000).fill('1').join(',')}]`,
  () => `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  () => `${'{"_and":['.repeat(20_000)}${']}'.repeat(20_000)}`,
  () => `{${Array.from({ length: 5_000 }, (_, index) => `"k${index}":${index}`).join(',')}}`,
]

const texts = ['""', '"a"', '"A"', '"it\'s"', '"50%"', '"a_b"', '"!%"', '"\\\\"', '"😀"', '"null"', '"\\n"', '"x y"']

/** JSON texts that a field of the type takes. */
const good: Readonly<Record<TypeName, readonly string[]>> = {
  int8: ['0', '1', '-1', '127', '-128'],
  uint8: ['0', '1', '255'],
  uint16: ['0', '1', '65535'],
  uint32: ['0', '1', '4294967295'],
  uint64: ['0', '1', '"2"', '"18446744073709551615"'],
  int16: ['0', '1', '-1', '32767', '-32768'],
  int32: ['0', '1', '2', '-1', '2147483647', '-2147483648'],
  int64: ['0', '1', '2', '3', '"4"', '"-1"', '"9223372036854775807"', '"-9223372036854775808"'],
  float32: ['0', '1.5', '-0.1', '3.4028234663852886e38', '1.401298464324817e-45'],
  float64: ['0', '-0.1', '1.7976931348623157e308', '5e-324', '1e21'],
  decimal: ['"0"', '"1.5"', '7', '"-12345678.1234"', '"0.0001"', '"99999999.9999"'],
  string: texts,
  uuid: ['"00000000-0000-0000-0000-000000000001"', '"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"'],
  boolean: ['true', 'false'],
  date: ['"0001-01-01"', '"9999-12-31"', '"2024-02-29"'],
  time: ['"00:00:00"', '"23:59:59.999999"'],
  dateTime: ['"0001-01-01T00:00:00"', '"9999-12-31T23:59:59.999999"', '"2024-02-29T12:00:00.5"'],
  dateTimeWithTimezone: ['"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59.999999Z"', '"2024-02-29T12:00:00+05:30"'],
  json: ['null', '1', '"text"', 'true', '[]', '{}', '{"a":[1,{"b":null}]}', '[1.5,"x"]', '{"__proto__":1}'],
  geometry: ['{"type":"Point","coordinates":[1,2]}'],
  bytes: ['""', '"AA=="', '"AAEC"', '"/+8="'],
}
