/** Posts telemetry over fetch: one attempt, no redirects; only the status of the response is read. */
import type { TelemetryPort } from '../ports/licensing.ts'
import { type Fetch, limitedFetch } from './fetch.ts'

const TIME_LIMIT = 5_000

export type TelemetryOptions = Pick<TelemetryPort, 'platform'> & {
  /** The platform's `fetch` where absent. */
  readonly wayOut?: Fetch
}

export function createTelemetryClient({ platform, wayOut }: TelemetryOptions): TelemetryPort {
  return {
    platform,
    async post(url, body) {
      const request = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }
      const response = await limitedFetch(url, request, { timeLimit: TIME_LIMIT, wayOut }).catch(() => {
        // The cause may name the address, which may contain a token.
        throw new Error('no answer')
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`it was answered ${response.status}`)
    },
  }
}
