/** Work in parts, run without a pause. */
import type { Parts } from '../../../src/core/parts.ts'

export function atOnce<Result>(parts: Parts<Result>): Result {
  for (;;) {
    const part = parts.next()
    if (part.done === true) return part.value
  }
}
