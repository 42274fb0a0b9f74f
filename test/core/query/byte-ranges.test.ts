/** Which bytes of a file a header `Range` asks for (RFC 9110, section 14). */
import { expect, it } from 'vitest'
import { disposition } from '../../../src/core/assets/file-name.ts'
import { rangesOf } from '../../../src/core/assets/range.ts'

const SIZE = 100
const whole = undefined
const none = 'unsatisfiable'
const ones = (count: number) => Array.from({ length: count }, (_, index) => `${index}-${index}`).join(',')

it.each<readonly [string, readonly (readonly [number, number])[] | 'unsatisfiable' | undefined]>([
  ['bytes=0-', [[0, 99]]],
  ['bytes=0-0', [[0, 0]]],
  ['bytes=99-', [[99, 99]]],
  ['bytes=99-99', [[99, 99]]],
  ['bytes=0-99', [[0, 99]]],
  ['bytes=50-1000', [[50, 99]]],
  ['bytes=-5', [[95, 99]]],
  ['bytes=-100', [[0, 99]]],
  ['bytes=-1000', [[0, 99]]],
  ['bytes=007-008', [[7, 8]]],
  ['BYTES=1-2', [[1, 2]]],
  [' bytes=1-2 ', [[1, 2]]],
  [
    'bytes= 1-2 ,\t5-6',
    [
      [1, 2],
      [5, 6],
    ],
  ],
  [
    'bytes=,1-2,,5-6,',
    [
      [1, 2],
      [5, 6],
    ],
  ],
  [
    'bytes=5-6,1-2',
    [
      [5, 6],
      [1, 2],
    ],
  ],
  [
    'bytes=0-10,5-20',
    [
      [0, 10],
      [5, 20],
    ],
  ],
  [
    'bytes=1-2,1-2',
    [
      [1, 2],
      [1, 2],
    ],
  ],
  ['bytes=1-2,200-300', [[1, 2]]],
  [`bytes=${ones(8)}`, Array.from({ length: 8 }, (_, index) => [index, index] as const)],
  [`bytes=${ones(8)},200-`, Array.from({ length: 8 }, (_, index) => [index, index] as const)],
  ['bytes=-0', none],
  ['bytes=100-', none],
  ['bytes=100-200,-0', none],
  ['bytes=999999999999999-', none],
  [`bytes=${ones(9)}`, whole],
  ['bytes=0-99,0-0', whole],
  ['bytes=5-2', whole],
  ['bytes=1-2,5-2', whole],
  ['bytes=200-100', whole],
  ['bytes=', whole],
  ['bytes=,', whole],
  ['bytes=-', whole],
  ['bytes=--5', whole],
  ['bytes=1', whole],
  ['bytes=1-2-3', whole],
  ['bytes=+1-2', whole],
  ['bytes=1.0-2', whole],
  ['bytes=0x1-2', whole],
  ['bytes=a-b', whole],
  ['bytes=1 - 2', whole],
  ['bytes =1-2', whole],
  ['bytes:1-2', whole],
  ['bytes=٠-٢', whole],
  ['bytes=1-2;5-6', whole],
  // As a header arrives that was sent twice.
  ['bytes=1-2, bytes=5-6', whole],
  ['bytes=1-2,pages=1', whole],
  ['items=0-1', whole],
  ['bytes=9999999999999999-', whole],
  ['', whole],
])('of 100 bytes %j are %j', (header, expected) => {
  const ranges = typeof expected === 'object' ? expected.map(([first, last]) => ({ first, last })) : expected

  expect(rangesOf(header, SIZE)).toEqual(ranges)
})

it('are none of an empty file, nor of no header', () => {
  expect(['bytes=0-', 'bytes=-1', 'bytes=0-0', undefined].map((header) => rangesOf(header, 0))).toEqual([
    none,
    none,
    none,
    whole,
  ])
})

it.each([
  ['Größe „A".png', 'Gr__e _A_.png'],
  ['Отчёт за год.pdf', '_____ __ ___.pdf'],
  ['報告書.txt', '___.txt'],
  ['تقرير.txt', '_____.txt'],
  ['דוח.txt', '___.txt'],
  ['รายงาน.txt', '______.txt'],
  ['रिपोर्ट.txt', '_______.txt'],
  ['👩‍💻.txt', '___.txt'],
  ['e\u0301.txt', 'e_.txt'],
  [`a"b'c\\d%41;e=f*(g).txt`, `a_b'c_d_41;e=f*(g).txt`],
  [' a , b ', ' a , b '],
])('the name %j goes out as it is, and as %j to old clients', (name, plain) => {
  const value = disposition('attachment', name)
  const [, ascii, exact] =
    /^attachment; filename="([\x20-\x7e]*)"(?:; filename\*=UTF-8''([\w!#$&+.^`|~%-]+))?$/.exec(value) ?? []

  expect([ascii, decodeURIComponent(exact ?? name)]).toEqual([plain, name])
})
