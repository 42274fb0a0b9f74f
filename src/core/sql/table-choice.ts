/**
 * Selects the tables of a source that an introspection imports (docs/contract.md#introspection): a pattern is a table, or
 * `schema.table`; `*` matches any characters.
 */
import type { Parts } from '../parts.ts'
import { NO_NAMESPACE, type SourceSchema, type SourceTable } from './source-schema.ts'

export type TableChoice = {
  readonly include?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
}

/** Moves the tables that were not chosen to `skipped`. */
export function* chooseTables(schema: SourceSchema, { include, exclude = [] }: TableChoice): Parts<SourceSchema> {
  const reasonOf = (table: SourceTable) => {
    if (include !== undefined && !include.some((pattern) => namesTable(pattern, table))) return 'is not included'
    return exclude.some((pattern) => namesTable(pattern, table)) ? 'is excluded' : undefined
  }
  const tables: SourceTable[] = []
  const skipped = [...schema.skipped]
  for (const table of schema.tables) {
    yield
    const reason = reasonOf(table)
    if (reason === undefined) tables.push(table)
    else skipped.push({ table: tableName(table), reason })
  }
  return { ...schema, tables, skipped }
}

/** Returns the index of the first included name, without `*`, that the schema lacks; -1 if there is none. */
export function missingTable({ tables, skipped }: SourceSchema, { include = [] }: TableChoice): number {
  return include.findIndex(
    (name) =>
      !name.includes('*') &&
      !tables.some((table) => namesTable(name, table)) &&
      !skipped.some(({ table }) => table === name || table.endsWith(`.${name}`)),
  )
}

type Place = Pick<SourceTable, 'schema' | 'dbName'>

export function tableName({ schema, dbName }: Place): string {
  return schema === NO_NAMESPACE ? dbName : `${schema}.${dbName}`
}

function namesTable(pattern: string, table: Place): boolean {
  return matches(pattern, table.dbName) || matches(pattern, tableName(table))
}

/** Takes the first match of each part, so that a pattern costs no more than the length of the text. */
function matches(pattern: string, text: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  const end = parts.pop()
  if (end === undefined) return pattern === text
  if (!text.startsWith(start)) return false
  let at = start.length
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return text.length - end.length >= at && text.endsWith(end)
}
