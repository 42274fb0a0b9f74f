/**
 * Measures the phases of a request for `Server-Timing` (docs/contract.md#system), in milliseconds of the process's
 * clock.
 */
export type Timing = {
  readonly start: number
  /** Time when the caller was authorized. */
  authenticated: number
  /** Time when planning ended; undefined where nothing was planned. */
  planned: number | undefined
}

export function startTiming(): Timing {
  const start = performance.now()
  return { start, authenticated: start, planned: undefined }
}

/** The time after authorization and planning is attributed to the source. */
export function serverTiming({ start, authenticated, planned = authenticated }: Timing): string {
  return `auth;dur=${rounded(authenticated - start)}, plan;dur=${rounded(planned - authenticated)}, source;dur=${rounded(performance.now() - planned)}`
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
