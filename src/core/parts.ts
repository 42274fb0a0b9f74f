/** Pure work in steps of some microseconds, so that the caller can let other work run between them. */
export type Parts<Result> = Generator<undefined, Result>

/** Runs work that is short, or that nobody waits beside. */
export function atOnce<Result>(parts: Parts<Result>): Result {
  for (;;) {
    const part = parts.next()
    if (part.done === true) return part.value
  }
}

/** Does something with each of many, one in a part. */
export function* eachOf<T>(all: Iterable<T>, work: (one: T) => unknown): Parts<void> {
  for (const one of all) {
    yield
    work(one)
  }
}
