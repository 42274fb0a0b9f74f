/** Runs work in parts: at once if it is short, otherwise with pauses in which other requests run. */
import type { Parts } from '../core/parts.ts'
import { pause } from '../ports/clock.ts'

/** Milliseconds of work between two pauses. */
const LONG = 8
/** Maximum parts between two pauses, for platforms such as Workers, whose clock stands still while code runs. */
const PARTS = 250

/** Returns the result, as a promise only if the work needs a pause. */
export function inParts<Result>(parts: Parts<Result>): Result | Promise<Result> {
  const { done, value } = runSome(parts)
  return done === true ? value : runRest(parts)
}

async function runRest<Result>(parts: Parts<Result>): Promise<Result> {
  for (;;) {
    await pause()
    const { done, value } = runSome(parts)
    if (done === true) return value
  }
}

function runSome<Result>(parts: Parts<Result>): IteratorResult<undefined, Result> {
  const start = performance.now()
  for (let count = 1; ; count += 1) {
    const part = parts.next()
    if (part.done === true) return part
    if (isLong(start, count)) return part
  }
}

/** Yields the parts one by one; pauses between them let other requests run. */
export async function* eachInParts<T>(parts: Iterable<T | undefined>): AsyncGenerator<T, void> {
  let [start, count] = [performance.now(), 0]
  for (const part of parts) {
    count += 1
    if (part !== undefined) yield part
    else if (isLong(start, count)) await pause()
    else continue
    start = performance.now()
    count = 0
  }
}

function isLong(start: number, count: number): boolean {
  const spent = performance.now() - start
  return spent > LONG || (spent === 0 && count >= PARTS)
}
