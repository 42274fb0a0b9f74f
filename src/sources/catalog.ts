/** Turns the rows of a catalog into the schema of a database, and into the digest that changes with the schema. */
import { inCluster } from '../core/sql/catalog-ids.ts'
import { databaseError } from '../core/sql/database-error.ts'
import type { Rows } from '../core/sql/dialect.ts'
import type { SourceSchema } from '../core/sql/source-schema.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { loadCluster } from './cluster.ts'
import type { DigestDepth, SourceDatabase } from './provider.ts'

/** A statement that every database answers at once. */
export const PING: Statement = { text: 'select 1', params: [] }

export type CatalogDriver = Pick<SqlDriver, 'query' | 'batch'>

type Database = Pick<SourceDatabase, 'catalog'> & { readonly driver: CatalogDriver }

/** Runs a statement, and throws its faults in the caller's form. */
type Ask = (statement: Statement) => Promise<Rows>

/** Runs a statement about the catalog. Throws SqlFaults. */
export async function askCatalog({ driver, catalog: { settings } }: Database, statement: Statement): Promise<Rows> {
  if (settings.length === 0) return driver.query(statement)
  return (await driver.batch([...settings, statement])).at(-1) ?? []
}

/** Parses the rows of the catalog's statement. The digest equals that of `catalogDigest` at the same moment. */
export async function readCatalog(
  database: Database,
  rows: Rows,
  ask: Ask,
): Promise<{ readonly schema: SourceSchema; readonly digest: string }> {
  const { catalog } = database
  requireFit(rows)
  const question = catalog.inspect?.(rows)
  const inspected = question && (await ask(question))
  const { readCheck } = await import('../core/sql/checks/expression.ts')
  const cluster = await loadCluster(database)
  const { tables, ...rest } = catalog.parse(rows, inspected, readCheck)
  return {
    schema: { ...rest, tables: inCluster(tables, cluster) },
    digest: textOf([catalog.digest.of(rows), cluster], inspected),
  }
}

/** Computes the digest from the rows of the digest's statement. */
export async function catalogDigest(
  database: Database,
  { rows, depth }: { readonly rows: Rows; readonly depth: DigestDepth },
  ask: Ask,
): Promise<string> {
  const { catalog } = database
  if (depth === 'catalog') return catalog.digest.of(rows)
  const question = catalog.inspect?.(rows)
  const inspected = question && (await ask(question))
  return textOf([catalog.digest.of(rows), await loadCluster(database)], inspected)
}

/** Maximum characters of a catalog, for about 100,000 columns; parsed, they take ten times as many bytes. */
const MOST_CHARACTERS = 24 * 1024 ** 2

function requireFit(rows: Rows): void {
  const characters = rows.reduce((sum, row) => row.reduce((of, text) => of + (text?.length ?? 0), sum), 0)
  if (characters > MOST_CHARACTERS) throw databaseError('tooLarge')
}

function textOf(parts: readonly string[], inspected: Rows = []): string {
  return JSON.stringify([...parts, inspected])
}
