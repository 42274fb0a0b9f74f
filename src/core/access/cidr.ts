/** Ranges of client addresses (CIDR): texts of both versions → one form in which they are compared. */

/** The first address of a range as a number, and how many of its leading bits count. IPv4-mapped addresses are IPv4. */
export type Range = { readonly bits: 32 | 128; readonly base: bigint; readonly prefix: number }

/** `10.0.0.0/8`, `2001:db8::/32`, or a single address. Undefined for anything else. */
export function parseRange(text: string): Range | undefined {
  const [, written = '', length] = /^([0-9a-fA-F:.]{2,45})(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const address = parseAddress(written)
  if (address === undefined) return undefined
  const prefix = length === undefined ? address.bits : Number(length)
  if (prefix > address.bits) return undefined
  const range = {
    bits: address.bits,
    base: (address.value >> rest(address.bits, prefix)) << rest(address.bits, prefix),
  }
  return unmapped({ ...range, prefix })
}

/** As it is shown: the first address of the range and the length of its prefix. */
export function showRange({ bits, base, prefix }: Range): string {
  if (bits === 32) return `${[24n, 16n, 8n, 0n].map((shift) => (base >> shift) & 255n).join('.')}/${prefix}`
  const groups = Array.from({ length: 8 }, (_, index) => ((base >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))
  const [, written = ''] = /^\[(.*)\]$/.exec(new URL(`http://[${groups.join(':')}]`).hostname) ?? []
  return `${written}/${prefix}`
}

/** Whether the client's address lies in one of the ranges; an address that is unknown or no address lies in none. */
export function isWithin(ranges: readonly Range[], address: string | undefined): boolean {
  const range = address === undefined ? undefined : parseRange(address.replace(/%.*$/, '').replace('/', '?'))
  return range !== undefined && ranges.some((wide) => contains(wide, range))
}

/** Whether all addresses of `narrow` are of `wide`. */
export function contains(wide: Range, narrow: Range): boolean {
  const shift = rest(wide.bits, wide.prefix)
  return wide.bits === narrow.bits && wide.prefix <= narrow.prefix && wide.base >> shift === narrow.base >> shift
}

function rest(bits: number, prefix: number): bigint {
  return BigInt(bits - prefix)
}

const MAPPED = 0xffffn << 32n

/** An IPv4-mapped range (`::ffff:10.0.0.0/104`) as the IPv4 range that it is. */
function unmapped(range: Range): Range {
  const { bits, base, prefix } = range
  if (bits === 32 || prefix < 96 || base >> 32n !== MAPPED >> 32n) return range
  return { bits: 32, base: base & 0xffffffffn, prefix: prefix - 96 }
}

function parseAddress(text: string): { readonly bits: 32 | 128; readonly value: bigint } | undefined {
  if (!text.includes(':')) {
    const value = parseDotted(text)
    return value === undefined ? undefined : { bits: 32, value }
  }
  const value = parseGroups(text)
  return value === undefined ? undefined : { bits: 128, value }
}

/** Four decimal numbers, in the one spelling that no reader takes for octal. */
function parseDotted(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

/** Eight groups of hexadecimal digits, `::` for one run of zeros, the last two perhaps as an IPv4 address. */
function parseGroups(text: string): bigint | undefined {
  const tail = /^(.*:)([0-9.]*\.[0-9.]*)$/.exec(text)
  if (tail !== null) {
    const last = parseDotted(tail[2] ?? '')
    if (last === undefined) return undefined
    return parseGroups(`${tail[1]}${(last >> 16n).toString(16)}:${(last & 0xffffn).toString(16)}`)
  }
  const sides = text.split('::')
  if (sides.length > 2) return undefined
  const [left = [], right] = sides.map((side) => (side === '' ? [] : side.split(':')))
  const missing = 8 - left.length - (right?.length ?? 0)
  if (right === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = right === undefined ? left : [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}
