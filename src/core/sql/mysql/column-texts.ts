/** The texts that a column can hold: comparing a column with a text that its character set lacks fails. */
import type { ColumnTexts } from '../dialect.ts'
import { join, literal, param, sql } from '../statement.ts'
import { inTable } from './names.ts'

export const columnTexts: ColumnTexts = {
  characterSet: (table, column) =>
    sql`select character_set_name from information_schema.columns where ${inTable(table)} and column_name = ${literal(column)}`,
  // Characters that the set lacks become question marks.
  converted: (texts, characterSet) =>
    sql`select ${join(texts.map((text) => sql`convert(convert(${param(text)} using ${literal(characterSet)}) using utf8mb4)`))}`,
}
