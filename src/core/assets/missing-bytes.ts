/** Bytes that are of a file, or of an upload, and not in the store. Whoever asked for them knows whether somebody has removed them. */
import { ServiceError } from '../error.ts'

export class MissingBytes extends ServiceError {
  /** `place` is for operators. */
  constructor(place: string) {
    super('unavailable', 'The bytes of this file are missing', { cause: new Error(place) })
  }
}
