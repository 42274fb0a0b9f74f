/** The column types of PostgreSQL and its extensions, each with values over its whole domain as the database writes them. */
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
  intervals,
  json,
  longAddresses,
  masked,
  ranges,
  singles,
  text,
  times,
  words,
  zones,
} from './arbitraries.ts'
import { type ColumnType, list, ordered, unordered } from './column-type.ts'

const day = (value: number) => new Date(value * 86_400_000).toISOString().slice(0, 10)
const days = fc.integer({ min: -100_000, max: 100_000 })
const moments = fc.integer({ min: -4_000_000_000, max: 4_000_000_000 })
const moment = (value: number) => `"${new Date(value * 1000).toISOString()}"`

export const postgresTypes: readonly ColumnType[] = [
  ordered('smallint', digits(-(2n ** 15n), 2n ** 15n - 1n)),
  ordered('integer', digits(-(2n ** 31n), 2n ** 31n - 1n)),
  ordered('bigint', digits(-(2n ** 63n), 2n ** 63n - 1n)),
  ordered('real', fc.oneof(singles, few('NaN', 'Infinity', '-Infinity', '1e-45', '-0', '0.1'))),
  ordered('double precision', fc.oneof(doubles, few('NaN', 'Infinity', '-Infinity', '5e-324', '-0', '0.1'))),
  ordered('numeric', fc.oneof(decimals(20, 20), few('NaN', 'Infinity', '-Infinity', '1e-40', '1e60', '1.000'))),
  ordered('numeric(12,4)', fc.oneof(decimals(8, 4), few('NaN', '99999999.9999', '-0.0001'))),
  ordered(
    'numeric(5,-2)',
    digits(-99_999n, 99_999n).map((hundreds) => (hundreds === '0' ? '0' : `${hundreds}00`)),
  ),
  ordered(
    'numeric(2,5)',
    digits(0n, 99n).map((last) => `0.000${last.padStart(2, '0')}`),
  ),
  ordered('text', words),
  ordered('varchar(12)', words),
  ordered('char(5)', text(5)),
  ordered('name', words),
  ordered('"char"', few('a', 'Z', '%', ' ', '"')),
  ordered('citext', words),
  // Texts are told apart by their bytes where the collation does not, so that their order is not the database's alone.
  ordered('text collate loose', words, { isOrdered: false }),
  ordered('uuid', fc.uuid()),
  ordered('boolean', few('true', 'false')),
  ordered('date', fc.oneof(dates(-4711, 20_000), few('infinity', '-infinity', '0001-01-01 BC', '5874897-12-31'))),
  ordered('time', fc.oneof(times, few('24:00:00'))),
  ordered(
    'timetz',
    fc.tuple(times, zones).map(([time, zone]) => time + zone),
  ),
  ordered('timestamp', fc.oneof(instants(-4711, 20_000), few('infinity', '-infinity', '294276-12-31 23:59:59.999999'))),
  ordered(
    'timestamptz',
    fc.oneof(instants(-4711, 20_000, zones), few('infinity', '-infinity', '10000-01-01 00:30:00+01')),
  ),
  ordered('interval', intervals),
  ordered('inet', fc.oneof(addresses, longAddresses, masked, few('::1', '::ffff:1.2.3.4', '10.0.0.0/8'))),
  ordered('cidr', fc.oneof(addresses, longAddresses, few('10.0.0.0/8', '2001:db8::/32'))),
  ordered('macaddr', hex({ minLength: 6, maxLength: 6 })),
  ordered('macaddr8', hex({ minLength: 8, maxLength: 8 })),
  ordered(
    'money',
    digits(-(10n ** 16n), 10n ** 16n).map((dollars) => `${dollars}.25`),
  ),
  ordered('bit(5)', bits(5, 5)),
  ordered('bit varying', bits(0, 40)),
  unordered(
    'bytea',
    hex({ minLength: 0, maxLength: 120 }).map((one) => `\\x${one}`),
    { isKey: true },
  ),
  ordered('oid', digits(0n, 2n ** 32n - 1n)),
  ordered(
    'pg_lsn',
    fc.tuple(fc.nat(), fc.nat()).map(([one, two]) => `${one.toString(16)}/${two.toString(16)}`),
  ),
  ordered('tsvector', few('', 'a', 'a:1 b:2A', "'it''s':3", 'ü b c')),
  ordered('tsquery', few('a & b', "'it''s' | c", '!a', 'a <-> b')),
  ordered('int4range', fc.oneof(ranges(fc.integer({ max: 2 ** 31 - 2 })), few('empty', '(,)', '[3,]'))),
  ordered(
    'numrange',
    ranges(fc.integer(), (bound) => String(bound / 8)),
  ),
  ordered('daterange', fc.oneof(ranges(days, day), few('[0044-03-15 BC,infinity)'))),
  ordered('tstzrange', fc.oneof(ranges(moments, moment), few('empty', '["2020-01-01 00:00:00+01",infinity]'))),
  ordered('int8multirange', few('{}', '{[1,3),[5,7)}', '{(,)}', '{[9223372036854775805,9223372036854775806]}')),
  ordered(
    'ltree',
    fc.array(fc.stringMatching(/^[A-Za-z0-9_]{1,5}$/), { maxLength: 4 }).map((labels) => labels.join('.')),
  ),
  ordered('cube', few('(1, 2),(3, 4)', '0.1', '(1e300),(-5)', '(1, 2, 3)')),
  ordered('seg', few('1', '~1.50', '1.0 .. 2.00', '> 3', '5(+-)0.3')),
  ordered('isbn13', few('978-0-306-40615-7', '978-0-393-04002-9')),
  ordered('regclass', few('pg_type', 'information_schema.tables', '"Odd ""name"', '-', '4294967295')),
  ordered('regtype', few('integer', 'timestamp with time zone', 'mood', 'pair[]', '-', '4294967295')),
  ordered('regnamespace', few('public', 'information_schema')),
  ordered('regrole', few('postgres', 'pg_monitor')),
  ordered('regcollation', few('"C"', 'loose')),
  ordered('regconfig', few('simple', 'english')),
  ordered('regprocedure', few('abs(integer)', 'now()', 'lower(text)', '-')),
  ordered('regoperator', few('+(integer,integer)', '-(NONE,integer)', '0')),
  ordered('mood', few('sad', 'ok', "it's", 'Ünder "way"', 'a b')),
  ordered('grave', few('sad', 'ok'), { inSql: 'v::mood' }),
  ordered(
    'even',
    digits(-(2n ** 30n), 2n ** 30n - 1n).map((half) => String(BigInt(half) * 2n)),
  ),
  unordered('jsonb', json),
  unordered('json', json, { same: (one, other) => `${one}::jsonb = ${other}::jsonb` }),
  unordered('hstore', few('', '"a"=>"1"', '"a"=>NULL, "é\\"=>"=>"😀"', 'a=>1,b=>2')),
  unordered('pair', few('(1,a)', '(,)', '(-5,"a ""b"", (c)")', '(7,)')),
  unordered('parcel', few('("(1,a)","{""(2,b)"",NULL}",ok,"{1.50,NULL}")', '(,{},,)', '("(,""x y"")",,sad,{NaN})')),
  unordered('xml', few('', 'a', '<a b="c">d</a>', '<a/><b/>', '<?xml version="1.0"?><a/>'), {
    same: (one, other) => `concat(${one}) = concat(${other})`,
  }),
  unordered('point', fc.tuple(doubles, doubles).map(String)),
  unordered('box', few('(1,2),(0,0)', '(1e300,0.1),(0,0)')),
  unordered('polygon', few('((0,0),(1,1),(1,0))')),
  unordered('jsonpath', few('$.a[*] ? (@ > 1)', '$')),
  list('integer[]', few('{}', '{1,NULL,-3}')),
  list('text[]', few('{}', '{"a b",NULL,"\\"",""}')),
  list('date[]', few('{infinity,"0044-03-15 BC",10000-01-01,NULL}', '{2020-02-29}')),
  list('timestamptz[]', few('{infinity,"0044-03-15 00:00:00+00 BC",NULL}', '{"2020-02-29 12:00:00+02"}')),
  list('mood[]', few('{}', '{sad,"a b",NULL}')),
  list('pair[]', few('{}', '{"(1,a)",NULL,"(,)","(2,\\"b \\\\\\"c\\\\\\"\\")"}')),
  list('parcel[]', few('{}', '{"(\\"(1,a)\\",{},ok,{1})"}')),
  list('hstore[]', few('{}', '{"\\"a\\"=>\\"1\\", \\"b\\"=>NULL",NULL,""}')),
]

/** What these types need besides. */
export const postgresSetup: readonly string[] = [
  'create extension citext',
  'create extension hstore',
  'create extension ltree',
  'create extension cube',
  'create extension seg',
  'create extension isn',
  "create collation loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
  `create type mood as enum ('sad', 'ok', 'it''s', 'Ünder "way"', 'a b')`,
  `create domain grave as mood check (value <> 'a b')`,
  'create domain even as integer check (value % 2 = 0)',
  'create type pair as (one int, two text)',
  'create type parcel as (first pair, others pair[], how mood, weights numeric[])',
  'create table "Odd ""name" ()',
]

/** Settings of a database that change how its values are written. */
export const postgresSettings: readonly string[] = [
  "TimeZone = 'America/St_Johns'",
  "DateStyle = 'SQL, DMY'",
  "IntervalStyle = 'sql_standard'",
  "bytea_output = 'escape'",
  "xmlbinary = 'hex'",
  "xmloption = 'document'",
  'extra_float_digits = -3',
  "lc_monetary = 'C'",
]
