/**
 * Classifies hosts outside of the public network: loopback, private, link-local and every other special range. Names
 * are judged as written here; callers that can resolve them check the addresses too.
 */

import { lazily } from '../core/lazily.ts'
import { isWithin, parseAddress, parseNetwork } from '../core/network.ts'
import { withoutTrailing } from '../core/trailing.ts'

/** `host` is a name or an address, in any spelling that a resolver accepts. */
export function isPrivateHost(host: string): boolean {
  if (host.length > LONGEST_NAME) return true
  const name = withoutTrailing(host.toLowerCase().replace(/^\[(.*)\]$/, '$1'), '.')
  const written = canonical(name)
  if (name === '' || privateNames.test(name) || privateNames.test(written)) return true
  return parseAddress(written) !== undefined && isPrivateAddress(written)
}

/** Of what is longer nothing is public: no resolver takes it. */
const LONGEST_NAME = 255

const privateNames = /^(.*\.)?(localhost|localdomain|local|internal|intranet|lan|home\.arpa)$|^[^.:]*[a-z][^.:]*$/

/** 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1; full-width digits count as digits. */
function canonical(name: string): string {
  const url = URL.parse(name.includes(':') ? `http://[${name.replace(/%.*$/, '')}]` : `http://${name}`)
  return url === null ? name : url.hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Checks a resolved address. Every address but public unicast is private. */
export function isPrivateAddress(address: string): boolean {
  const parsed = parseAddress(address)
  if (parsed === undefined) return true
  const { special, handedOut } = networks()
  return special.some((network) => isWithin(parsed, network)) || !handedOut.some((network) => isWithin(parsed, network))
}

const networks = lazily(() => ({
  special: read([...specialOf4, ...specialOf6]),
  // Of IPv6 only the allocated range: the rest contains old IPv4 notations and link-local addresses.
  handedOut: read(['0.0.0.0/0', '2000::/3']),
}))

/** From IANA's registries of special-purpose addresses. */
const specialOf4 = [
  // This network, private, shared, loopback, link-local.
  ...['0.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  // Protocol assignments, documentation, relays, benchmarking.
  ...['192.0.0.0/24', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '192.88.99.0/24', '198.18.0.0/15'],
  // AS112 (reverse look-ups), AMT (multicast tunnels), multicast, reserved and broadcast.
  ...['192.31.196.0/24', '192.175.48.0/24', '192.52.193.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]

/** Within 2000::/3: protocol assignments (including Teredo), documentation, 6to4, AS112. */
const specialOf6 = ['2001::/23', '2001:db8::/32', '3fff::/20', '2002::/16', '2620:4f:8000::/48']

function read(texts: readonly string[]) {
  return texts.map(parseNetwork).filter((network) => network !== undefined)
}

const REFUSED = 'EPRIVATEHOST'

/** Thrown on a connection to a private host; recognized by its code, since parts of a Worker have copies of the class. */
export class PrivateHostError extends Error {
  readonly code = REFUSED

  constructor() {
    super('a loopback, private or link-local address is not allowed')
    this.name = 'PrivateHostError'
  }
}

/** Also recognizes one wrapped by a library. */
export function isPrivateHostError(error: unknown): boolean {
  return error instanceof Error && (('code' in error && error.code === REFUSED) || isPrivateHostError(error.cause))
}
