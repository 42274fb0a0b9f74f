/** The order of values that the service tells by their texts is that of PostgreSQL. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { decodeJson } from '../../src/core/model/codec.ts'
import { compareTexts } from '../../src/core/query/text-order.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { build } from '../support/data/build.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let server: Awaited<ReturnType<typeof startPostgres>>
let driver: SqlDriver

beforeAll(async () => {
  server = await startPostgres()
  driver = openPostgres({ connectionString: server.url })
})

afterAll(async () => {
  await driver?.close()
  await server?.close()
})

const dates = [
  ...['2026-01-01', '2026-01-10', '9999-12-31', '12000-01-01', '+10000-05-05', '0001-01-01'],
  ...['0044-03-15 BC', '-0043-03-15', '0001-12-31 BC', '2024-02-29', '0005-02-28 BC', '0005-03-01 BC'],
  ...['infinity', '-infinity'],
]
const times = ['T00:00:00', 'T00:00:00.000001', 'T23:59:59.999999', 'T10:00:00.5']
const zones = ['Z', '+01:00', '-13:30']
const atTimes = (one: string) =>
  /^-?i/.test(one) ? [one] : times.map((time) => one.replace(/^([+-]?[\d-]+)/, (date) => `${date}${time}`))
const moments = dates.flatMap(atTimes)
const zoned = moments.flatMap((one) =>
  /^-?i/.test(one) ? [one] : zones.map((zone) => one.replace(/( BC)?$/, (era) => `${zone}${era}`)),
)
const numbers = [
  '0',
  '-0',
  '1',
  '-1',
  '9',
  '10',
  '-10',
  '1000',
  '99999999999',
  '-99999999999',
  'NaN',
  'Infinity',
  '-Infinity',
]

it.each([
  ['decimal', 'numeric', [...numbers, '10.00', '2.5', '2.50', '-2.50', '0.000001', '1234567890.5']],
  ['float64', 'double precision', [...numbers, 1e300, 5e-324, 0.1]],
  ['float32', 'real', [...numbers, 0.1, 0.10000000149011612, 16777216, 16777217]],
  ['int64', 'bigint', ['0', '-0', '9', '10', '-10', '9223372036854775807', '9007199254740993', '9007199254740992']],
  ['date', 'date', dates],
  ['time', 'time', ['00:00:00', '09:00:00', '09:00', '12:30:00.5', '12:30:00.500000', '23:59:59.999999', '24:00:00']],
  ['dateTime', 'timestamp', moments],
  ['dateTimeWithTimezone', 'timestamptz', zoned],
  [
    'uuid',
    'uuid',
    [
      'AAAAAAAA-0000-4000-8000-000000000001',
      'aaaaaaaa-0000-4000-8000-000000000001',
      '11111111-0000-4000-8000-00000000000a',
    ],
  ],
] as const)('of %s', async (type, native, values) => {
  const field = build.model({ c: { f: type } }).byName.get('c')?.primitives[0]
  if (field === undefined) throw new Error('no field')
  const texts = values.flatMap((value) => {
    const sent = type.startsWith('float') && Number.isFinite(Number(value)) ? Number(value) : value
    const decoded = decodeJson(field.type, false, sent)
    return 'fault' in decoded || decoded.ok === null ? [] : [decoded.ok]
  })
  const [[signs] = []] = await driver.query({
    text: `select string_agg(case when a.v::${native} < b.v::${native} then '<' when a.v::${native} = b.v::${native} then '=' else '>' end, '' order by a.n, b.n)
      from jsonb_array_elements_text($1::jsonb) with ordinality a(v, n), jsonb_array_elements_text($1::jsonb) with ordinality b(v, n)`,
    params: [JSON.stringify(texts)],
  })
  const told = texts.flatMap((one) => texts.map((other) => '<=>'[Math.sign(compareTexts(field, one, other)) + 1]))

  expect(texts.length).toBeGreaterThan(values.length / 2)
  expect(told.map((sign, at) => `${texts[Math.floor(at / texts.length)]} ${sign} ${texts[at % texts.length]}`)).toEqual(
    [...(signs ?? '')].map((sign, at) => `${texts[Math.floor(at / texts.length)]} ${sign} ${texts[at % texts.length]}`),
  )
})
