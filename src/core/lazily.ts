/** What a start does without is made by the first who needs it, and kept: above all schemas (decision 036). */
import type * as z from 'zod'

/** Runs `make` with the first call; every call answers what it made. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** What is read with a schema that is made lazily. */
export type InferOutput<Schema extends () => z.ZodType> = z.infer<ReturnType<Schema>>
