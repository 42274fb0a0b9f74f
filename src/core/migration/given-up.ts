/** The names that a migration gives up: none of them means another field or collection in the same one (decision 112). */
import { ServiceError } from '../error.ts'

/** What had the name, in words, and how it went. */
export type GivenUp = { readonly id: string; readonly what: string; readonly how: 'renamed' | 'deleted' }

/**
 * A name in a database: that of a table of a source, whichever its schema is (which the model may name or leave open), or of a
 * column of a collection.
 */
type DbName = { readonly place: string; readonly dbName: string }

/** Of a migration so far. */
type Names = {
  /** Names of tables and columns that something gave up. */
  readonly givenUp: Map<string, GivenUp>
  /** Those that it gives to something which had another name before. */
  readonly taken: Map<string, string>
}

export function giveUpName(names: Names, name: DbName, by: GivenUp): void {
  names.givenUp.set(givenUpKey(name), by)
}

/**
 * Throws 422 for a name that another field or collection gives up: other requests still mean that one by it.
 * What is new holds nothing of anybody, so that it may have the name of what is deleted.
 */
export function refuseGivenUp(names: Names, name: DbName, by: Pick<GivenUp, 'id'> & { readonly isNew: boolean }): void {
  const key = givenUpKey(name)
  if (!by.isNew) names.taken.set(key, by.id)
  const before = names.givenUp.get(key)
  if (before === undefined || before.id === by.id || (by.isNew && before.how === 'deleted')) return
  const later = by.isNew ? 'create' : 'rename'
  throw new ServiceError(
    'invalid',
    `'${name.dbName}' is given up by ${before.what} in this migration; ${later} it in a later one`,
  )
}

/** MariaDB and MySQL know names of columns in any case. */
function givenUpKey({ place, dbName }: DbName): string {
  return JSON.stringify([place, dbName.toLowerCase()])
}
