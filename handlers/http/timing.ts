/**
 * Measures the phases of a request for `Server-Timing` (docs/contract.md#system), in milliseconds of the process's
 * clock.
 */
export type Timing = {
  readonly start: number
  /** Time when the caller was authorized. */
  entered: number
  /** Time when planning ended; undefined where nothing was planned. */
  planned: number | undefined
}

export function startTiming(): Timing {
  const start = performance.now()
  return { start, entered: start, planned: undefined }
}

/** The time after authorization and planning is attributed to the source. */
export function serverTiming({ start, entered, planned = entered }: Timing): string {
  return `auth;dur=${rounded(entered - start)}, plan;dur=${rounded(planned - entered)}, source;dur=${rounded(performance.now() - planned)}`
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
