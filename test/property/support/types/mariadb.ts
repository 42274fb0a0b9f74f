/** The column types of MariaDB, each with values over its whole domain as the database writes them. */
import fc from 'fast-check'
import {
  addresses,
  bits,
  dates,
  decimals,
  digits,
  doubles,
  few,
  hex,
  instants,
  json,
  longAddresses,
  singles,
  text,
  times,
  words,
} from './arbitraries.ts'
import { type ColumnType, ordered, unordered } from './column-type.ts'

/** Texts are told apart by their bytes where the collation does not, so that their order is not the database's alone. */
const inBytes = { isOrdered: false }
const signed = (bits: bigint) => digits(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n)
const unsigned = (bits: bigint) => digits(0n, 2n ** bits - 1n)
const long = fc.tuple(
  few('', '-'),
  fc.integer({ min: 24, max: 838 }),
  few(':00:00', ':59:59', ':12:34.5', ':00:00.000001'),
)
const positive = (value: string) =>
  Number(value) === 0 || (Math.abs(Number(value)) > 1.2e-38 && Math.abs(Number(value)) < 3.4e38)

export const mariadbTypes: readonly ColumnType[] = [
  ordered('tinyint', signed(8n)),
  ordered('smallint', signed(16n)),
  ordered('mediumint', signed(24n)),
  ordered('int', signed(32n)),
  ordered('bigint', signed(64n)),
  ordered('tinyint unsigned', unsigned(8n)),
  ordered('smallint unsigned', unsigned(16n)),
  ordered('int unsigned', unsigned(32n)),
  ordered('bigint unsigned', unsigned(64n)),
  ordered('int(7) zerofill', unsigned(32n)),
  ordered('bigint(20) zerofill', unsigned(64n)),
  ordered('tinyint(1)', fc.oneof(signed(8n), few('5')), { first: '5' }),
  ordered('tinyint(1) not null', few('0', '1')),
  ordered('bit(1)', few('0', '1')),
  ordered('year', fc.oneof(digits(1901n, 2155n), few('0000', '1901', '2155'))),
  ordered('float', singles.filter(positive), { isKey: false }),
  ordered('double', fc.oneof(doubles.filter((one) => Number(one) === 0 || Math.abs(Number(one)) > 2.3e-308)), {
    isKey: false,
  }),
  ordered('decimal(12,4)', fc.oneof(decimals(8, 4), few('99999999.9999', '-0.0001', '0.0000'))),
  ordered('decimal(65,30)', decimals(35, 30)),
  ordered('date', fc.oneof(dates(1, 9999), few('0000-00-00', '2020-00-00', '2020-02-00', '0000-05-05', '9999-12-31'))),
  ordered(
    'time',
    times.map((one) => one.slice(0, 8)),
  ),
  ordered(
    'time(6)',
    fc.oneof(
      times,
      long.map((parts) => parts.join('')),
      few('-838:59:59.999999', '-00:00:01'),
    ),
  ),
  ordered(
    'datetime',
    fc.oneof(
      instants(1, 9999).map((one) => one.slice(0, 19)),
      few('0000-00-00 00:00:00'),
    ),
  ),
  ordered('datetime(6)', fc.oneof(instants(1, 9999), few('0000-00-00 00:00:00', '2020-00-00 01:02:03.5'))),
  ordered('timestamp(6) null', fc.oneof(instants(1971, 2037), few('0000-00-00 00:00:00', '1970-01-01 00:00:01')), {
    isKey: false,
  }),
  ordered('varchar(12)', fc.oneof(words, few('\u0001'.repeat(12), '"'.repeat(12))), inBytes),
  ordered('varchar(12) collate utf8mb4_bin', words, inBytes),
  ordered('char(5)', text(5), inBytes),
  ordered('text', words, { ...inBytes, isKey: false }),
  ordered('longtext', words, { ...inBytes, isKey: false }),
  ordered("enum('b', 'a', 'Ü', 'it''s', 'x y')", few('b', 'a', 'Ü', "it's", 'x y'), inBytes),
  ordered("set('x', 'y', 'z')", few('', 'x', 'x,y', 'x,y,z', 'z'), inBytes),
  ordered('uuid', fc.uuid({ version: [1, 2, 3, 4, 5, 6, 7] })),
  ordered('inet4', addresses),
  ordered('inet6', fc.oneof(longAddresses, few('::', '::1', '::ffff:1.2.3.4'))),
  unordered(
    'binary(4)',
    hex({ minLength: 0, maxLength: 4 }).map((one) => `x'${one}'`),
    { isKey: true },
  ),
  unordered(
    'varbinary(20)',
    hex({ minLength: 0, maxLength: 20 }).map((one) => `x'${one}'`),
    { isKey: true },
  ),
  unordered(
    'blob',
    hex({ minLength: 0, maxLength: 120 }).map((one) => `x'${one}'`),
  ),
  unordered(
    'bit(20)',
    bits(1, 20).map((one) => `b'${one}'`),
    { isKey: true },
  ),
  unordered('json', json, { same: (one, other) => `json_equals(${one}, ${other}) = 1` }),
  unordered('json', few('1.', '"\\\\x"', '[1.,"\\\\q."]'), { isFiltered: false, same: () => '1 = 1' }),
  unordered('point', few('point(1,2)', 'point(-0.5,1e10)'), { isFiltered: false }),
]

/** Modes of a server that change what it takes and how it reads a text. */
export const mariadbSettings: readonly string[] = [
  "sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'",
  "time_zone = '-03:30'",
  "character_set_server = 'latin1'",
]
