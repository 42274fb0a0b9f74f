/** The section of docs/types.md about one database, made of what the suite of types has proved. */
import { readFileSync, writeFileSync } from 'node:fs'
import { describeType } from '../../../../src/core/model/codec.ts'
import type { FieldType } from '../../../../src/core/model/field-type.ts'
import type { ColumnType } from './column-type.ts'

const page = 'docs/types.md'

/** A type of columns, that of its field, and whether it has `_in`. */
export type Proved = { readonly type: ColumnType; readonly field: string; readonly isListed: boolean }

export function typesSection(title: string, proved: readonly Proved[]): string {
  const first = new Map([...proved].reverse().map((one) => [one.type.name, one]))
  const rows = proved
    .filter((one) => first.get(one.type.name) === one)
    .map(({ type, field, isListed }) => {
      const marks = [type.isFiltered, type.isFiltered && isListed, type.isOrdered, type.isKey].map((has) =>
        has ? '•' : '',
      )
      return `| \`${type.name}\` | \`${field}\` | ${marks.join(' | ')} |`
    })
  return [
    `## ${title}`,
    '',
    '| Column | Field | `_eq` | `_in` | Order | Key |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

export function fieldText(type: FieldType, isList: boolean): string {
  return describeType(type) + (isList ? '[]' : '')
}

/** The page as it is; with SERVICE_TEST_WRITE_PAGES=1 as `section` makes it. */
export function typesPage(title: string, section: string): string {
  const text = readFileSync(page, 'utf8')
  if (process.env.SERVICE_TEST_WRITE_PAGES !== '1') return text
  const [head = '', ...others] = text.split(/^(?=## )/m)
  const sections = [...others.filter((one) => !one.startsWith(`## ${title}\n`)), `${section}\n`].map(
    (one) => `${one.trimEnd()}\n`,
  )
  const made = [`${head.trimEnd()}\n`, ...sections.sort()].join('\n')
  writeFileSync(page, made)
  return made
}
