/** The differences between MariaDB and MySQL, as values and functions. */
import type { RowQuery } from '../read/row-query.ts'
import type { Sql } from '../statement.ts'
import type { Attributes } from './column-attributes.ts'

export type Family = {
  readonly title: string
  /** The start of every statement. */
  readonly select: Sql
  /** An expression that fails the statement if, and only if, it is evaluated. */
  readonly overflow: Sql
  /** A collation that compares byte by byte, including trailing spaces. */
  readonly collation: Sql
  readonly maxScale: number
  readonly uuidType: Sql
  readonly uuid: (value: Sql) => Sql
  readonly json: (value: Sql) => Sql
  /** A stored JSON value as JSON. */
  readonly jsonText: (column: Sql) => Sql
  /** Tests JSON values for equality. */
  readonly isSameJson: (column: Sql, operand: Sql) => Sql
  /** A string in the form for `like`. */
  readonly searched: (column: Sql) => Sql
  /** True if a query, which `lock` ends, finds no row. */
  readonly without: (found: Sql, lock: Sql) => Sql
  readonly attributes: Attributes
  /** Whether `insert` and `delete` support `returning`. */
  readonly returning: 'known' | 'unknown'
  /** True behind Vitess, which refuses `json_table`, locks of tables and `returning`. */
  readonly isBehindVitess: boolean
  /** `content` of all rows separated by commas; null if there are none. */
  readonly joined: (rows: RowQuery, content: Sql) => { readonly list: Sql; readonly from: Sql }
  /** For that list: the number of rows, up to one more than requested, and the marks of its first and last row. */
  readonly cursors: (
    rows: RowQuery,
    mark: Sql,
    page: { readonly limit: number },
  ) => { readonly count: Sql; readonly first: Sql; readonly last: Sql }
}
