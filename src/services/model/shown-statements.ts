/**
 * The statements of a migration as a dry run shows them. Some statements of MariaDB and MySQL are generated from the catalog
 * when a migration runs; the dry run queries the catalog for them.
 */
import { compileChange } from '../../core/sql/ddl/compile-change.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { compile, type Statement } from '../../core/sql/statement.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { SourceDatabase } from '../../sources/provider.ts'
import { compileChanges, type SourceMigration } from './source-changes.ts'

export async function shownStatements({ database, changes }: SourceMigration): Promise<readonly string[]> {
  const { driver, dialect } = database
  const shown = dialect.shown?.()
  const compiled = async (all: typeof changes) => (await inParts(compileChanges(all, dialect))).map(({ text }) => text)
  if (shown === undefined) return compiled(changes)
  const texts: string[] = []
  for (const one of changes) {
    const statements = compileChange(one.change, shown).map((fragment) => compile(fragment, shown))
    // The catalog does not know yet what the migration itself creates or renames.
    texts.push(...((await written(driver, statements)) ?? (await compiled([one]))))
  }
  return texts
}

/** Returns undefined if the catalog lacks the subject of a statement. */
async function written(
  driver: SourceDatabase['driver'],
  statements: readonly Statement[],
): Promise<readonly string[] | undefined> {
  const texts: string[] = []
  for (const { text, params, onRows } of statements) {
    try {
      const statement = onRows ? onRows(await driver.query({ text, params })) : { text }
      if (statement !== undefined && statement.text !== '') texts.push(statement.text)
    } catch (cause) {
      if (!(cause instanceof SqlFault)) throw cause
      return undefined
    }
  }
  return texts
}
