/** The syntax in which `pg_get_expr` prints expressions. */
import type { Writing } from '../checks/expression.ts'

export const printed: Writing = {
  text: "'(?:[^']|'')*'",
  unquoted: (text) => text.slice(1, -1).replaceAll("''", "'"),
  countsBytes: false,
  hasPatterns: true,
}
