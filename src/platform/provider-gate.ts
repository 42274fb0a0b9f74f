/**
 * HTTP client for sign-in providers, the same code on both platforms: TLS only, no private addresses, no redirects,
 * bounded response size and time, or an answer that streams. Hosts are checked by name here, and on Node also by their addresses (`wayOut`). An
 * edge `fetch` cannot pin DNS, but a host with a private address would still need a certificate for its name.
 */
import { isLoopback } from '../core/loopback.ts'
import type { ProviderGate } from '../ports/accounts.ts'
import { type Fetch, limitedFetch, readBounded } from './fetch.ts'
import { isPrivateHost } from './private-hosts.ts'

const TIME_LIMIT = 10_000
const SIZE_LIMIT = 256 * 1024

export type ProviderGateOptions = {
  /** Value of SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS. */
  readonly allowPrivate: boolean
  /** By default the platform's `fetch`. */
  readonly wayOut?: Fetch
  readonly latest?: number
  readonly largest?: number
}

export function openProviderGate(options: ProviderGateOptions): ProviderGate {
  const { allowPrivate, wayOut, latest = TIME_LIMIT, largest = SIZE_LIMIT } = options

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

  function requireAllowed(address: string): void {
    const reason = refusal(address)
    if (reason !== undefined) throw new Error(`a provider's address ${reason}`)
  }

  return {
    refusal,

    async stream(address, request, idle) {
      requireAllowed(address)
      const ended = new AbortController()
      const wait = () => setTimeout(() => ended.abort(new DOMException('nothing comes', 'TimeoutError')), idle)
      let waiting = wait()
      const signal = request.signal ? AbortSignal.any([request.signal, ended.signal]) : ended.signal
      const sent: RequestInit = { ...request, redirect: 'manual', signal }
      const { status, headers, body } = await (wayOut ?? fetch)(address, sent).finally(() => clearTimeout(waiting))
      if (body === null) return new Response(null, { status, headers: plain(headers) })
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      const pieces = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            waiting = wait()
            const { done, value } = await reader.read().finally(() => clearTimeout(waiting))
            if (done) controller.close()
            else controller.enqueue(value)
          },
          cancel: (reason) => reader.cancel(reason),
        },
        { highWaterMark: 0 },
      )
      return new Response(pieces, { status, headers: plain(headers) })
    },

    async fetch(address, request) {
      requireAllowed(address)
      const response = await limitedFetch(address, request, { timeLimit: latest, wayOut })
      const body = await readBounded(response, largest)
      if (body === undefined) throw new Error(`a provider's answer is larger than ${largest} bytes`)
      const { status, headers } = response
      return new Response(hasNoBody.has(status) ? null : body, { status, headers: plain(headers) })
    },
  }
}

const hasNoBody: ReadonlySet<number> = new Set([101, 204, 205, 304])

/** The body is already decoded, so its encoding headers no longer apply. */
function plain(headers: Headers): Headers {
  const kept = new Headers(headers)
  kept.delete('content-encoding')
  kept.delete('content-length')
  return kept
}
