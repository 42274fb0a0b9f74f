/** Ranges of addresses: which texts are ranges, what they are shown as, and whose addresses lie in them. */
import { expect, it } from 'vitest'
import { contains, isWithin, parseRange, type Range, showRange } from '../../../src/core/access/cidr.ts'

it.each([
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['192.0.2.7', '192.0.2.7/32'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['255.255.255.255/32', '255.255.255.255/32'],
  ['2001:DB8::/32', '2001:db8::/32'],
  ['2001:db8:0:0:0:0:0:1/128', '2001:db8::1/128'],
  ['::/0', '::/0'],
  ['::1', '::1/128'],
  ['fe80::1%eth0', undefined],
  ['::ffff:192.0.2.7', '192.0.2.7/32'],
  ['::ffff:c000:0207', '192.0.2.7/32'],
  ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
  ['::ffff:0:0/96', '0.0.0.0/0'],
  ['64:ff9b::192.0.2.7', '64:ff9b::c000:207/128'],
  ['', undefined],
  ['/8', undefined],
  ['10.0.0.0/', undefined],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0/08', undefined],
  ['10.0.0.0/-1', undefined],
  ['10.0.0.0/8/8', undefined],
  ['10.0.0', undefined],
  ['10.0.0.256', undefined],
  ['010.0.0.1', undefined],
  ['10.0.0.1 ', undefined],
  ['0x7f.0.0.1', undefined],
  ['2130706433', undefined],
  ['::/129', undefined],
  ['1::2::3', undefined],
  ['1:2:3:4:5:6:7', undefined],
  ['1:2:3:4:5:6:7:8:9', undefined],
  ['1:2:3:4:5:6:7::8', undefined],
  [':1:2:3:4:5:6:7', undefined],
  ['12345::', undefined],
  ['::1.2.3', undefined],
  ['::1.2.3.4:5', undefined],
  ['example.com', undefined],
])('reads %j as %j', (text, shown) => {
  const range = parseRange(text)

  expect(range && showRange(range)).toBe(shown)
})

it.each([
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['10.0.0.0/8', '::ffff:10.1.2.3', true],
  ['10.0.0.0/8', '::ffff:0a01:0203', true],
  ['10.0.0.0/8', '::10.1.2.3', false],
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
  ['0.0.0.0/0', '203.0.113.9', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '10.0.0.1', false],
  ['2001:db8::/32', '2001:DB8:0:0::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['fe80::/10', 'fe80::1%eth0', true],
  ['10.0.0.0/8', '10.0.0.1/8', false],
  ['0.0.0.0/0', '', false],
  ['0.0.0.0/0', 'unknown', false],
  ['0.0.0.0/0', undefined, false],
])('%s holds the client at %s: %s', (range, address, isInside) => {
  expect(isWithin([parseRange(range) as Range], address)).toBe(isInside)
})

it('tells which range lies in which', () => {
  const [wide, narrow, other, six] = ['10.0.0.0/8', '10.1.0.0/16', '11.0.0.0/16', '::/0'].map(
    (text) => parseRange(text) as Range,
  ) as [Range, Range, Range, Range]

  expect([contains(wide, narrow), contains(narrow, wide), contains(wide, other), contains(six, narrow)]).toEqual([
    true,
    false,
    false,
    false,
  ])
})
