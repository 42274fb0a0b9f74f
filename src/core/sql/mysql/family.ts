/** The differences between MariaDB and MySQL, as values and functions. */
import type { RowQuery } from '../read/row-query.ts'
import type { Sql } from '../statement.ts'
import type { Attributes } from './column-attributes.ts'

export type Family = {
  readonly title: string
  /** The start of every statement. */
  readonly select: Sql
  /** An expression that fails the statement when it is evaluated, and only then. */
  readonly overflow: Sql
  /** Compares and stores strings byte by byte, trailing spaces included. */
  readonly collation: Sql
  readonly maxScale: number
  readonly uuidType: Sql
  readonly uuid: (value: Sql) => Sql
  readonly json: (value: Sql) => Sql
  /** A stored JSON value as JSON. */
  readonly jsonText: (column: Sql) => Sql
  /** Tests JSON values for equality. */
  readonly isSameJson: (column: Sql, operand: Sql) => Sql
  /** A string as `like` searches it. */
  readonly searched: (column: Sql) => Sql
  /** Whether a query, which `lock` ends, finds no row. */
  readonly without: (found: Sql, lock: Sql) => Sql
  readonly attributes: Attributes
  /** True if `insert` and `delete` support `returning`. */
  readonly returning: 'known' | 'unknown'
  /** Vitess refuses `json_table`, locks of tables and `returning`. */
  readonly isBehindVitess: boolean
  /** `content` of all rows separated by commas; null if there are none. */
  readonly joined: (rows: RowQuery, content: Sql) => { readonly list: Sql; readonly from: Sql }
  /** Beside that list: how many rows there are, up to one more than asked for, and the marks of its ends. */
  readonly cursors: (
    rows: RowQuery,
    mark: Sql,
    page: { readonly limit: number },
  ) => { readonly count: Sql; readonly first: Sql; readonly last: Sql }
}
