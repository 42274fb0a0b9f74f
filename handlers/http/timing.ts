/**
 * What a request spent its time on, for `Server-Timing` (docs/contract.md#system), in milliseconds of the process's own
 * clock.
 */
export type Timing = {
  readonly start: number
  /** When the caller was known. */
  entered: number
  /** When it was clear what to ask the source; undefined where nothing was planned. */
  planned: number | undefined
}

export function startTiming(): Timing {
  const start = performance.now()
  return { start, entered: start, planned: undefined }
}

/** Whatever came after signing in and planning was spent on the source. */
export function serverTiming({ start, entered, planned = entered }: Timing): string {
  return `auth;dur=${rounded(entered - start)}, plan;dur=${rounded(planned - entered)}, source;dur=${rounded(performance.now() - planned)}`
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
