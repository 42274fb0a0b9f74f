/** Each type's grammar, range and canonical form, as tables of what goes in and what comes out. */
import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../../../src/core/exact-json.ts'
import { decodeJson, decodeText, describeType } from '../../../src/core/model/codec.ts'
import { type FieldType, fieldTypeSchema } from '../../../src/core/model/field-type.ts'

const type = (name: string, params?: unknown): FieldType =>
  fieldTypeSchema().parse(params ? { name, params } : { name })
const constrained = (precision: number, scale: number) => type('decimal', { kind: 'constrained', precision, scale })
const fixed = (value: number) => type('string', { length: 'fixed', value })
const decode = (fieldType: FieldType, value: unknown) => decodeJson(fieldType, false, value)
const refused = { fault: expect.any(String) }

describe('integers', () => {
  it.each([
    ['int8', -128, 127],
    ['int16', -32768, 32767],
    ['int32', -2147483648, 2147483647],
    ['uint8', 0, 255],
    ['uint16', 0, 65535],
    ['uint32', 0, 4294967295],
  ])('%s takes JSON numbers from %d to %d', (name, low, high) => {
    const fault = `must be an integer between ${low} and ${high}`

    expect(decode(type(name), low)).toEqual({ ok: String(low) })
    expect(decode(type(name), high)).toEqual({ ok: String(high) })
    expect(decode(type(name), low - 1)).toEqual({ fault })
    expect(decode(type(name), high + 1)).toEqual({ fault })
    expect(decodeText(type(name), String(low))).toEqual({ ok: String(low) })
    expect(decodeText(type(name), String(high))).toEqual({ ok: String(high) })
    expect(decodeText(type(name), String(low - 1))).toEqual({ fault })
    expect(decodeText(type(name), String(high + 1))).toEqual({ fault })
  })

  it.each(['1', 1.5, true, null, [1], { a: 1 }, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses %j for an int32 in JSON',
    (value) => {
      expect(decode(type('int32'), value)).toEqual(refused)
    },
  )

  it.each([
    ['int64', '-9223372036854775808', '-9223372036854775809'],
    ['int64', '9223372036854775807', '9223372036854775808'],
    ['uint64', '18446744073709551615', '18446744073709551616'],
    ['uint64', '0', '-1'],
  ])('%s takes the string %s, not %s', (name, inside, outside) => {
    expect(decode(type(name), inside)).toEqual({ ok: inside })
    expect(decode(type(name), outside)).toEqual(refused)
    expect(decodeText(type(name), inside)).toEqual({ ok: inside })
  })

  it.each([
    ['007', '7'],
    ['-0', '0'],
    ['000', '0'],
    ['-00012', '-12'],
  ])('writes the text %s as %s', (text, canonical) => {
    expect(decodeText(type('int16'), text)).toEqual({ ok: canonical })
    expect(decode(type('int64'), text)).toEqual({ ok: canonical })
  })

  it.each(['', '-', '+1', ' 1', '1 ', '1.0', '1e3', '0x10', '1_000', '١', '1\n', '9'.repeat(5000)])(
    'refuses the text %j',
    (text) => {
      expect(decodeText(type('int32'), text)).toEqual(refused)
      expect(decode(type('int64'), text)).toEqual(refused)
    },
  )

  it('takes safe numbers for 64 bits and refuses what JSON has already rounded', () => {
    expect(decode(type('int64'), Number.MAX_SAFE_INTEGER)).toEqual({ ok: '9007199254740991' })
    expect(decode(type('int64'), -0)).toEqual({ ok: '0' })
    expect(decode(type('int64'), 2 ** 53)).toEqual({ fault: 'must be a string: as a JSON number it is not exact' })
    expect(decode(type('uint64'), -1)).toEqual({ fault: 'must be an integer between 0 and 18446744073709551615' })
  })
})

describe('floats', () => {
  it.each([
    ['float64', 0.1, '0.1'],
    ['float64', 1.7976931348623157e308, '1.7976931348623157e+308'],
    ['float64', 5e-324, '5e-324'],
    ['float64', -0, '-0'],
    ['float32', 3.4028234663852886e38, '3.4028234663852886e+38'],
    ['float32', 16777217, '16777217'],
  ])('%s takes %d', (name, value, text) => {
    expect(decode(type(name), value)).toEqual({ ok: text })
  })

  it.each([
    ['float32', 3.4028236e38],
    ['float32', 1e-60],
    ['float64', Number.POSITIVE_INFINITY],
    ['float64', Number.NaN],
    ['float64', '1'],
    ['float64', true],
  ])('%s refuses %j', (name, value) => {
    expect(decode(type(name), value)).toEqual(refused)
  })

  it.each([
    ['1', '1'],
    ['-1.50', '-1.5'],
    ['1E3', '1000'],
    ['1e-7', '1e-7'],
    ['-0', '-0'],
    ['NaN', 'NaN'],
    ['-Infinity', '-Infinity'],
  ])('reads the text %s', (text, canonical) => {
    expect(decodeText(type('float64'), text)).toEqual({ ok: canonical })
  })

  it.each(['', '01', '.5', '1.', '+1', 'nan', '+Infinity', '1e400', '0x1', '1e', ' 1'])(
    'refuses the text %j',
    (text) => {
      expect(decodeText(type('float64'), text)).toEqual(refused)
    },
  )
})

describe('decimals', () => {
  it.each([
    ['12.34', '12.34'],
    ['-0.00', '0.00'],
    ['007.50', '7.50'],
    ['999.99', '999.99'],
    ['1.500', '1.50'],
    [12, '12'],
    [0.25, '0.25'],
    [-999.99, '-999.99'],
    [1e2, '100'],
    ['NaN', 'NaN'],
    [-0, '0'],
  ])('a decimal(5, 2) takes %j as %s', (value, text) => {
    expect(decode(constrained(5, 2), value)).toEqual({ ok: text })
  })

  it.each(['1.005', '1000', '1000.00', '0.001', 1000])('a decimal(5, 2) refuses %j for its digits', (value) => {
    expect(decode(constrained(5, 2), value)).toEqual({
      fault: 'must have at most 3 digits before and 2 after the decimal point',
    })
  })

  it.each(['', '.5', '1.', '+1', '1e2', '1,5', 'nan', '-', ' 1', true, null, 0.1234567890123456, 2 ** 53, Number.NaN])(
    'refuses %j',
    (value) => {
      expect(decode(type('decimal'), value)).toEqual(refused)
    },
  )

  it('takes a decimal(2, 2) with a zero before the point', () => {
    expect(decode(constrained(2, 2), '0.99')).toEqual({ ok: '0.99' })
    expect(decode(constrained(2, 2), '1')).toEqual(refused)
  })

  it('takes without constraint what a numeric of Postgres holds', () => {
    const most = `${'9'.repeat(131_072)}.${'9'.repeat(16_383)}`

    expect(decode(type('decimal'), most)).toEqual({ ok: most })
    expect(decode(type('decimal'), `9${most}`)).toEqual(refused)
    expect(decode(type('decimal'), `${most}9`)).toEqual(refused)
  })

  it('reads text like a string', () => {
    expect(decodeText(constrained(5, 2), '12.30')).toEqual({ ok: '12.30' })
    expect(decodeText(constrained(5, 2), '12.345')).toEqual(refused)
  })
})

describe('strings', () => {
  it.each(['', 'a', 'null', '💡', '\t\n', "'; drop"])('keeps %j', (text) => {
    expect(decode(type('string'), text)).toEqual({ ok: text })
    expect(decodeText(type('string'), text)).toEqual({ ok: text })
  })

  it.each([
    [1, 'must be a string'],
    [true, 'must be a string'],
    [{}, 'must be a string'],
    ['a\0b', 'must not contain the character U+0000'],
    ['a\ud800b', 'must not contain a lone surrogate'],
    ['\udc00', 'must not contain a lone surrogate'],
  ])('refuses %j', (value, fault) => {
    expect(decode(type('string'), value)).toEqual({ fault })
  })

  it.each(['ab', '💡💡', 'a💡', ''])('counts code points: %j fits two', (text) => {
    expect(decode(fixed(2), text)).toEqual({ ok: text })
  })

  it.each(['abc', '💡💡💡', 'ab💡', 'abcde'])('counts code points: %j does not fit two', (text) => {
    expect(decode(fixed(2), text)).toEqual({ fault: 'must be at most 2 characters long' })
  })
})

describe('uuid and boolean', () => {
  it('writes a UUID in lower case', () => {
    const id = '01890A5D-AC96-774B-BCCE-B302099A8057'

    expect(decode(type('uuid'), id)).toEqual({ ok: id.toLowerCase() })
    expect(decodeText(type('uuid'), id)).toEqual({ ok: id.toLowerCase() })
  })

  it.each([
    '',
    '01890a5dac96774bbcceb302099a8057',
    '{01890a5d-ac96-774b-bcce-b302099a8057}',
    '01890a5d-ac96-774b-bcce-b302099a805g',
    '01890a5d-ac96-774b-bcce-b302099a8057\n',
    7,
  ])('refuses the UUID %j', (value) => {
    expect(decode(type('uuid'), value)).toEqual({ fault: 'must be a UUID' })
  })

  it('takes booleans in JSON and their two words in text', () => {
    expect(decode(type('boolean'), true)).toEqual({ ok: 'true' })
    expect(decode(type('boolean'), false)).toEqual({ ok: 'false' })
    expect(decodeText(type('boolean'), 'true')).toEqual({ ok: 'true' })
    expect(decodeText(type('boolean'), 'false')).toEqual({ ok: 'false' })
  })

  it.each(['true', 1, 0, 'on'])('refuses the boolean %j', (value) => {
    expect(decode(type('boolean'), value)).toEqual({ fault: 'must be true or false' })
  })

  it.each(['TRUE', '1', '', 't', 'null'])('refuses the boolean text %j', (text) => {
    expect(decodeText(type('boolean'), text)).toEqual({ fault: 'must be true or false' })
  })
})

describe('date and time', () => {
  it.each(['0001-01-01', '9999-12-31', '2024-02-29', '2000-02-29', '2026-04-30'])('takes the date %s', (text) => {
    expect(decode(type('date'), text)).toEqual({ ok: text })
    expect(decodeText(type('date'), text)).toEqual({ ok: text })
  })

  it.each(['0000-00-00', '0000-01-01', '2026-00-10', '2026-01-00'])('takes the zeros of %s', (text) => {
    expect(decode(type('date'), text)).toEqual({ ok: text })
    expect(decode(type('dateTime'), `${text}T00:00:00`)).toEqual({ ok: `${text}T00:00:00` })
    expect(decode(type('dateTimeWithTimezone'), `${text}T00:00:00Z`)).toEqual({ ok: `${text}T00:00:00Z` })
  })

  it.each([
    ['date', 'infinity', 'infinity'],
    ['dateTimeWithTimezone', '-infinity', '-infinity'],
    ['date', '-000043-03-15', '0044-03-15 BC'],
    ['date', '+000000-12-31', '0001-12-31 BC'],
    ['date', '+5874897-12-31', '5874897-12-31'],
    ['date', '0044-03-15 BC', '0044-03-15 BC'],
    ['date', '12026-01-01', '12026-01-01'],
    ['dateTime', '-000043-03-15T12:00:00.5', '0044-03-15T12:00:00.5 BC'],
    ['dateTimeWithTimezone', '+010000-01-01T01:00:00+05:30', '10000-01-01T01:00:00+05:30'],
  ] as const)('takes the %s %s', (name, text, canonical) => {
    expect(decode(type(name), text)).toEqual({ ok: canonical })
    expect(decodeText(type(name), text)).toEqual({ ok: canonical })
  })

  it.each([
    ['date', '-000043-03-15T12:00:00'],
    ['dateTime', '-000043-03-15T12:00:00Z'],
    ['dateTime', '+010000-01-01'],
    ['dateTimeWithTimezone', '+010000-01-01T00:00:00'],
    ['time', 'infinity'],
  ] as const)('refuses the %s %s', (name, text) => {
    expect(decode(type(name), text)).toEqual(refused)
  })

  it.each(['2023-02-29', '1900-02-29', '2026-04-31', '2026-13-01'])('refuses %s, which no calendar has', (text) => {
    expect(decode(type('date'), text)).toEqual({ fault: 'is not a calendar date' })
  })

  it.each(['', '2026-1-1', '20260101', '2026-01-01T00:00:00', '-001-01-01', '2026-01-01\n', 20260101])(
    'refuses the form of %j',
    (value) => {
      expect(decode(type('date'), value)).toEqual({ fault: 'must be a date of the form YYYY-MM-DD' })
    },
  )

  it.each([
    ['00:00:00', '00:00:00'],
    ['23:59:59.999999', '23:59:59.999999'],
    ['12:30:00.000', '12:30:00'],
    ['12:30:00.120', '12:30:00.12'],
    ['24:00:00', '24:00:00'],
    ['12:30', '12:30:00'],
    ['-838:59', '-838:59:00'],
    ['-838:59:59.500', '-838:59:59.5'],
  ])('takes the time %s as %s', (text, canonical) => {
    expect(decode(type('time'), text)).toEqual({ ok: canonical })
  })

  it.each([
    ['839:00:00', 'is not a time of day'],
    ['12:60:00', 'is not a time of day'],
    ['23:59:60', 'is not a time of day'],
    ['12:30:00.1234567', 'must have at most 6 fraction digits'],
    ['12:30+01:00', 'must be a time of the form HH:MM:SS[.ffffff]'],
    ['1:30', 'must be a time of the form HH:MM:SS[.ffffff]'],
    ['12:30:00Z', 'must be a time of the form HH:MM:SS[.ffffff]'],
    ['1:30:00', 'must be a time of the form HH:MM:SS[.ffffff]'],
    ['12:30:00.', 'must be a time of the form HH:MM:SS[.ffffff]'],
  ])('refuses the time %s', (text, fault) => {
    expect(decode(type('time'), text)).toEqual({ fault })
  })

  it.each([
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05'],
    ['2026-01-02T03:04:05.100000', '2026-01-02T03:04:05.1'],
    ['2026-01-02T03:04:05.000', '2026-01-02T03:04:05'],
    ['2026-01-02T03:04', '2026-01-02T03:04:00'],
  ])('takes the dateTime %s as %s', (text, canonical) => {
    expect(decode(type('dateTime'), text)).toEqual({ ok: canonical })
  })

  it.each([
    ['2026-01-02T03:04:05Z', 'must not have a time zone'],
    ['2026-01-02T03:04:05+02:00', 'must not have a time zone'],
    ['2026-02-30T03:04:05', 'is not a calendar date'],
    ['2026-01-02T24:00:00', 'is not a time of day'],
    ['2026-01-02T03:04:05.0000001', 'must have at most 6 fraction digits'],
    ['2026-01-02 03:04:05', 'must be a date and time of the form YYYY-MM-DDTHH:MM:SS[.ffffff]'],
    ['2026-01-02T03:04Z', 'must not have a time zone'],
    ['2026-01-02T03', 'must be a date and time of the form YYYY-MM-DDTHH:MM:SS[.ffffff]'],
    ['2026-01-02', 'must be a date and time of the form YYYY-MM-DDTHH:MM:SS[.ffffff]'],
  ])('refuses the dateTime %s', (text, fault) => {
    expect(decode(type('dateTime'), text)).toEqual({ fault })
  })

  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T09:00:00.000Z', '2026-01-02T09:00:00Z'],
    ['2026-01-02T03:04:05.123456+00:00', '2026-01-02T03:04:05.123456Z'],
    ['2026-01-02T03:04:05.120-00:00', '2026-01-02T03:04:05.12Z'],
    ['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00Z'],
    ['2025-12-31T23:30:00.5-01:00', '2026-01-01T00:30:00.5Z'],
    ['2024-03-01T01:00:00+05:30', '2024-02-29T19:30:00Z'],
    ['2023-03-01T01:00:00+05:30', '2023-02-28T19:30:00Z'],
    ['2024-02-28T23:59:59-23:59', '2024-02-29T23:58:59Z'],
    ['2024-01-01T12:30Z', '2024-01-01T12:30:00Z'],
    ['2024-01-01T12:30+02:00', '2024-01-01T10:30:00Z'],
    ['0001-01-02T00:00:00+23:59', '0001-01-01T00:01:00Z'],
  ])('writes %s in UTC as %s', (text, canonical) => {
    expect(decode(type('dateTimeWithTimezone'), text)).toEqual({ ok: canonical })
  })

  it.each([
    ['2026-01-02T03:04:05', 'must have a time zone, Z or ±HH:MM'],
    ['2026-01-02T03:04:05 02:00', 'has a space before its offset: in an address a + is written %2B'],
    ['0001-01-01T00:00:00+00:01', 'is outside the years 0001 to 9999 in UTC'],
    ['9999-12-31T23:59:59-00:01', 'is outside the years 0001 to 9999 in UTC'],
    ['0000-12-31T23:59:59-01:00', 'is not a calendar date'],
    ['2026-01-02T03:04:05+24:00', 'has an offset of a day or more'],
    ['2026-01-02T03:04:05+01:60', 'has an offset of a day or more'],
    ['2026-01-02T03:04:05.1234567Z', 'must have at most 6 fraction digits'],
    ['2026-01-02T23:59:60Z', 'is not a time of day'],
  ])('refuses %s', (text, fault) => {
    expect(decode(type('dateTimeWithTimezone'), text)).toEqual({ fault })
  })

  it.each(['2026-01-02T03:04:05z', '2026-01-02T03:04:05+0200', '2026-01-02T03:04:05+02', '2026-01-02T03:04:05 02:00'])(
    'refuses the form of %s',
    (text) => {
      expect(decode(type('dateTimeWithTimezone'), text)).toEqual(refused)
    },
  )
})

describe('json', () => {
  it.each([
    [{ a: [1, 'x', null, true] }, '{"a":[1,"x",null,true]}'],
    ['plain', '"plain"'],
    ['{not json', '"{not json"'],
    ['5', '"5"'],
    [{ nested: '{"a":1}' }, '{"nested":"{\\"a\\":1}"}'],
    [JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
    [false, 'false'],
    [1e21, '1e+21'],
    ['\\u0000', '"\\\\u0000"'],
  ])('takes %j', (value, text) => {
    expect(decode(type('json'), value)).toEqual({ ok: text })
  })

  it.each(['{}', '[]', ' {"a":1}', '\n[1]'])('takes %j as the string that it is', (value) => {
    expect(decode(type('json'), value)).toEqual({ ok: JSON.stringify(value) })
  })

  it.each(['{"a":[1.0,12345678901234567890,1e400,-0,0.10]}', '1E2', '[0.00000001]', '{"1.0":"1.0"}'])(
    'keeps the numbers of %s as they are written',
    (text) => {
      expect(decodeText(type('json'), text)).toEqual({ ok: text })
    },
  )

  it.each(['1e1001', '-1.5E-1001', '1e131071', `1${'0'.repeat(100_000)}1e131073`])(
    'refuses the large exponent %# of a decimal',
    (text) => {
      expect(decode(type('decimal'), parseExactJson(text))).toEqual({ fault: 'is out of range' })
    },
  )

  it.each(['1e1000', '[-1.5E-1000]', '1e+0001'])('takes %s', (text) => {
    expect(decodeText(type('json'), text)).toEqual({ ok: text })
  })

  it.each(['1e1001', '[[1E-1001]]', '{"a":0e131071}', `1e${'9'.repeat(400)}`])(
    'refuses the exponent of %s, which a few bytes make into a long text',
    (text) => {
      expect(decodeText(type('json'), text)).toEqual({ fault: 'must not contain a number out of range' })
    },
  )

  it('takes a number of JSON that every database can compare, and refuses longer ones', () => {
    const number = (digits: number) => `0.${'0'.repeat(digits - 3)}1`

    expect(decodeText(type('json'), number(15_000))).toEqual({ ok: number(15_000) })
    expect(decodeText(type('json'), `[${number(15_001)}]`)).toEqual({ fault: 'must not contain a number out of range' })
  })

  it.each([
    ['a value', { a: ['\0'] }, 'must not contain the character U+0000'],
    ['a key', { 'a\0': 1 }, 'must not contain the character U+0000'],
    ['a surrogate', ['\ud800'], 'must not contain a lone surrogate'],
    ['a surrogate key', { '\udfff': 1 }, 'must not contain a lone surrogate'],
    ['an infinite number', JSON.parse('[1e400]'), 'must not contain a number out of range'],
    ['undefined', undefined, 'must be a JSON value'],
  ])('refuses %s that cannot be stored', (_, value, fault) => {
    expect(decode(type('json'), value)).toEqual({ fault })
  })

  it('takes a thousand levels and refuses more, however many', () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))

    expect(decode(type('json'), nested(1000))).toEqual({ ok: '['.repeat(1000) + ']'.repeat(1000) })
    expect(decode(type('json'), nested(1001))).toEqual(refused)
    expect(decode(type('json'), nested(200_000))).toEqual(refused)
  })

  it.each([
    ['2', '2'],
    ['true', 'true'],
    ['{"a": 1}', '{"a":1}'],
    ['"2"', '"2"'],
    ['east', '"east"'],
    ['{east', '"{east"'],
    ['', '""'],
  ])('reads the operand %j as %s', (text, json) => {
    expect(decodeText(type('json'), text)).toEqual({ ok: json })
  })
})

describe('bytes and geometry', () => {
  it.each(['', 'QQ==', 'QUI=', 'QUJD', '+/+/'])('takes the base64 %j', (text) => {
    expect(decode(type('bytes'), text)).toEqual({ ok: text })
  })

  it.each(['QQ', 'QQ=', 'QR==', 'QUJ=', '-_-_', 'QUJD\n', 'Q UJ', '====', 'QQ==QQ==', 5])(
    'refuses the base64 %j',
    (value) => {
      expect(decode(type('bytes'), value)).toEqual({ fault: 'must be base64 text with padding' })
    },
  )

  it('takes bytes of megabytes', () => {
    const text = 'QUJD'.repeat(1_000_000)

    expect(decode(type('bytes'), text)).toEqual({ ok: text })
    expect(decode(type('bytes'), `${text.slice(4)}QU!=`)).toEqual(refused)
  })

  const ring = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ]
  const point = { type: 'Point', coordinates: [1, 2] }
  it.each([
    point,
    { type: 'Point', coordinates: [1, 2, 3] },
    { type: 'MultiPoint', coordinates: [] },
    { type: 'LineString', coordinates: ring },
    { type: 'MultiLineString', coordinates: [ring] },
    { type: 'Polygon', coordinates: [ring] },
    { type: 'MultiPolygon', coordinates: [[ring], [ring, ring]] },
    { type: 'GeometryCollection', geometries: [point, { type: 'GeometryCollection', geometries: [] }] },
  ])('takes the geometry %j', (geometry) => {
    expect(decode(type('geometry'), geometry)).toEqual({ ok: JSON.stringify(geometry) })
  })

  it.each([
    'POINT(1 2)',
    JSON.stringify(point),
    [1, 2],
    {},
    { type: 'Point' },
    { type: 'Point', coordinates: [1] },
    { type: 'Point', coordinates: [1, '2'] },
    { type: 'Point', coordinates: [1, 2, 3, 4] },
    { type: 'Point', geometries: [] },
    { type: 'Point', coordinates: [1, 2], crs: 'x' },
    { type: 'LineString', coordinates: [[1, 2]] },
    { type: 'Polygon', coordinates: [ring.slice(0, 3)] },
    { type: 'Polygon', coordinates: [[...ring, [5, 5]]] },
    { type: 'Feature', geometry: point },
    { type: 'toString', coordinates: [] },
    { type: 'GeometryCollection', geometries: [{}] },
  ])('refuses the geometry %j', (value) => {
    expect(decode(type('geometry'), value)).toEqual(refused)
  })
})

describe('lists', () => {
  it.each([
    ['int32', [1, null, -0], '["1",null,"0"]'],
    ['int64', ['01', 2], '["1","2"]'],
    ['json', [{ a: 1 }, null, 'x'], '["{\\"a\\":1}",null,"\\"x\\""]'],
    ['boolean', [], '[]'],
  ])('writes a list of %s as a JSON array of texts', (name, value, text) => {
    expect(decodeJson(type(name), true, value)).toEqual({ ok: text })
  })

  it('names the element that is at fault', () => {
    expect(decodeJson(type('date'), true, ['2026-01-01', null, '2026-02-30'])).toEqual({
      fault: 'element 2 is not a calendar date',
    })
  })

  it('writes several dimensions of equal lengths', () => {
    expect(
      decodeJson(type('int32'), true, [
        [1, null],
        [3, 4],
      ]),
    ).toEqual({ ok: '[["1",null],["3","4"]]' })
    expect(decodeJson(type('json'), true, [[1], [2, 3]])).toEqual({ ok: '["[1]","[2,3]"]' })
  })

  it.each([
    [[[1, 2], [3]], 'element 1 must be an array of length 2, as the others'],
    [[[1], null], 'element 1 must be an array of length 1, as the others'],
    [[[[1]], [[2, 3]]], 'element 1.0 must be an array of length 1, as the others'],
    [[[1], ['a']], 'element 1.0 must be an integer between -2147483648 and 2147483647'],
    [[1, [2]], 'element 1 must be an integer between -2147483648 and 2147483647'],
    [[[]], 'element 0 must not be empty'],
    [[[[[[[[1]]]]]]], 'must have at most 6 dimensions'],
    [Array(101).fill(Array(100).fill(1)), 'must have at most 10000 elements'],
  ])('refuses the dimensions of %j', (list, fault) => {
    expect(decodeJson(type('int32'), true, list)).toEqual({ fault })
  })

  it.each([1, 'a', {}, { length: 1 }])('refuses %j in place of a list', (value) => {
    expect(decodeJson(type('int32'), true, value)).toEqual({ fault: 'must be an array' })
  })

  it('is bounded', () => {
    expect(decodeJson(type('int8'), true, Array(10_000).fill(1))).toEqual({ ok: expect.any(String) })
    expect(decodeJson(type('int8'), true, Array(10_001).fill(1))).toEqual({
      fault: 'must have at most 10000 elements',
    })
  })

  it('refuses a list where the field is none', () => {
    expect(decode(type('int32'), [1])).toEqual(refused)
  })
})

it.each([
  [type('int32'), 'int32'],
  [type('string'), 'string'],
  [fixed(20), 'string(20)'],
  [type('decimal'), 'decimal'],
  [constrained(10, 2), 'decimal(10, 2)'],
])('describes %j as %s', (fieldType, name) => {
  expect(describeType(fieldType)).toBe(name)
})
