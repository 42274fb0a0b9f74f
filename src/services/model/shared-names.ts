/**
 * Databases that several sources of the instance share: a migration of one source must not give up or take the names of tables
 * and columns that models of other sources use (decision 118).
 */
import type { Rights } from '../../core/access/principal.ts'
import { FailedMigration, invalidOperation } from '../../core/migration/fault.ts'
import type { Change } from '../../core/sql/ddl/change.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import type { Identities } from '../../core/sql/introspect.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { loadCluster } from '../../sources/cluster.ts'
import type { SourceDatabase } from '../../sources/provider.ts'
import {
  assertUnsharedStatement,
  findOthers,
  findShared,
  type NameInDatabase,
  type OtherSource,
  savePlace,
  type Whereabouts,
} from '../../store/source-places.ts'
import { sha256Hex } from '../caller/digest.ts'
import type { SourceMigration } from './source-changes.ts'

type ChangedName = NameInDatabase & { readonly operation: number }

/** The names that a migration gives up or takes in one database, and the other sources of that database. */
export type ChangedNames = { readonly names: readonly ChangedName[]; readonly others: readonly OtherSource[] }

/** Returns the names to check against other sources; none for an Administrator, who may change them. */
export async function changedNames(
  system: SqlDriver,
  migrations: readonly Pick<SourceMigration, 'sourceId' | 'database' | 'changes'>[],
  rights: Rights,
): Promise<readonly ChangedNames[]> {
  if (rights.kind === 'all') return []
  const found: ChangedNames[] = []
  for (const { sourceId, database, changes } of migrations) {
    const all = changes.flatMap(({ operation, change }) => namesOf(change).map((name) => ({ ...name, operation })))
    if (all.length === 0) continue
    const { knownAs, defaultSchema } = await whereabouts(database)
    const others = await findOthers(system, sourceId, knownAs)
    const names = all.map((name) => ({ ...name, schema: name.schema ?? defaultSchema }))
    if (others.length > 0) found.push({ names, others })
  }
  return found
}

/** Throws the fault of the operation that gives up or takes a name that the model of another source uses. */
export async function requireUnshared(system: SqlDriver, changed: readonly ChangedNames[]): Promise<void> {
  for (const shared of changed) {
    const name = shared.names[(await findShared(system, shared)) ?? -1]
    if (name === undefined) continue
    const { table, column, operation } = name
    const what = column === undefined ? `the table '${table}'` : `the column '${column}' of the table '${table}'`
    throw new FailedMigration(operation, invalidOperation('usedByPolicy', `${what} ${SHARED}`))
  }
}

const SHARED =
  'has a name that another data source of the same database goes by: only an Administrator gives it to something else'

/** The same check as statements for the migration's batch. */
export function stillUnshared(changed: readonly ChangedNames[]): readonly Statement[] {
  return changed.map(assertUnsharedStatement)
}

/**
 * Throws if a caller who is no Administrator creates a table or an index, or renames a table, with a name that another schema
 * of the database has. Views and routines without a schema in their text would resolve to the new table by their own search
 * path or that of their caller (decision 121).
 */
export async function requireUnhidden(
  migrations: readonly Pick<SourceMigration, 'database' | 'changes'>[],
  rights: Rights,
): Promise<void> {
  if (rights.kind === 'all') return
  for (const { database, changes } of migrations) {
    const { catalog, driver } = database
    const { identities } = catalog
    if (identities === undefined) continue
    const made = changes.flatMap(({ operation, change }) => {
      if (!('table' in change)) return []
      const { schema } = change.table
      return namesMade(change, identities).map((name) => ({ name, schema, operation }))
    })
    const hidden: typeof made = []
    for (const [schema, those] of Map.groupBy(made, (one) => one.schema)) {
      const names = those.map(({ name }) => name)
      const found = new Set((await driver.query(identities.elsewhere(names, schema))).map(([name]) => name))
      hidden.push(...those.filter(({ name }) => found.has(name)))
    }
    const [first] = hidden.toSorted((one, other) => one.operation - other.operation)
    if (first === undefined) continue
    const reason = `another schema of the database has a '${first.name}': only an Administrator gives this name`
    throw new FailedMigration(first.operation, invalidOperation('usedByPolicy', reason))
  }
}

/** The names that a change creates in its schema: a table has a row and an array type, a column may have a sequence. */
function namesMade(change: Change, { sequence }: Pick<Identities, 'sequence'>): readonly string[] {
  const sequences = (columns: readonly { readonly dbName: string }[]) =>
    'table' in change ? columns.map(({ dbName }) => sequence(change.table.dbName, dbName)) : []
  switch (change.kind) {
    case 'createTable': {
      const { table, columns, primaryKey } = change
      return [...namesOfTable(table.dbName), ...(primaryKey ? [primaryKey.dbName] : []), ...sequences(columns)]
    }
    case 'renameTable':
      return namesOfTable(change.to)
    case 'addColumn':
    case 'setDefault':
    case 'changeInitial':
      return sequences([change.column])
    case 'createIndex':
      return [change.index.dbName]
    default:
      return []
  }
}

function namesOfTable(dbName: string): readonly string[] {
  return [dbName, `_${dbName}`]
}

/** Statements for the batch that save which databases the sources use; only for migrations that create tables. */
export async function placesOf(
  workspaceId: string,
  migrations: readonly Pick<SourceMigration, 'sourceId' | 'database' | 'changes'>[],
): Promise<readonly Statement[]> {
  const making = migrations.filter(({ changes }) => changes.some(({ change }) => change.kind === 'createTable'))
  const statements: Statement[] = []
  for (const { sourceId, database } of making)
    statements.push(savePlace({ workspaceId, sourceId, ...(await whereabouts(database)) }))
  return statements
}

type CatalogDatabase = Pick<SourceDatabase, 'catalog' | 'place'> & { readonly driver: Pick<SqlDriver, 'query'> }

/** Identifies a database by its configured address, and by what its server reports about itself. */
export async function whereabouts(database: CatalogDatabase): Promise<Whereabouts> {
  const { driver, catalog, place } = database
  const address = place === undefined ? [] : [await sha256Hex(place.address)]
  if (catalog.identities === undefined) return { knownAs: address, defaultSchema: place?.schema }
  try {
    const [[schema, name] = []] = await driver.query(catalog.identities.here)
    const cluster = await loadCluster(database)
    const own = cluster === '' ? [] : [await sha256Hex(JSON.stringify([cluster, name]))]
    return { knownAs: [...address, ...own], defaultSchema: schema ?? undefined }
  } catch (cause) {
    if (!(cause instanceof SqlFault)) throw cause
    return { knownAs: address, defaultSchema: place?.schema }
  }
}

/** The old and new names of what a change creates, renames or deletes. */
function namesOf(change: Change): readonly NameInDatabase[] {
  switch (change.kind) {
    case 'createTable':
    case 'dropTable':
      return [tableName(change.table)]
    case 'renameTable':
      return [tableName(change.table), tableName({ ...change.table, dbName: change.to })]
    case 'addColumn':
      return [{ ...tableName(change.table), column: change.column.dbName }]
    case 'dropColumn':
      return [{ ...tableName(change.table), column: change.column }]
    case 'renameColumn':
      return [change.column, change.to].map((column) => ({ ...tableName(change.table), column }))
    default:
      return []
  }
}

function tableName({ schema, dbName }: { readonly schema: string | undefined; readonly dbName: string }) {
  return { schema, table: dbName }
}
