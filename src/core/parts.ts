/** Pure work in steps of some microseconds, so that the caller can let other work run between them. */
export type Parts<Result> = Generator<undefined, Result>

export function atOnce<Result>(parts: Parts<Result>): Result {
  for (;;) {
    const part = parts.next()
    if (part.done === true) return part.value
  }
}
