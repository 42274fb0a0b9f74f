/**
 * The way out to sign-in providers, the same code on both platforms: TLS only, no private address, no redirect, an answer
 * of bounded size within bounded time. Names are judged as names, since an edge `fetch` cannot pin DNS; one that is made
 * to point at a private address still has to show a certificate of its name there.
 */
import ipaddr from 'ipaddr.js'
import type { ProviderGate } from '../ports.ts'

const LATEST = 10_000
const LARGEST = 256 * 1024

/** `allowPrivate` is SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS. */
export function openProviderGate(allowPrivate: boolean, limits = { latest: LATEST, largest: LARGEST }): ProviderGate {
  function refusal(address: string): string | undefined {
    if (!URL.canParse(address)) return 'must be an address'
    const { protocol, hostname, username, password } = new URL(address)
    const reach = reachOf(hostname)
    if (protocol !== 'https:' && !(protocol === 'http:' && allowPrivate && reach === 'loopback')) {
      return 'must be an https address'
    }
    if (username !== '' || password !== '') return 'must not contain a user name or password'
    if (reach !== 'public' && !allowPrivate) return 'must not be a private address'
    return undefined
  }

  return {
    refusal,

    async fetch(address, request) {
      const reason = refusal(address)
      if (reason !== undefined) throw new Error(`a provider's address ${reason}`)
      const signal = AbortSignal.timeout(limits.latest)
      const response = await fetch(address, { ...request, redirect: 'manual', signal })
      const body = await readBounded(response, limits.largest)
      const { status, headers } = response
      return new Response(hasNoBody.has(status) ? null : body, { status, headers: plain(headers) })
    },
  }
}

const hasNoBody: ReadonlySet<number> = new Set([101, 204, 205, 304])

/** What the body was packed in has been taken off. */
function plain(headers: Headers): Headers {
  const kept = new Headers(headers)
  kept.delete('content-encoding')
  kept.delete('content-length')
  return kept
}

async function readBounded(response: Response, largest: number): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    length += part.value.byteLength
    if (length > largest) {
      await reader?.cancel()
      throw new Error(`a provider's answer is larger than ${largest} bytes`)
    }
    chunks.push(part.value)
  }
  return new Blob(chunks)
}

type Reach = 'public' | 'private' | 'loopback'

/** `hostname` as URL writes it, which has undone decimal, octal and short forms of IPv4. */
function reachOf(hostname: string): Reach {
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  if (ipaddr.isValid(host)) {
    const range = ipaddr.process(host).range()
    if (range === 'unicast') return 'public'
    return range === 'loopback' ? 'loopback' : 'private'
  }
  if (/^(.+\.)?localhost$/.test(host)) return 'loopback'
  return host.includes('.') && !/\.(local|internal|lan|home\.arpa)$/.test(host) ? 'public' : 'private'
}
