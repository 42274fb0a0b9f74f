/** Whose address counts: what proxies say of a request, and what anybody can write into it. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { clientAddress } from '../../handlers/http/client-address.ts'
import { type Network, parseNetwork } from '../../src/core/network.ts'
import { casesOr } from '../support/run/cases.ts'

const trusted = ['10.0.0.0/8', '2001:db8:aaaa::/48'].map((text) => parseNetwork(text) as Network)

function addressOf(peer: string | undefined, headers: Readonly<Record<string, string>> = {}) {
  return clientAddress({ peer, trusted, header: (name) => headers[name] })
}

it.each([
  ['203.0.113.9', {}, '203.0.113.9'],
  ['::ffff:203.0.113.9', {}, '203.0.113.9'],
  ['203.0.113.9', { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' }, '203.0.113.9'],
  [undefined, { 'x-forwarded-for': '192.0.2.1' }, undefined],
  ['10.0.0.1', {}, '10.0.0.1'],
])('believes no header of a peer that is no trusted proxy: %s %j', (peer, headers, address) => {
  expect(addressOf(peer, headers)).toBe(address)
})

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['203.0.113.9, 192.0.2.1', '192.0.2.1'],
  ['203.0.113.9, 192.0.2.1, 10.2.2.2, 10.3.3.3', '192.0.2.1'],
  ['10.9.9.9, 10.2.2.2', '10.9.9.9'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['2001:DB8::1', '2001:db8::1'],
  ['192.0.2.1, 2001:db8:aaaa::7', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['192.0.2.1, unknown', undefined],
  ['192.0.2.1, _hidden, 10.2.2.2', undefined],
  ['192.0.2.1,', undefined],
  ['', undefined],
])('takes of X-Forwarded-For %j the right-most address that is no proxy: %s', (header, address) => {
  expect(addressOf('10.0.0.1', { 'x-forwarded-for': header })).toBe(address)
})

it.each([
  ['for=192.0.2.1', '192.0.2.1'],
  ['For="192.0.2.1:4711";proto=https;by=10.0.0.1', '192.0.2.1'],
  ['for=203.0.113.9, for="[2001:db8::1]:4711", for=10.2.2.2', '2001:db8::1'],
  ['for=203.0.113.9, host="a, for=203.0.113.1"; for=192.0.2.1', '192.0.2.1'],
  ['for=192.0.2.1;host="a\\", for=203.0.113.1"', '192.0.2.1'],
  ['for=192.0.2.1, for=unknown', undefined],
  ['for=192.0.2.1, for="_hidden"', undefined],
  ['for=192.0.2.1, proto=https', undefined],
  ['for=192.0.2.1;for=203.0.113.9', undefined],
  ['for="192.0.2.1', undefined],
  ['x="a, for=192.0.2.1', undefined],
])('takes of Forwarded %j the right-most address that is no proxy: %s', (header, address) => {
  expect(addressOf('10.0.0.1', { forwarded: header })).toBe(address)
})

it('believes two headers only where they agree', () => {
  const both = (one: string, other: string) => addressOf('10.0.0.1', { 'x-forwarded-for': one, forwarded: other })

  expect(both('192.0.2.1', 'for=192.0.2.1')).toBe('192.0.2.1')
  expect(both('192.0.2.1', 'for=203.0.113.9')).toBeUndefined()
  expect(both('192.0.2.1', 'nonsense')).toBeUndefined()
})

it('never lets whatever the caller wrote before the proxy decide', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (written) => {
      expect(['192.0.2.1', undefined]).toContain(addressOf('10.0.0.1', { 'x-forwarded-for': `${written}, 192.0.2.1` }))
      expect(['192.0.2.1', undefined]).toContain(addressOf('10.0.0.1', { forwarded: `${written}, for=192.0.2.1` }))
    }),
    { numRuns: casesOr(2_000) },
  )
})

it('reads no more of a header than a bound', () => {
  const [long, many] = ['1'.repeat(250_000), '10.1.1.1,'.repeat(400)]

  expect(addressOf('10.0.0.1', { 'x-forwarded-for': `${long}, 192.0.2.1` })).toBeUndefined()
  expect(addressOf('10.0.0.1', { 'x-forwarded-for': `${many}192.0.2.1` })).toBeUndefined()
  expect(addressOf('10.0.0.1', { forwarded: `for="${long}", for=192.0.2.1` })).toBeUndefined()
})
