/** The databases of the property tests: what each stores, and how a filled one is started. */
import { decodeJson } from '../../../src/core/model/codec.ts'
import type { FieldType, TypeName } from '../../../src/core/model/field-type.ts'
import { buildModel, type Collection, type Model, type PrimitiveField } from '../../../src/core/model/model.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { mariadb } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { compile, empty, ident, join, type SqlParam, type Statement, sql } from '../../../src/core/sql/statement.ts'
import { openMysql } from '../../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { startMariadb } from '../../support/servers/mariadb.ts'
import { startPostgres } from '../../support/servers/postgres.ts'
import type { Row, Rows } from './rows.ts'
import { makeShop, type Shop } from './shop.ts'
import type { Storage } from './values.ts'

export type Database = {
  readonly dialect: Dialect
  readonly shop: Shop
  readonly storage: Storage
  /** Of texts that are neither keys nor references; undefined for the service's own. */
  readonly collation?: string
  /** Types whose order is the database's own, so that the oracle does not know it. */
  readonly unsorted: readonly TypeName[]
  readonly start: () => Promise<{ readonly driver: SqlDriver; readonly close: () => Promise<void> }>
}

type Columns = { readonly postgres: readonly string[]; readonly mariadb: readonly string[] }

const onBoth = (...texts: readonly string[]): Columns => ({ postgres: texts, mariadb: texts })
const onMariadb = (...texts: readonly string[]): Columns => ({ postgres: [], mariadb: texts })

/** The columns of each type that a database stores. */
const columnsByType: Readonly<Record<TypeName, Columns>> = {
  int8: onMariadb('int8'),
  uint8: onMariadb('uint8'),
  uint16: onMariadb('uint16'),
  uint32: onMariadb('uint32'),
  uint64: onMariadb('uint64'),
  int16: onBoth('int16'),
  int32: onBoth('int32'),
  int64: onBoth('int64'),
  float32: onBoth('float32'),
  float64: onBoth('float64'),
  decimal: { postgres: ['decimal(12,4)', 'decimal'], mariadb: ['decimal(12,4)'] },
  string: onBoth('string', 'string(12)'),
  uuid: onBoth('uuid'),
  boolean: onBoth('boolean'),
  date: onBoth('date'),
  time: onBoth('time'),
  dateTime: onBoth('dateTime'),
  dateTimeWithTimezone: onBoth('dateTimeWithTimezone'),
  json: onBoth('json'),
  bytes: onBoth('bytes'),
  geometry: onMariadb('geometry'),
}

const columnsOn = (database: keyof Columns) => Object.values(columnsByType).flatMap((columns) => columns[database])

export const postgresDatabase: Database = {
  dialect: postgres,
  shop: makeShop(
    columnsOn('postgres'),
    columnsOn('postgres').map((type) => `${type}[]`),
  ),
  storage: {
    uuidVersions: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    instants: ['0001-01-01T00:00:00', '9999-12-31T23:59:59'],
  },
  unsorted: ['json'],
  async start() {
    const server = await startPostgres()
    const driver = openPostgres({ connectionString: server.url })
    return { driver, close: () => driver.close().then(server.close) }
  },
}

export const mariadbDatabase: Database = {
  dialect: mariadb,
  shop: makeShop(columnsOn('mariadb'), []),
  storage: {
    uuidVersions: [1, 2, 3, 4, 5, 6, 7],
    instants: ['1970-01-01T00:00:01', '2038-01-19T03:14:06'],
  },
  unsorted: ['json', 'uuid'],
  async start() {
    const server = await startMariadb()
    const driver = openMysql(server)
    return { driver, close: () => driver.close().then(server.close) }
  },
}

/**
 * The same where columns take texts that differ in case, accents or blanks at the end for equal, as imported ones do.
 * Keys and references keep their own: no two of their texts may be equal, and what is equal there refers to each other.
 */
export function withCollation(database: Database, collation: string): Database {
  return { ...database, collation, unsorted: [...database.unsorted, 'string'] }
}

/** PostgreSQL with a collation that takes texts which differ in case or accents for equal. */
export const looseDatabase: Database = {
  ...withCollation(postgresDatabase, 'loose'),
  async start() {
    const started = await postgresDatabase.start()
    const text = "create collation loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    await started.driver.query({ text, params: [] })
    return started
  },
}

/** The model as an import of these tables makes it. */
export function importedModel(model: Model, { collation }: Database): Model {
  if (collation === undefined) return model
  const primitiveFields = model.records.primitiveFields.map((field) => ({ ...field, isLoose: true }))
  return buildModel(model.version, { ...model.records, primitiveFields })
}

/** Tables by the dialect's column types, rows by plain inserts. */
export async function fill(driver: SqlDriver, database: Database, model: Model, rows: Rows): Promise<void> {
  const { dialect, collation } = database
  for (const collection of model.byName.values()) {
    await driver.query(compile(createTable(collection, dialect), dialect))
    for (const statement of collation === undefined ? [] : collated(collection, dialect, collation)) {
      await driver.query(statement)
    }
    const items = rows[collection.apiName] ?? []
    for (let start = 0; start < items.length; start += 50) {
      await driver.query(compile(insert(collection, items.slice(start, start + 50), dialect), dialect))
    }
  }
}

function createTable({ dbName, primitives, primaryKey }: Collection, dialect: Dialect) {
  const columns = primitives.map(({ dbName: name, type, isList, isNullable }) => {
    const columnType = dialect.columnType(type, isList)
    if (columnType === undefined) throw new Error(`${dialect.title} does not store ${type.name}`)
    return sql`${ident(name)} ${columnType} ${isNullable ? sql`null` : sql`not null`}`
  })
  const names = primaryKey.map((field) => ident(field.dbName))
  return sql`create table ${ident(dbName)} (${join(columns)}${names.length === 0 ? empty : sql`, primary key (${join(names)})`})`
}

function collated(collection: Collection, dialect: Dialect, collation: string): readonly Statement[] {
  const { dbName, primitives, relations, indexes } = collection
  const keys = [
    ...indexes.flatMap(({ fields }) => fields),
    ...relations.flatMap(({ joins }) => joins.map(({ own }) => own)),
  ]
  // Rows without a key are told apart, and ordered, by all that they hold.
  const columns = indexes.length === 0 ? [] : primitives.filter(({ type }) => type.name === 'string')
  return columns
    .filter((field) => !keys.includes(field))
    .map(({ dbName: name, type, isList, isNullable }) => {
      const [table, column] = [dbName, name].map(dialect.quote)
      if (dialect === postgres) {
        const columnType = compile(dialect.columnType(type, isList) ?? empty, dialect).text
        return { text: `alter table ${table} alter ${column} type ${columnType} collate ${collation}`, params: [] }
      }
      const { params } = type as Extract<FieldType, { name: 'string' }>
      const size = params.length === 'unlimited' ? 'longtext' : `varchar(${params.value})`
      const nullity = isNullable ? 'null' : 'not null'
      const text = `alter table ${table} modify ${column} ${size} character set utf8mb4 collate ${collation} ${nullity}`
      return { text, params: [] }
    })
}

function insert({ dbName, primitives }: Collection, items: readonly Row[], dialect: Dialect) {
  const rows = items.map((item) => {
    const cells = primitives.map((field) => dialect.typed(field, encoded(field, item[field.apiName])))
    return sql`(${join(cells)})`
  })
  return sql`insert into ${ident(dbName)} values ${join(rows)}`
}

function encoded({ apiName, type, isList }: PrimitiveField, value: unknown): SqlParam {
  if (value === undefined || value === null) return null
  const decoded = decodeJson(type, isList, value)
  if ('fault' in decoded) throw new Error(`${apiName} ${decoded.fault}`)
  return decoded.ok
}
