/** Posts telemetry over fetch: one attempt, no redirects; only the status of the response is read. */
import type { TelemetryPort } from '../ports.ts'
import { limitedFetch } from './fetch.ts'

const TIME_LIMIT = 5_000

export function createTelemetryClient(platform: TelemetryPort['platform']): TelemetryPort {
  return {
    platform,
    async post(url, body) {
      const request = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }
      const response = await limitedFetch(url, request, { timeLimit: TIME_LIMIT }).catch(() => {
        // The cause may name the address, which may contain a token.
        throw new Error('no answer')
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`it was answered ${response.status}`)
    },
  }
}
