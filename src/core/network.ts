/**
 * Parses IP addresses and networks, and compares them. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) counts as
 * that IPv4 address, in addresses and networks alike.
 */
export type Address = {
  readonly family: 4 | 6
  readonly value: bigint
  /** Normal form, as recorded and compared: lower case, the longest run of zeros left out. */
  readonly text: string
}

export type Network = { readonly family: 4 | 6; readonly value: bigint; readonly prefix: number }

/**
 * Parses an IPv4 address of four decimal numbers, or an IPv6 address with an optional zone; undefined for anything
 * else.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > LONGEST) return undefined
  if (!text.includes(':')) return ofNumber(4, parseFour(text))
  const host = `http://[${text.replace(/%[\w.-]+$/, '')}]`
  if (!/^[\da-f:.]+$/i.test(host.slice(8, -1)) || !URL.canParse(host)) return undefined
  const groups = expanded(new URL(host).hostname.slice(1, -1))
  const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(Number.parseInt(group, 16)), 0n)
  return value >> 32n === MAPPED ? ofNumber(4, value & 0xffff_ffffn) : ofNumber(6, value)
}

/**
 * Parses `192.0.2.0/24`, `2001:db8::/32`, or one address; undefined for anything else, or with bits set behind the
 * prefix.
 */
export function parseNetwork(text: string): Network | undefined {
  const [, host = '', length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  if (host.includes('%')) return undefined
  const address = parseAddress(host)
  if (address === undefined) return undefined
  const { family, value } = address
  const bits = bitsOf(family)
  const isMapped = family === 4 && host.includes(':')
  const prefix = length === undefined ? bits : Number(length) - (isMapped ? 96 : 0)
  if (prefix < 0 || prefix > bits) return undefined
  const rest = BigInt(bits - prefix)
  return (value >> rest) << rest === value ? { family, value, prefix } : undefined
}

export function isWithin({ family, value }: Pick<Address, 'family' | 'value'>, network: Network): boolean {
  if (family !== network.family) return false
  const rest = BigInt(bitsOf(family) - network.prefix)
  return value >> rest === network.value >> rest
}

/** Returns true if every address of `narrow` is in `wide`. */
export function includes(wide: Network, narrow: Network): boolean {
  return wide.prefix <= narrow.prefix && isWithin(narrow, wide)
}

/** Formats a network as `192.0.2.0/24`. */
export function networkText({ family, value, prefix }: Network): string {
  return `${textOf(family, value)}/${prefix}`
}

/** The longest IPv6 address with its zone, in characters. */
const LONGEST = 100
const MAPPED = 0xffffn

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128
}

function parseFour(text: string): bigint | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1) ?? []
  if (parts.length === 0 || parts.some((part) => Number(part) > 255 || /^0\d/.test(part))) return undefined
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
}

function ofNumber(family: 4 | 6, value: bigint | undefined): Address | undefined {
  return value === undefined ? undefined : { family, value, text: textOf(family, value) }
}

function textOf(family: 4 | 6, value: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
  const hex = value.toString(16).padStart(32, '0')
  // `URL` shortens addresses to their normal form.
  return new URL(`http://[${hex.match(/.{4}/g)?.join(':')}]`).hostname.slice(1, -1)
}

/** The eight groups of an address that `URL` has shortened. */
function expanded(short: string): readonly string[] {
  const [head = '', tail] = short.split('::', 2)
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
}

/**
 * The unit of counting: an IPv4 address, or the /64 network of an IPv6 address, since one client usually has all of it.
 * Unknown addresses share one unit.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined || address === '') return 'unknown'
  if (!address.includes(':')) return address
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [head = '', tail] = address.toLowerCase().split('%', 1)[0]?.split('::', 2) ?? []
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

/** The /48 network of a /64 network, as `networkOf` has it; undefined for an address. */
export function siteOf(network: string): string | undefined {
  return network.endsWith('/64') ? `${network.split(':').slice(0, 3).join(':')}::/48` : undefined
}

/** Whose attempts wait together: an address, or the /48 network of an IPv6 address. */
export function originOf(address: string | undefined): string {
  const network = networkOf(address)
  return siteOf(network) ?? network
}

function groupsOf(part: string): readonly string[] {
  return part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, ''))
}
