import { ServiceError } from '../../../src/core/error.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'

/** `read`, or the kind of the refusal. */
export function outcome(search: string): string {
  try {
    parseBrackets(search)
    return 'read'
  } catch (error) {
    return error instanceof ServiceError ? error.kind : String(error)
  }
}
