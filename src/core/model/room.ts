/** How large a model may be: every process holds all of it, and loads it by one answer of the system database. */
import { ServiceError } from '../error.ts'
import type { ModelRecords } from './model.ts'

/** Characters of the whole model, and of what it says of columns beyond their names and types. */
const MOST = 40 * 1024 ** 2
const MOST_EXTRA = 8 * 1024 ** 2

/** About how many characters a record has beside its names. */
const RECORD = 240

/** Throws 422 for a model that is larger, where the change adds to it. */
export function requireRoom(before: ModelRecords, after: ModelRecords): void {
  const is = sizeOf(after)
  if (is.extra <= MOST_EXTRA && is.all <= MOST) return
  const was = sizeOf(before)
  if (is.extra > MOST_EXTRA && is.extra > was.extra) {
    const what = 'defaults, rules of the database and values of enums'
    throw new ServiceError('invalid', `A model may have ${what} of at most ${MOST_EXTRA} characters together`)
  }
  if (is.all > MOST && is.all > was.all) {
    throw new ServiceError('invalid', `A model may have at most ${MOST} characters, which are about 150000 fields`)
  }
}

function sizeOf(records: ModelRecords): { readonly all: number; readonly extra: number } {
  const { collections, primitiveFields, relationFields, constraints, indexes } = records
  const extra = primitiveFields.reduce((sum, field) => sum + extraOf(field), 0)
  const named = [...collections, ...primitiveFields].reduce(
    (sum, { dbName, apiName }) => sum + dbName.length + apiName.length,
    0,
  )
  const count = [collections, primitiveFields, relationFields, constraints, indexes].reduce(
    (sum, list) => sum + list.length,
    0,
  )
  return { all: extra + named + RECORD * count, extra }
}

function extraOf({ defaultValue, native, checks }: ModelRecords['primitiveFields'][number]): number {
  return [defaultValue, native, checks].reduce<number>((sum, one) => sum + (one ? JSON.stringify(one).length : 0), 0)
}
