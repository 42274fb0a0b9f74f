/**
 * How many statements a pipelined connection is handed at a time: as many as it answers within a few milliseconds, and
 * what is on its way there and back meanwhile. The others wait where any connection can take them, so a connection
 * whose server process gets no time makes few callers wait, and one to a distant server is kept busy all the same.
 */
export type Pace = {
  /** Statements that wait for an answer. */
  readonly load: () => number
  readonly isFull: () => boolean
  /** Milliseconds since it gave an answer, or began to be asked. */
  readonly silence: (now: number) => number
  /** `now` is in milliseconds, of a clock that never goes back. */
  readonly ask: (now: number) => void
  /** Answers come in the order of the questions. */
  readonly answer: (now: number) => void
}

export function startPace(): Pace {
  const asked: number[] = []
  let moved = 0
  /** The fastest answer yet: hardly more than the way there and back. */
  let nearest = Number.POSITIVE_INFINITY
  /** From one answer to the next while there is something to answer, smoothed. Too short at first, which holds back nobody. */
  let gap = 0

  return {
    load: () => asked.length,
    isFull: () => asked.length >= LEAST && asked.length * gap >= AHEAD + 2 * nearest,
    silence: (now) => now - moved,

    ask(now) {
      if (asked.length === 0) moved = now
      asked.push(now)
    },

    answer(now) {
      nearest = Math.min(nearest, now - (asked.shift() ?? now))
      gap += (now - moved - gap) / SMOOTHING
      moved = now
    },
  }
}

/** Milliseconds of work that a server process has before it: less, and it runs dry between two turns of our event loop. */
const AHEAD = 4

/** Statements that are handed out however long each takes. */
const LEAST = 4

/** Answers. */
const SMOOTHING = 32
