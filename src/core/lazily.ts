/**
 * Creates values on first use and keeps them, so that a start skips what it does not need: above all schemas (decision
 * 036).
 */
import type * as z from 'zod'

/** Returns a function that calls `make` once, on its first call, and always returns that value. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** The output type of a lazily created schema. */
export type InferOutput<Schema extends () => z.ZodType> = z.infer<ReturnType<Schema>>
