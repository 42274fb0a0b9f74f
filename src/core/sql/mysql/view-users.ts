/**
 * Finds the views that use a table or one of its columns. MariaDB and MySQL allow renaming and deleting both, after which the
 * views fail. In canonical definitions every name is quoted, and a table is qualified by its schema.
 */
import { parseJson } from '../../exact-json.ts'
import type { TableRef } from '../ddl/change.ts'
import { literal, type Sql, sql } from '../statement.ts'
import { QUOTED_NAME, quotedName, schemaOf, unquotedName } from './names.ts'

type Candidates = {
  readonly schema: string
  readonly views: readonly (readonly [schema: string, name: string, definition: string])[] | null
}

/** The views that may use the table, with their definitions. */
export function viewsNaming(ref: TableRef): Sql {
  const name = literal(quotedName(ref.dbName))
  return sql`select json_object('schema', ${schemaOf(ref)},
      'views', json_arrayagg(json_array(table_schema, table_name, view_definition)))
    from information_schema.views where instr(view_definition, ${name}) > 0`
}

/** Those of the candidates that do use it; qualified if their schema is not that of the table. */
export function usingViews(text: string, { dbName }: TableRef, column?: string): readonly string[] {
  const { schema, views } = parseJson(text) as Candidates
  return (views ?? []).flatMap(([place, name, definition]) => {
    const isUser = uses(definition, [schema, dbName], column)
    return isUser ? [place === schema ? name : `${place}.${name}`] : []
  })
}

/** A text, or a qualified name with an optional alias. */
const token = new RegExp(
  `'(?:[^'\\\\]|\\\\[\\s\\S]|'')*'|(${QUOTED_NAME}(?:\\.${QUOTED_NAME})*)(?: (?:AS )?(${QUOTED_NAME}))?`,
  'gi',
)

function uses(definition: string, [schema, table]: readonly [string, string], column: string | undefined): boolean {
  const names = [...definition.matchAll(token)].flatMap(([, chain, alias]) => {
    return chain === undefined ? [] : [{ parts: split(chain), alias: alias && split(alias)[0] }]
  })
  const isTable = (parts: readonly string[]) => parts[0] === schema && parts[1] === table
  const own = names.filter(({ parts }) => parts.length === 2 && isTable(parts))
  if (column === undefined || own.length === 0) return own.length > 0
  const aliases = new Set(own.map(({ alias }) => alias ?? table))
  return names.some(({ parts }) => {
    const isOwn = parts.length === 3 ? isTable(parts) : parts.length === 2 && aliases.has(parts[0] ?? '')
    return isOwn && parts.at(-1)?.toLowerCase() === column.toLowerCase()
  })
}

function split(chain: string): readonly string[] {
  return (chain.match(new RegExp(QUOTED_NAME, 'g')) ?? []).map(unquotedName)
}
