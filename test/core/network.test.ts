/** Addresses and networks by their texts. */
import { expect, it } from 'vitest'
import { includes, isWithin, type Network, networkText, parseAddress, parseNetwork } from '../../src/core/network.ts'

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['::', '::'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1'],
])('reads the address %s as %s', (text, canonical) => {
  expect(parseAddress(text)?.text).toBe(canonical)
})

it.each([
  '',
  'localhost',
  '192.0.2',
  '192.0.2.256',
  '192.0.2.01',
  '0x7f.1',
  '2130706433',
  '192.0.2.1 ',
  '1:2:3',
  ':::',
  '2001:db8::1]/[::1',
  '[::1]',
  'unknown',
  '_hidden',
  `::${'1'.repeat(200)}`,
])('takes %j for no address', (text) => {
  expect(parseAddress(text)).toBeUndefined()
})

it.each([
  ['192.0.2.0/24', '192.0.2.255', true],
  ['192.0.2.0/24', '192.0.3.0', false],
  ['192.0.2.7', '192.0.2.7', true],
  ['0.0.0.0/0', '203.0.113.9', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '192.0.2.1', false],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::', false],
  ['10.0.0.0/8', '::ffff:10.1.2.3', true],
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
])('of the network %s, %s is part: %s', (network, address, is) => {
  const [parsed, within] = [parseNetwork(network), parseAddress(address)]

  expect(parsed !== undefined && within !== undefined && isWithin(within, parsed)).toBe(is)
})

it.each([
  '',
  '/',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.1/8',
  '::/129',
  '10.0.0.0/8/8',
  'fe80::1%eth0/64',
  'all',
  '::ffff:10.0.0.0/8',
])('takes %j for no network', (text) => {
  expect(parseNetwork(text)).toBeUndefined()
})

it.each([
  ['10.0.0.0/8', '10.1.0.0/16', true],
  ['10.1.0.0/16', '10.0.0.0/8', false],
  ['10.0.0.0/8', '10.0.0.0/8', true],
  ['10.0.0.0/8', '11.0.0.0/16', false],
  ['10.0.0.0/8', '::ffff:10.1.0.0/112', true],
  ['::/0', '10.0.0.0/8', false],
  ['2001:db8::/32', '2001:db8:1::1', true],
])('%s includes all of %s: %s', (wide, narrow, expected) => {
  expect(includes(parseNetwork(wide) as Network, parseNetwork(narrow) as Network)).toBe(expected)
})

it.each([
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['::FFFF:10.0.0.0/104', '10.0.0.0/8'],
  ['2001:DB8:0::/32', '2001:db8::/32'],
  ['::1', '::1/128'],
])('shows %s as %s', (text, shown) => {
  expect(networkText(parseNetwork(text) as Network)).toBe(shown)
})
