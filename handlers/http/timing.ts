/**
 * Measures the phases of a request for `Server-Timing` (docs/contract.md#system), in milliseconds of the process's
 * clock.
 */
export type Timing = {
  readonly start: number
  /** Time when the caller was authorized. */
  authenticated: number
  /** Time when planning ended; undefined if nothing was planned. */
  planned: number | undefined
}

export function startTiming(): Timing {
  const start = performance.now()
  return { start, authenticated: start, planned: undefined }
}

/** The phases until now; the time after planning, or without planning after authorization, is attributed to the source. */
export function phasesOf({ start, authenticated, planned = authenticated }: Timing) {
  return {
    auth: rounded(authenticated - start),
    plan: rounded(planned - authenticated),
    source: rounded(performance.now() - planned),
  }
}

export function serverTiming(timing: Timing): string {
  const { auth, plan, source } = phasesOf(timing)
  return `auth;dur=${auth}, plan;dur=${plan}, source;dur=${source}`
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
