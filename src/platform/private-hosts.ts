/**
 * Which hosts are not of the public network: loopback, private, link-local and every other special range. A name is
 * private by what it says; what it resolves to is a question for those who can ask.
 */
import ipaddr from 'ipaddr.js'

/** `host` as it stands in a configuration: a name, or an address in any of the spellings that a resolver would take. */
export function isPrivateHost(host: string): boolean {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.+$/, '')
  const written = canonical(name)
  if (name === '' || privateNames.test(name) || privateNames.test(written)) return true
  return ipaddr.isValid(written) && isPrivateAddress(written)
}

const privateNames = /^(.*\.)?(localhost|localdomain|local|internal|intranet|lan|home\.arpa)$|^[^.:]*[a-z][^.:]*$/

/** 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1; full-width digits are digits. */
function canonical(name: string): string {
  const url = URL.parse(name.includes(':') ? `http://[${name.replace(/%.*$/, '')}]` : `http://${name}`)
  return url === null ? name : url.hostname.replace(/^\[(.*)\]$/, '$1')
}

/** An address that a name resolved to. Only unicast addresses of the public network are not private. */
export function isPrivateAddress(address: string): boolean {
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return true
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return true
  // Of IPv6 only what is handed out: the rest holds old ways to write an IPv4 address.
  return parsed instanceof ipaddr.IPv6 && ((parsed.parts[0] ?? 0) & 0xe000) !== 0x2000
}

/** The fault of whoever tries to connect to one, by its code. */
export class PrivateHostError extends Error {
  readonly code = 'EPRIVATEHOST'

  constructor() {
    super('a loopback, private or link-local address is not allowed')
    this.name = 'PrivateHostError'
  }
}

/** Also where a library wrapped it. */
export function isPrivateHostError(error: unknown): boolean {
  return error instanceof Error && (error instanceof PrivateHostError || isPrivateHostError(error.cause))
}
