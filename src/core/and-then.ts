/** A value that may still be on its way. */
export type Eventual<T> = T | Promise<T>

/** `next` of `value`: at once where the value is there, so that a warm request waits for nothing but its source. */
export function andThen<T, R>(value: Eventual<T>, next: (value: T) => Eventual<R>): Eventual<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** The same for what `work` brings; `failed` answers where it throws or rejects, but not for what `next` throws. */
export function attempt<T, R>(
  work: () => Eventual<T>,
  next: (value: T) => Eventual<R>,
  failed: (error: unknown) => Eventual<R>,
): Eventual<R> {
  let value: Eventual<T>
  try {
    value = work()
  } catch (error) {
    return failed(error)
  }
  return value instanceof Promise ? value.then(next, failed) : next(value)
}
