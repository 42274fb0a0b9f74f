/**
 * Targets of network permissions (docs/connectors.md): syntax, normal form, and which connections they permit. Imports
 * nothing, since the sandbox on Node loads this file as it is.
 */

/** A target in normal form without `net:`, or the reason why `permission` is invalid. */
export type TargetResult = { readonly target: string } | { readonly fault: string }

/** The prefix of every target in a permission. */
export const PREFIX = 'net:'

/** Parses `net:<target>`. Faults are predicates ("must …", "is not …") that never repeat the text. */
export function parseTarget(permission: string): TargetResult {
  if (!permission.startsWith(PREFIX)) return { fault: 'must begin with net: in lower case' }
  const text = permission.slice(PREFIX.length)
  if (text === '') return { fault: 'must name a target after net:' }
  if (text.length > MAX_TARGET_LENGTH) return { fault: `must be at most ${MAX_TARGET_LENGTH} characters long` }
  if (/^(unix|vsock):/i.test(text)) return { fault: 'must not be a socket: a target is a host' }
  if (text.includes('//')) return { fault: 'must not be a URL: a target is a host, without a scheme' }
  if (/[\s?#@\\%]/.test(text)) return { fault: 'must be a host or host:port and nothing else' }
  if (text.startsWith('[')) return parseBracketed(text)
  if (text.includes('/')) return parseSubnet(text)
  const parts = text.split(':')
  if (parts.length > 2) return { fault: 'must have an IPv6 address in brackets' }
  const [host = '', port] = parts
  return withPort(parseHost(host), port)
}

const MAX_TARGET_LENGTH = 300

/**
 * Returns true if a target of the grant permits a connection to `host` (a URL's host name, or an address) and `port`.
 */
export function isGranted(grant: readonly string[], host: string, port: number): boolean {
  return grant.some((target) => permits(target, host, port))
}

/**
 * Returns true if `target`, in normal form, permits a connection. Names are compared with names, addresses with
 * addresses: a name never matches the address that it resolves to. An IPv6 address that maps an IPv4 address counts as
 * that one, as in Deno.
 */
export function permits(target: string, host: string, port: number): boolean {
  const wanted = normalHost(host)
  if (wanted === undefined) return false
  const { name: written, port: own } = splitTarget(target)
  const name = unmapped(written)
  if (own !== undefined && own !== port) return false
  if (name.startsWith('*.')) {
    const domain = name.slice(2)
    return !isAddress(wanted) && (wanted === domain || wanted.endsWith(`.${domain}`))
  }
  return name.includes('/') ? isWithin(name, wanted) : name === wanted
}

/** Normalises a host like targets; undefined for what is neither a name nor an address. */
function normalHost(host: string): string | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  if (bare.includes(':')) {
    const address = shortened(bare)
    return address === undefined ? undefined : unmapped(`[${address}]`)
  }
  const reading = parseHost(host)
  return 'target' in reading && !reading.target.startsWith('*.') ? reading.target : undefined
}

/** `[::ffff:7f00:1]` → `127.0.0.1`; other hosts unchanged. */
function unmapped(name: string): string {
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(name) ?? []
  if (high === undefined || low === undefined) return name
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.')
}

function splitTarget(target: string): { readonly name: string; readonly port: number | undefined } {
  const end = target.lastIndexOf(':')
  if (end === -1 || end < target.indexOf(']')) return { name: target, port: undefined }
  return { name: target.slice(0, end), port: Number(target.slice(end + 1)) }
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || parseIpv4(host) !== undefined
}

function isWithin(subnet: string, host: string): boolean {
  const [base = '', prefix = ''] = subnet.split('/')
  const [network, address] = [parseIpv4(base), parseIpv4(host)]
  if (network === undefined || address === undefined) return false
  const size = 2 ** (32 - Number(prefix))
  return Math.floor(network / size) === Math.floor(address / size)
}

function parseBracketed(text: string): TargetResult {
  const end = text.indexOf(']')
  const address = end === -1 ? undefined : shortened(text.slice(1, end))
  if (address === undefined) return { fault: 'is not an IPv6 address in brackets' }
  const rest = text.slice(end + 1)
  if (rest === '') return { target: `[${address}]` }
  if (rest.startsWith('/')) return { fault: 'must not be an IPv6 subnet: only IPv4 has subnets' }
  if (!rest.startsWith(':')) return { fault: 'is not an IPv6 address in brackets' }
  return withPort({ target: `[${address}]` }, rest.slice(1))
}

function parseSubnet(text: string): TargetResult {
  const [base = '', prefix = '', ...more] = text.split('/')
  if (more.length > 0 || parseIpv4(base) === undefined) return { fault: 'must not have a path: only IPv4 has subnets' }
  if (!/^(0|[1-9]\d?)$/.test(prefix) || Number(prefix) > 32) return { fault: 'must have a prefix from 0 to 32' }
  return { target: text }
}

function parseHost(text: string): TargetResult {
  const lower = text.toLowerCase()
  const name = lower.endsWith('.') ? lower.slice(0, -1) : lower
  const domain = name.startsWith('*.') ? name.slice(2) : name
  if (domain === '') return { fault: 'must name a host' }
  if (parseIpv4(name) !== undefined) return { target: name }
  const labels = domain.split('.')
  if (domain.length > 253 || !labels.every((label) => LABEL.test(label))) return { fault: 'is not a host name' }
  // URL libraries parse a host that ends in a number as an IPv4 address, in notations such as octal or hexadecimal.
  if (/^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return { fault: 'is not an IPv4 address' }
  return { target: name }
}

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

function withPort(host: TargetResult, port: string | undefined): TargetResult {
  if (port === undefined || 'fault' in host) return host
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535) return { fault: 'must have a port from 1 to 65535' }
  return { target: `${host.target}:${port}` }
}

/** Converts four decimal numbers into one. */
function parseIpv4(text: string): number | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) {
    return undefined
  }
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** An IPv6 address in its shortest form: lower case, no leading zeros, the first longest run of zeros as `::`. */
function shortened(text: string): string | undefined {
  const groups = parseIpv6(text)
  if (groups === undefined) return undefined
  let best = { start: 0, length: 1 }
  for (let start = 0; start < groups.length; start += 1) {
    let length = 0
    while (groups[start + length] === 0) length += 1
    if (length > best.length) best = { start, length }
  }
  const hex = groups.map((group) => group.toString(16))
  if (best.length === 1) return hex.join(':')
  return `${hex.slice(0, best.start).join(':')}::${hex.slice(best.start + best.length).join(':')}`
}

function parseIpv6(text: string): readonly number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half) => groupsOf(half))
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined
  if (tail === undefined) return head.length === 8 ? head : undefined
  const missing = 8 - head.length - tail.length
  return missing < 1 ? undefined : [...head, ...Array.from({ length: missing }, () => 0), ...tail]
}

/** The groups of a part without `::`; its end may be written as an IPv4 address. */
function groupsOf(text: string): readonly number[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const last = parts.at(-1) ?? ''
  const address = last.includes('.') ? parseIpv4(last) : undefined
  if (last.includes('.') && address === undefined) return undefined
  const plain = address === undefined ? parts : parts.slice(0, -1)
  if (!plain.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return undefined
  const groups = plain.map((part) => Number.parseInt(part, 16))
  return address === undefined ? groups : [...groups, Math.floor(address / 65_536), address % 65_536]
}
