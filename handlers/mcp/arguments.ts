/** Arguments of a tool → what its schema says, or 422 naming the place. */
import type * as z from 'zod'
import { nested } from '../../src/core/error.ts'
import { placeOf, reasonOf } from '../request.ts'

export function readArguments<S extends z.ZodType>(schema: S, sent: unknown): z.infer<S> {
  const result = schema.safeParse(sent)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const place = issue === undefined ? '' : placeOf(issue.path)
  throw nested('invalid', ['Failed to read the arguments', place === '' ? 'arguments' : place, reasonOf(issue)])
}
