/** The built-in providers: SQL databases reached through the platform's drivers. They need no grant. */
import { ServiceError } from '../core/error.ts'
import { parseSqlTarget, type SqlProvider, sqlProviders, targetPlace } from '../core/sql/address.ts'
import { connectionError } from '../core/sql/connection-error.ts'
import { describeSchema } from '../core/sql/describe.ts'
import type { Dialect, Rows } from '../core/sql/dialect.ts'
import { SqlFault } from '../core/sql/fault.ts'
import type { Introspection } from '../core/sql/introspect.ts'
import {
  mariadbConversation,
  mysqlConversation,
  mariadb as ownMariadb,
  mysql as ownMysql,
} from '../core/sql/mysql/dialect.ts'
import { mariadbIntrospection, mysqlIntrospection } from '../core/sql/mysql/introspect.ts'
import { postgres as ownPostgres } from '../core/sql/postgres/dialect.ts'
import { postgresIntrospection } from '../core/sql/postgres/introspect.ts'
import type { SourceSchema } from '../core/sql/source-schema.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Clock } from '../ports/clock.ts'
import type { SqlDatabases, SqlDriver } from '../ports/database.ts'
import { queryFailed } from './assertion-error.ts'
import { askCatalog, type CatalogDriver, catalogDigest, PING, readCatalog } from './catalog.ts'
import { withCircuitBreaker } from './circuit-breaker.ts'
import { lazySource } from './lazy-source.ts'
import type { DigestDepth, Imported, Preset, Provider } from './provider.ts'
import { openSqlSource } from './sql-source.ts'

type Kind = {
  readonly name: string
  readonly dialect: Dialect
  readonly catalog: Introspection
  /** Distinguishes the databases of one protocol; undefined if only one database uses it. */
  readonly variants: Variants | undefined
  readonly presets: readonly Preset[]
}

type Language = Pick<Kind, 'dialect' | 'catalog'>

type Variants = {
  /** `languageOf` parses its first value. */
  readonly statement: Statement
  readonly languageOf: (text: string) => Language
}

/** Extends a dialect for databases whose configuration may be wrong: connection errors are explained too. */
function ofSource<D extends Dialect>(dialect: D): D {
  return { ...dialect, explain: (fault) => connectionError(fault) ?? dialect.explain(fault) }
}

const postgres = ofSource(ownPostgres)
const mysql = ofSource(ownMysql)
const mariadb = ofSource(ownMariadb)

/** MariaDB and MySQL share a protocol, so the provider of one may be connected to the other. */
const mysqlVariants: Variants = {
  statement: { text: 'select version()', params: [] },
  languageOf: (version) => (/mariadb/i.test(version) ? kinds.mariadb : kinds.mysql),
}

const vitess: Language = { dialect: ofSource(mysqlConversation), catalog: mysqlIntrospection }
const mariadbInConversation: Language = { dialect: ofSource(mariadbConversation), catalog: mariadbIntrospection }

const conversationVariants: Variants = {
  ...mysqlVariants,
  languageOf: (version) => (/mariadb/i.test(version) ? mariadbInConversation : vitess),
}

const kinds: Readonly<Record<SqlProvider, Kind>> = {
  postgres: {
    name: 'PostgreSQL',
    dialect: postgres,
    catalog: postgresIntrospection,
    variants: undefined,
    presets: [
      { id: 'supabase', name: 'Supabase', hint: 'db.<project>.supabase.co, port 5432' },
      { id: 'aurora-postgres', name: 'Amazon Aurora PostgreSQL', hint: '<cluster>.<region>.rds.amazonaws.com' },
      { id: 'rds-postgres', name: 'Amazon RDS for PostgreSQL', hint: '<instance>.<region>.rds.amazonaws.com' },
      { id: 'cloud-sql-postgres', name: 'Google Cloud SQL for PostgreSQL' },
      { id: 'azure-postgres', name: 'Azure Database for PostgreSQL', hint: '<server>.postgres.database.azure.com' },
      { id: 'crunchy-bridge', name: 'Crunchy Bridge', hint: 'p.<cluster>.db.postgresbridge.com' },
    ],
  },
  mysql: {
    name: 'MySQL',
    dialect: mysql,
    catalog: mysqlIntrospection,
    variants: mysqlVariants,
    presets: [
      { id: 'aurora-mysql', name: 'Amazon Aurora MySQL', hint: '<cluster>.<region>.rds.amazonaws.com' },
      { id: 'rds-mysql', name: 'Amazon RDS for MySQL', hint: '<instance>.<region>.rds.amazonaws.com' },
      { id: 'cloud-sql-mysql', name: 'Google Cloud SQL for MySQL' },
      { id: 'azure-mysql', name: 'Azure Database for MySQL', hint: '<server>.mysql.database.azure.com' },
    ],
  },
  mariadb: {
    name: 'MariaDB',
    dialect: mariadb,
    catalog: mariadbIntrospection,
    variants: mysqlVariants,
    presets: [
      { id: 'rds-mariadb', name: 'Amazon RDS for MariaDB', hint: '<instance>.<region>.rds.amazonaws.com' },
      { id: 'skysql', name: 'MariaDB Cloud' },
    ],
  },
  neon: {
    name: 'PostgreSQL over HTTP (Neon)',
    dialect: postgres,
    catalog: postgresIntrospection,
    variants: undefined,
    presets: [{ id: 'neon', name: 'Neon', hint: '<endpoint>.<region>.aws.neon.tech' }],
  },
  planetscale: {
    name: 'MySQL over HTTP (PlanetScale)',
    ...vitess,
    variants: conversationVariants,
    presets: [{ id: 'planetscale', name: 'PlanetScale', hint: 'aws.connect.psdb.cloud' }],
  },
}

export type SqlProvidersDeps = {
  readonly databases: SqlDatabases
  readonly clock: Clock
  /** Milliseconds for each statement that tests a connection or reads a catalog. */
  readonly timeLimit: number
}

/** Creates one provider per supported SQL database. */
export function createSqlProviders(deps: SqlProvidersDeps): readonly Provider[] {
  return sqlProviders.map((id) => createSqlProvider(id, deps))
}

function createSqlProvider(id: SqlProvider, { databases, clock, timeLimit }: SqlProvidersDeps): Provider {
  const { name, presets } = kinds[id]

  /** Adds a time limit to statements that run before it is known whether the database answers. */
  const timed = (driver: SqlDriver): CatalogDriver => ({
    query: (statement) => driver.query(statement, { timeLimit }),
    batch: (statements) => driver.batch(statements, { timeLimit }),
  })

  /** Runs `work` on a separate connection, which closes afterwards. */
  async function withConnection<T>(config: unknown, work: (driver: CatalogDriver) => Promise<T>): Promise<T> {
    const driver = databases.open(parseSqlTarget(id, config))
    try {
      return await work(timed(driver))
    } finally {
      await driver.close()
    }
  }

  return {
    id,
    name,
    origin: 'builtIn',
    availability: { kind: 'available' },
    presets,
    permissions: [],

    async requiredPermissions({ setting: { config } }) {
      parseSqlTarget(id, config)
      return []
    },

    test: ({ setting: { config } }) =>
      withConnection(config, async (driver) => {
        await explained(kinds[id].dialect, driver.query(PING))
        return 'passed' as const
      }),

    preview: ({ setting: { config } }) =>
      withConnection(config, async (driver) => describeSchema(await readSchema(await languageOf(id, driver), driver))),

    async open({ config }) {
      const target = parseSqlTarget(id, config)
      const driver = withCircuitBreaker(databases.open(target), clock)
      const timedDriver = timed(driver)
      const language = opened(() => languageOf(id, timedDriver))
      return {
        source: lazySource(
          opened(async () => openSqlSource({ driver, dialect: (await forQuery(language())).dialect })),
        ),
        introspect: async () => ({ ...(await readInTurn(await language(), timedDriver)), statements: [] }),
        look: async () => readSchema(await language(), timedDriver),
        digest: async (depth) => readDigest(await language(), timedDriver, depth),
        database: async () => ({ driver, place: targetPlace(target), ...(await language()) }),
        close: () => driver.close(),
      }
    },
  }
}

async function languageOf(id: SqlProvider, driver: CatalogDriver): Promise<Language> {
  const { dialect, catalog, variants } = kinds[id]
  if (variants === undefined) return { dialect, catalog }
  const [[text] = []] = await explained(dialect, driver.query(variants.statement))
  const spoken = variants.languageOf(text ?? '')
  return { dialect: spoken.dialect, catalog: spoken.catalog }
}

async function readSchema({ dialect, catalog }: Language, driver: CatalogDriver): Promise<SourceSchema> {
  const ask = (statement: Statement) => explained(dialect, askCatalog({ driver, catalog }, statement))
  const { schema } = await readCatalog({ driver, catalog }, await ask(catalog.statement({ kind: 'all' })), ask)
  return schema
}

async function readInTurn(language: Language, driver: CatalogDriver): Promise<Omit<Imported, 'statements'>> {
  const { dialect, catalog } = language
  const rows = await askInTurn(language, driver, catalog.statement({ kind: 'all' }))
  return readCatalog({ driver, catalog }, rows, (statement) =>
    explained(dialect, askCatalog({ driver, catalog }, statement)),
  )
}

async function readDigest(language: Language, driver: CatalogDriver, depth: DigestDepth): Promise<string> {
  const { dialect, catalog } = language
  const ask = (statement: Statement) => explained(dialect, askCatalog({ driver, catalog }, statement))
  const question = catalog.digest.statement({ kind: 'all' })
  const rows = await (depth === 'all' ? askInTurn(language, driver, question) : ask(question))
  return catalogDigest({ driver, catalog }, { rows, depth }, ask)
}

/** Waits for the migration lock first, because a crashed process may have left its last statement running. */
async function askInTurn({ dialect, catalog }: Language, driver: CatalogDriver, question: Statement): Promise<Rows> {
  const { take, release } = dialect.ddl.lock
  const before = [take, ...catalog.settings]
  const answers = await explained(dialect, driver.batch([...before, question, ...release]))
  return answers[before.length] ?? []
}

/** Throws errors of the database in the words of docs/contract.md#what-the-caller-sees. */
async function explained<T>(dialect: Dialect, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof SqlFault)) throw cause
    throw dialect.explain(cause) ?? new ServiceError('failed', 'Failed to query the database', { cause })
  }
}

/** Wraps errors of the first connection like errors of the query it was for. */
async function forQuery(language: Promise<Language>): Promise<Language> {
  try {
    return await language
  } catch (cause) {
    throw cause instanceof ServiceError ? queryFailed(cause) : cause
  }
}

/** Caches the first successful result of `open`. */
function opened<T>(open: () => Promise<T>): () => Promise<T> {
  let known: T | undefined
  return async () => {
    known ??= await open()
    return known
  }
}
