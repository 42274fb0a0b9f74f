/** What becomes of the values of a field. */
import { conversionOf, isSameType } from '../migration/conversion.ts'
import type { PrimitiveFieldRecord } from '../model/model.ts'

/** `lost`: its type cannot become that one, so the field is made anew. */
export function fateOf(before: PrimitiveFieldRecord, after: PrimitiveFieldRecord): 'kept' | 'converted' | 'lost' {
  if (before.isList !== after.isList) return 'lost'
  if (isSameType(before.type, after.type)) return 'kept'
  return conversionOf(before.type, after.type, after.isList) === undefined ? 'lost' : 'converted'
}
