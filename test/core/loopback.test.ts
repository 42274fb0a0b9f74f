import { expect, it } from 'vitest'
import { machineOf } from '../../src/core/loopback.ts'

it.each([
  ...['localhost', 'LOCALHOST.', 'a.localhost', '127.0.0.1', '127.1', '2130706433', '0x7f.0.0.1', '0177.0.0.1'],
  ...['0.0.0.0', '0', '::1', '[::1]', '::', '::ffff:127.0.0.1', '[::ffff:7f00:1]', '127.0.0.53.'],
])('%s is the local machine', (host) => {
  expect(machineOf(host)).toBe('localhost')
})

it.each([
  ['DB.example.com.', 'db.example.com'],
  ['0xa.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:DB8::0:1', '2001:db8::1'],
  ['a b', 'a b'],
])('%s is %s', (host, machine) => {
  expect(machineOf(host)).toBe(machine)
})
