/**
 * Determines which columns of a view are writable, from its canonical definition: `select` with an alias for each column. A
 * view over several tables is read-only, because its rows cannot be deleted.
 */
import { type ColumnRow, placeKey, type ViewRow } from './catalog.ts'
import { QUOTED_NAME, unquotedName } from './names.ts'

type Place = { readonly schema: string; readonly table: string }
type Definition = { readonly base: Place; readonly columns: ReadonlyMap<string, string> }

export type Views = {
  readonly isWritable: (view: Place) => boolean
  /** The table column behind a column of a view; undefined for a computed column. */
  readonly behind: (column: ColumnRow) => ColumnRow | undefined
}

export function readViews(rows: readonly ViewRow[], columns: readonly ColumnRow[]): Views {
  const definitions = new Map(rows.map((row) => [placeKey(row), row.isUpdatable === 'YES' ? parse(row) : undefined]))
  const byName = new Map(columns.map((column) => [placeKey(column, column.name), column]))
  const behind: Views['behind'] = (column) => {
    if (!definitions.has(placeKey(column))) return column
    const definition = definitions.get(placeKey(column))
    const base = definition?.columns.get(column.name)
    const found = definition && base && byName.get(placeKey(definition.base, base))
    return found ? behind(found) : undefined
  }
  return { isWritable: (view) => definitions.get(placeKey(view)) !== undefined, behind }
}

const token = new RegExp(`${QUOTED_NAME}|'(?:[^'\\\\]|\\\\.|'')*'|"(?:[^"\\\\]|\\\\.)*"|[a-z_]+|[\\s\\S]`, 'gi')
const plainColumn = new RegExp(`^(?:${QUOTED_NAME}\\.)*(${QUOTED_NAME})(?: AS (${QUOTED_NAME}))?$`)
const oneTable = new RegExp(
  `^(?:(${QUOTED_NAME})\\.)?(${QUOTED_NAME})(?: (?:AS )?${QUOTED_NAME})?(?= where | order | limit |$)`,
  'i',
)

/** Undefined for a view over several tables, or with a definition that the user may not see. */
function parse({ schema, definition }: ViewRow): Definition | undefined {
  const tokens = definition.match(token) ?? []
  if (tokens[0] !== 'select') return undefined
  const items: string[] = ['']
  let depth = 0
  for (const [at, part] of tokens.entries()) {
    if (part === '(') depth += 1
    if (part === ')') depth -= 1
    if (at === 0) continue
    if (depth === 0 && /^from$/i.test(part)) {
      const [, database, table] = oneTable.exec(tokens.slice(at + 2).join('')) ?? []
      if (table === undefined) return undefined
      const base = { schema: database === undefined ? schema : unquotedName(database), table: unquotedName(table) }
      return { base, columns: new Map(items.flatMap(plainOf)) }
    }
    if (depth === 0 && part === ',') items.push('')
    else items[items.length - 1] += part
  }
  return undefined
}

function plainOf(item: string): readonly (readonly [string, string])[] {
  const [, column, alias = column] = plainColumn.exec(item.trim()) ?? []
  return column === undefined || alias === undefined ? [] : [[unquotedName(alias), unquotedName(column)]]
}
