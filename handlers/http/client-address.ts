/**
 * Determines the IP address of the client, for limits, the audit log and key scopes. Forwarding headers count only if the
 * connection comes from one of SERVICE_HTTP__TRUSTED_PROXIES. The client is the right-most forwarded address that is no trusted
 * proxy, because clients can forge everything to its left.
 */
import { type Address, isWithin, type Network, parseAddress } from '../../src/core/network.ts'

export type ForwardedConnection = {
  /** The other end of the connection, if the platform knows it. */
  readonly peer: string | undefined
  readonly trusted: readonly Network[]
  /** Returns a request header by its lower-case name. */
  readonly header: (name: string) => string | undefined
}

/**
 * Returns undefined for an unknown address: no peer, or a trusted proxy that does not name its client. If both
 * `X-Forwarded-For` and `Forwarded` are present they must agree, because a proxy may set one and pass on the other unchanged.
 */
export function clientAddress({ peer, trusted, header }: ForwardedConnection): string | undefined {
  const near = peer === undefined ? undefined : parseAddress(peer)
  if (near === undefined || !isProxy(near, trusted)) return near?.text ?? peer
  const lists = [hopsOfList(header('x-forwarded-for')), hopsOfForwarded(header('forwarded'))]
  const addresses = lists.filter((hops) => hops !== undefined).map((hops) => farthest(hops, near, trusted)?.text)
  if (addresses.length === 0) return near.text
  return addresses.every((address) => address === addresses[0]) ? addresses[0] : undefined
}

/** Longest header that is read, in characters, and the most proxies in a chain. */
const LONGEST_HEADER = 4_096
const MOST_HOPS = 32

type Hops = readonly (string | undefined)[]

/** Walks from the right over trusted proxies, to the client of the first of them. */
function farthest(hops: Hops, near: Address, trusted: readonly Network[]): Address | undefined {
  let address: Address | undefined = near
  for (const hop of hops.toReversed()) {
    address = hop === undefined ? undefined : parseHop(hop)
    if (address === undefined || !isProxy(address, trusted)) return address
  }
  return address
}

function isProxy(address: Address, trusted: readonly Network[]): boolean {
  return trusted.some((network) => isWithin(address, network))
}

/**
 * Parses `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`; undefined for obfuscated identifiers.
 */
function parseHop(hop: string): Address | undefined {
  const [, inBrackets, withPort] = /^(?:\[([^\]]*)\](?::\w*)?|([\d.]+):\w*)$/.exec(hop) ?? []
  return parseAddress(inBrackets ?? withPort ?? hop)
}

/** Returns undefined without the header, and no hops for one that exceeds the limit. */
function hopsOfList(header: string | undefined): Hops | undefined {
  if (header === undefined) return undefined
  const hops = header.length > LONGEST_HEADER ? [] : header.split(',').map((hop) => hop.trim())
  return bounded(hops)
}

/** `for=192.0.2.1;proto=https, for="[2001:db8::1]:4711"` (RFC 7239). No hops for one that is malformed. */
function hopsOfForwarded(header: string | undefined): Hops | undefined {
  if (header === undefined) return undefined
  if (header.length > LONGEST_HEADER) return unknown
  const elements = partsOf(header, ',')
  const hops = elements?.map((element) => {
    const pairs = partsOf(element, ';')?.map((pair) => /^([\w!#$%&'*+.^`|~-]+)=(.*)$/s.exec(pair.trim()))
    const named = pairs?.filter((pair) => pair?.[1]?.toLowerCase() === 'for')
    const value = named?.length === 1 ? named[0]?.[2] : undefined
    return value?.replace(/^"(.*)"$/s, '$1').replace(/\\(.)/gs, '$1')
  })
  return hops === undefined ? unknown : bounded(hops)
}

const unknown: Hops = [undefined]

function bounded(hops: Hops): Hops {
  return hops.length === 0 || hops.length > MOST_HOPS ? unknown : hops
}

/** Splits `text` at separators outside of quotes; undefined for an unterminated quote. */
function partsOf(text: string, separator: ',' | ';'): readonly string[] | undefined {
  const parts: string[] = []
  let [from, isQuoted] = [0, false]
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (character === '"') isQuoted = !isQuoted
    else if (isQuoted && character === '\\') index += 1
    else if (!isQuoted && character === separator) {
      parts.push(text.slice(from, index))
      from = index + 1
    }
  }
  return isQuoted ? undefined : [...parts, text.slice(from)]
}
