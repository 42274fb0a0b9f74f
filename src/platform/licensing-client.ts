/** Client of the licensing service over fetch, with the retries of docs/contract.md#licensing; for both platforms. */
import type { LicensingResponse } from '../core/license/answer.ts'
import type { LicensingClient } from '../ports/licensing.ts'
import { type Fetch, type FetchLimits, limitedFetch, readBounded } from './fetch.ts'

export type LicensingClientOptions = {
  readonly pause: (milliseconds: number) => Promise<void>
  /** Maximum milliseconds per attempt. */
  readonly timeLimit?: number
  /** The platform's `fetch` where absent. */
  readonly wayOut?: Fetch
}

const RETRIES = 3
const FIRST_PAUSE = 250
/** Bytes; more than any valid answer has, so what is larger counts as an empty one. */
const MAX_BODY = 64 * 1024

export function createLicensingClient({ pause, timeLimit = 5_000, wayOut }: LicensingClientOptions): LicensingClient {
  return {
    async post(url, value) {
      let delivery = await once(url, value, { timeLimit, wayOut })
      for (let retry = 0; retry < RETRIES && isPassing(delivery); retry += 1) {
        await pause(FIRST_PAUSE * 2 ** retry)
        delivery = await once(url, value, { timeLimit, wayOut })
      }
      return delivery
    },
  }
}

function isPassing(delivery: LicensingResponse): boolean {
  return delivery.kind === 'unreachable' || delivery.status >= 500
}

/** The key is sent only to the configured address. */
async function once(url: string, value: unknown, limits: FetchLimits): Promise<LicensingResponse> {
  try {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(value) }
    const response = await limitedFetch(url, request, limits)
    const body = await readBounded(response, MAX_BODY)
    return { kind: 'answer', status: response.status, body: (await body?.text()) ?? '' }
  } catch (cause) {
    const isLate = cause instanceof Error && (cause.name === 'TimeoutError' || cause.name === 'AbortError')
    return { kind: 'unreachable', reason: isLate ? 'it did not answer in time' : 'no connection' }
  }
}
