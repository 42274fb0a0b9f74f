/**
 * The way out to sign-in providers, the same code on both platforms: TLS only, no private address, no redirect, an answer
 * of bounded size within bounded time. Names are judged as names here, and on Node also by what they resolve to (`wayOut`):
 * an edge `fetch` cannot pin DNS, but a name that is made to point at a private address still has to show a certificate of
 * its name there.
 */
import { isLoopback } from '../core/loopback.ts'
import type { ProviderGate } from '../ports.ts'
import type { Fetch } from './fetch.ts'
import { isPrivateHost } from './private-hosts.ts'

const LATEST = 10_000
const LARGEST = 256 * 1024

export type ProviderGateOptions = {
  /** SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS */
  readonly allowPrivate: boolean
  /** The platform's own where it is not said. */
  readonly wayOut?: Fetch
  readonly latest?: number
  readonly largest?: number
}

export function openProviderGate(options: ProviderGateOptions): ProviderGate {
  const { allowPrivate, wayOut = (url, init) => fetch(url, init), latest = LATEST, largest = LARGEST } = options

  function refusal(address: string): string | undefined {
    if (!URL.canParse(address)) return 'must be an address'
    const { protocol, hostname, username, password } = new URL(address)
    if (protocol !== 'https:' && !(protocol === 'http:' && allowPrivate && isLoopback(hostname))) {
      return 'must be an https address'
    }
    if (username !== '' || password !== '') return 'must not contain a user name or password'
    if (!allowPrivate && isPrivateHost(hostname)) return 'must not be a private address'
    return undefined
  }

  return {
    refusal,

    async fetch(address, request) {
      const reason = refusal(address)
      if (reason !== undefined) throw new Error(`a provider's address ${reason}`)
      const signal = AbortSignal.timeout(latest)
      const response = await wayOut(address, { ...request, redirect: 'manual', signal })
      const body = await readBounded(response, largest)
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
