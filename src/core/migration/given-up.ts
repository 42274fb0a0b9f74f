/** The names that a migration frees: in the same migration, no other field or collection may get them (decision 112). */
import { ServiceError } from '../error.ts'

/** The former owner of the name, in words, and how the name became free. */
export type GivenUp = { readonly id: string; readonly what: string; readonly how: 'renamed' | 'deleted' }

/** A database name: of a table in a source, whatever its schema (which the model may omit), or of a column in a collection. */
type DbName = { readonly place: string; readonly dbName: string }

/** The names of a migration so far. */
type Names = {
  /** Freed names of tables and columns. */
  readonly givenUp: Map<string, GivenUp>
  /** Names that existing records get. */
  readonly taken: Map<string, string>
}

export function giveUpName(names: Names, name: DbName, by: GivenUp): void {
  names.givenUp.set(givenUpKey(name), by)
}

/**
 * Throws 422 for a name that another field or collection frees in this migration, because other requests still use it for the
 * old one. A new table or column may get the name of a deleted one, because it contains nobody's data.
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

/** Lower case, because MariaDB and MySQL compare names of columns without case. */
function givenUpKey({ place, dbName }: DbName): string {
  return JSON.stringify([place, dbName.toLowerCase()])
}
