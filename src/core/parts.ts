/** Pure work in steps of some microseconds, so that the caller can let other work run between them. */
export type Parts<Result> = Generator<undefined, Result>
