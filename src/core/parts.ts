/** Pure work in parts of some microseconds each, so that whoever has it done can let others run in between. */
export type Parts<Result> = Generator<undefined, Result>

export function atOnce<Result>(parts: Parts<Result>): Result {
  for (;;) {
    const part = parts.next()
    if (part.done === true) return part.value
  }
}
