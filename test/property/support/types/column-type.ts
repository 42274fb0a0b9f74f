/** A type of columns as the suite of types tries it: what a database says, and what the service makes of it. */
import type { Arbitrary } from 'fast-check'

export type ColumnType = {
  /** As in a definition of a table. */
  readonly name: string
  /** Texts of values, in the form in which the database reads them. */
  readonly values: Arbitrary<string>
  /** Whether `_eq` and `_in` find a value, which `geometry` and lists have not. */
  readonly isFiltered: boolean
  /** Whether the service sorts and compares it as the database does. */
  readonly isOrdered: boolean
  /** Whether it can be a primary key. */
  readonly isKey: boolean
  /** A value that a table has to hold from the beginning for its column to be what it is. */
  readonly first?: string
  /** The column `v` as the database can compare it. */
  readonly inSql?: string
  /** Whether two columns hold the same, in SQL; their texts are compared where this is not given. */
  readonly same?: (one: string, other: string) => string
}

type Differences = Partial<Omit<ColumnType, 'name' | 'values'>>

/** A type that the database compares, and that can be a key. */
export function ordered(name: string, values: Arbitrary<string>, differences: Differences = {}): ColumnType {
  return { name, values, isFiltered: true, isOrdered: true, isKey: true, ...differences }
}

export function unordered(name: string, values: Arbitrary<string>, differences: Differences = {}): ColumnType {
  return { name, values, isFiltered: true, isOrdered: false, isKey: false, ...differences }
}

export function list(name: string, values: Arbitrary<string>): ColumnType {
  return unordered(name, values, { isFiltered: false })
}
