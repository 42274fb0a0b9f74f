/** Exact JSON is read as `JSON.parse` reads it, with the text of each number that a JavaScript number would change. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isRawNumber, parseExactJson, parseJson, TooManyRawNumbers } from '../../src/core/exact-json.ts'
import { casesOr } from '../support/run/cases.ts'

/** One of which the text is read with its numbers. */
const exact = '1.50'

const space = fc.constantFrom('', ' ', '\n', '\t ', '\r')
const scalar = fc.oneof(
  fc.constantFrom('0', '-0', '1.50', '1e400', '12345678901234567890', '-1.0E+2', 'true', 'false', 'null', '0.0000001'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\\\"', '"\\""', '"\\u0041\\/"', '""', '"a\\\\\\"b"'),
)
const { value: json } = fc.letrec<{ value: string }>((tie) => {
  const value = fc.tuple(space, tie('value'), space).map((parts) => parts.join(''))
  const name = fc.oneof(fc.constantFrom('__proto__', 'constructor', '', '1'), fc.string({ maxLength: 3 }))
  const member = fc.tuple(name, value).map(([key, of]) => `${JSON.stringify(key)}:${of}`)
  return {
    value: fc.oneof(
      { depthSize: 'small' },
      scalar,
      fc.array(value, { maxLength: 4 }).map((list) => `[${list.join(',')}]`),
      fc.array(member, { maxLength: 4 }).map((list) => `{${list.join(',')}}`),
    ),
  }
})

it('has what JSON.parse has, where a number is one of JavaScript', () => {
  fc.assert(
    fc.property(json, (text) => {
      const read = parseExactJson(`[${exact},${text}]`)

      expect(plain(read)).toEqual(JSON.parse(`[${exact},${text}]`))
    }),
    { numRuns: casesOr(5_000) },
  )
})

it('writes each number as it was sent', () => {
  fc.assert(
    fc.property(fc.array(scalar), (scalars) => {
      const text = `[${exact},${scalars.join(',')}${scalars.length === 0 ? 'null' : ''}]`
      const numbers = (from: string) => from.split(/"(?:[^"\\]|\\.)*"/).join('""')

      expect(numbers(JSON.stringify(parseExactJson(text)))).toBe(numbers(text))
    }),
    { numRuns: casesOr(2_000) },
  )
})

it('takes no more and no less than JSON.parse', () => {
  fc.assert(
    fc.property(
      json,
      fc.nat(),
      fc.constantFrom('', ',', '}', ']', '"', '\\', '0', '.', '-', 'e', ' ', '\u0001', '\ufeff'),
      (text, at, more) => {
        const place = at % (text.length + 1)
        const changed = `[${exact},${text.slice(0, place)}${more}${text.slice(place + (more === '' ? 1 : 0))}]`
        const outcome = (read: (text: string) => unknown) => {
          try {
            return plain(read(changed))
          } catch (error) {
            return String(error)
          }
        }

        expect(outcome(parseExactJson)).toEqual(outcome(JSON.parse))
      },
    ),
    { numRuns: casesOr(5_000) },
  )
})

/** With raw numbers as JavaScript has them; own members alone. */
function plain(value: unknown): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  const item: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    Object.defineProperty(item, name, { value: plain(member), writable: true, enumerable: true, configurable: true })
  }
  return item
}

it('keeps the text of so many numbers and no more', () => {
  expect(parseExactJson('[1e9,1.50,7]', { left: 2 })).toHaveLength(3)
  expect(() => parseExactJson('[1e9,1.50,7,{"a":-0}]', { left: 2 })).toThrow(TooManyRawNumbers)
})

/** V8 takes an escaped name for one that was read before, where as many characters of both texts agree. */
it.each([
  ['\\\\', '\\n'],
  ['caf\\\\', 'caf\\u00e9'],
  ['\\\\u', '\\u00e9a'],
])('the name "%s", read before, does not stand for "%s"', (earlier, name) => {
  const first = `before${earlier.length}`
  JSON.parse(`{"${first}":1,"${earlier}":2}`)
  const text = `{"${first}":1,"${name}" : [{"${name}":0.5}]}`
  const expected = JSON.parse(`"${name}"`)

  for (const read of [parseJson, parseExactJson]) {
    expect(Object.keys(read(text) as object)).toEqual([first, expected])
  }
  expect(parseJson('{"a\\n":1.50}')).toEqual({ 'a\n': 1.5 })
  expect(() => parseJson('{"a\\n":}')).toThrow(/JSON/)
})
