/** CSV as RFC 4180 has it: written with every value as its exact text, an empty text told from null by its quotes. */
import { numberText } from '../../data/exact-json.ts'
import { type Column, valueAt } from '../grid/columns.ts'
import type { Row } from '../grid/values.ts'
import { csvLine } from './csv-line.ts'
import { guarded, guardedJson } from './formulas.ts'

/** Spreadsheets read what begins so as UTF-8. */
export const MARK = '\uFEFF'

/** The names of the columns, as the API has them. */
export function csvHead(columns: readonly Column[]): string {
  return csvLine(columns.map(({ id }) => id))
}

/** `isSafe`: for a spreadsheet. */
export function csvRow(columns: readonly Column[], row: Row, { isSafe }: { readonly isSafe: boolean }): string {
  return csvLine(
    columns.map((column) => {
      const { type, isList } = column.field
      const value = valueAt(column, row)
      if (isList || type === 'json') {
        if (value === null || value === undefined) return undefined
        return isSafe ? guardedJson(JSON.stringify(value)) : JSON.stringify(value)
      }
      const isText = isSafe && ['string', ''].includes(type) && typeof value === 'string'
      return isText ? guarded(value) : cellOf(value)
    }),
  )
}

function cellOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string') return value
  return numberText(value) ?? JSON.stringify(value)
}
