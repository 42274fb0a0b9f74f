/** Has work done that comes in parts: a little at once, where that is all of it, and otherwise so that other requests run in between. */
import type { Parts } from '../core/parts.ts'

/** Parts between two breaths: some milliseconds of work. */
const PARTS = 250

/** A promise only where it takes more than one breath. */
export function inParts<Result>(parts: Parts<Result>): Result | Promise<Result> {
  const { done, value } = some(parts)
  return done === true ? value : rest(parts)
}

async function rest<Result>(parts: Parts<Result>): Promise<Result> {
  for (;;) {
    await breath()
    const { done, value } = some(parts)
    if (done === true) return value
  }
}

function some<Result>(parts: Parts<Result>): IteratorResult<undefined, Result> {
  for (let count = 1; count < PARTS; count += 1) {
    const part = parts.next()
    if (part.done === true) return part
  }
  return parts.next()
}

/** Lets everything else that is waiting run first. */
function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
