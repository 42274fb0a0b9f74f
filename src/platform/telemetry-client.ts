/** Posts telemetry over fetch: one attempt, no redirects; only the status of the response is read. */
import type { TelemetryPort } from '../ports.ts'

const TIME_LIMIT = 5_000

export function createTelemetryClient(platform: TelemetryPort['platform']): TelemetryPort {
  return {
    platform,
    async post(url, body) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(TIME_LIMIT),
      }).catch(() => {
        // The cause may name the address, which may contain a token.
        throw new Error('no answer')
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`it was answered ${response.status}`)
    },
  }
}
