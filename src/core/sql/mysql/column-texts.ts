/** Which texts a column holds: its character set may lack letters, and a comparison with a text of such letters fails. */
import type { ColumnTexts } from '../dialect.ts'
import { join, literal, param, sql } from '../statement.ts'
import { inTable } from './names.ts'

export const columnTexts: ColumnTexts = {
  characterSet: (table, column) =>
    sql`select character_set_name from information_schema.columns where ${inTable(table)} and column_name = ${literal(column)}`,
  // What the set lacks becomes a question mark.
  converted: (texts, characterSet) =>
    sql`select ${join(texts.map((text) => sql`convert(convert(${param(text)} using ${literal(characterSet)}) using utf8mb4)`))}`,
}
