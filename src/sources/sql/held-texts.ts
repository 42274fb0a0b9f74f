/** Filters texts of another source by what a column can hold; comparing it with any other fails the whole statement. */
import type { ColumnTexts, Dialect } from '../../core/sql/dialect.ts'
import { compile } from '../../core/sql/statement.ts'
import type { SqlDriver } from '../../ports/database.ts'
import type { ReadOptions, TextColumn } from '../source.ts'

type Deps = { readonly driver: SqlDriver; readonly dialect: Dialect; readonly syntax: ColumnTexts }

/** Texts per statement. */
const BATCH = 500

/** Returns the texts that the column's character set contains; all texts if it has no character set or utf8mb4. */
export async function heldTexts(
  { driver, dialect, syntax }: Deps,
  { collection, field }: TextColumn,
  texts: readonly string[],
  options: ReadOptions,
): Promise<readonly string[]> {
  const [row] = await driver.query(compile(syntax.characterSet(collection, field.dbName), dialect), options)
  const set = row?.[0]
  if (set === undefined || set === null || set === 'utf8mb4') return texts
  const held: string[] = []
  for (let start = 0; start < texts.length; start += BATCH) {
    const some = texts.slice(start, start + BATCH)
    const [converted] = await driver.query(compile(syntax.converted(some, set), dialect), options)
    held.push(...some.filter((text, index) => converted?.[index] === text))
  }
  return held
}
