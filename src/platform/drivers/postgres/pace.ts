/**
 * Decides how many statements a pipelined connection gets at a time: as many as it answers within a few milliseconds,
 * plus those in transit. The others wait where any connection can take them. So a connection whose server process is
 * starved delays few callers, and one to a distant server stays busy.
 */
export type Pace = {
  /** Number of unanswered statements. */
  readonly load: () => number
  readonly isFull: () => boolean
  /** Milliseconds since its last answer, or since its first unanswered statement if that is later. */
  readonly silence: (now: number) => number
  /** The shortest response time so far, in milliseconds; infinite before the first answer. */
  readonly nearest: () => number
  /** `now` is in milliseconds of a monotonic clock. */
  readonly ask: (now: number) => void
  /** Answers arrive in the order of statements. */
  readonly answer: (now: number) => void
}

export function startPace(): Pace {
  const sentTimes: number[] = []
  let moved = 0
  /** The shortest response time so far, close to the round-trip time. */
  let nearest = Number.POSITIVE_INFINITY
  /** Smoothed milliseconds between two answers under load. It starts too low, which holds nothing back. */
  let gap = 0

  return {
    load: () => sentTimes.length,
    isFull: () => sentTimes.length >= LEAST && sentTimes.length * gap >= AHEAD + 2 * nearest,
    silence: (now) => now - moved,
    nearest: () => nearest,

    ask(now) {
      if (sentTimes.length === 0) moved = now
      sentTimes.push(now)
    },

    answer(now) {
      nearest = Math.min(nearest, now - (sentTimes.shift() ?? now))
      gap += (now - moved - gap) / SMOOTHING
      moved = now
    },
  }
}

/** Milliseconds of work queued at a server process; with less it would idle between two turns of the event loop. */
const AHEAD = 4

/** Number of statements always allowed, however slow each is. */
const LEAST = 4

/** Number of answers that the average covers. */
const SMOOTHING = 32
