/**
 * Reads a database's schema with one statement whose rows are JSON texts. Catalogs differ by dialect; their rows have
 * the common form `CatalogRow`, in any order, and are assembled here.
 */
import type { TypeName } from '../model/field-type.ts'
import type { IndexKind, ReferentialAction } from '../model/model.ts'
import type { ReadCheck } from './checks/expression.ts'
import type { Rows } from './dialect.ts'
import type {
  SkippedTable,
  SourceColumn,
  SourceForeignKey,
  SourceIndex,
  SourceSchema,
  SourceTable,
} from './source-schema.ts'
import type { Statement } from './statement.ts'
import { tableName } from './table-choice.ts'

/** The schemas to read; `all` means those that the connection can use, except the database's own. */
export type IntrospectionScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'schemas'; readonly names: readonly string[] }

export type Introspection = {
  /** Run before each statement about the catalog, in the same transaction, for which alone they apply. */
  readonly settings: readonly Statement[]
  readonly statement: (scope: IntrospectionScope) => Statement
  readonly digest: Digest
  /** A further query about the rows of `statement`, if the catalog does not determine a type. */
  readonly inspect?: (rows: Rows) => Statement | undefined
  /** Parses the rows of both; `readCheck` parses check constraints, which few Workers need (decision 036). */
  readonly parse: (rows: Rows, inspected?: Rows, readCheck?: ReadCheck) => SourceSchema
  /** Undefined if the database has no ids. */
  readonly identities?: Identities
}

/** A text that differs whenever the rows of the catalog differ. */
export type Digest = {
  /** Computes only the digest, if that is faster than the rows; otherwise returns the rows. */
  readonly statement: (scope: IntrospectionScope) => Statement
  /** The digest, from the rows of this statement or from those of the catalog of the same moment. */
  readonly of: (rows: Rows) => string
}

/** Reads the ids of some tables; a table without a schema is in the default schema. */
export type Identities = {
  /** One value: the id of the cluster, within which ids are unique. The database may deny it. */
  readonly cluster: Statement
  /** One row: the default schema, and the name of the database. */
  readonly here: Statement
  /** Returns which of these names exist in another schema than this one (or the default schema), without duplicates. */
  readonly elsewhere: (names: readonly string[], schema: string | undefined) => Statement
  /** The name of the sequence for an auto-increment column of a new table. */
  readonly sequence: (table: string, column: string) => string
  readonly statement: (places: readonly { readonly schema: string | null; readonly dbName: string }[]) => Statement
  readonly parse: (rows: Rows) => IdentifiedTables
}

export type IdentifiedTables = {
  readonly defaultNamespace: string | undefined
  readonly tables: readonly (Pick<SourceTable, 'schema' | 'dbName' | 'identity'> & {
    readonly columns: readonly { readonly dbName: string }[]
  })[]
}

type Place = { readonly schema: string; readonly table: string }

/** Indexes and foreign keys have one row per column, ordered by `position`. */
export type CatalogRow =
  | { readonly kind: 'database'; readonly schema: string | null }
  | { readonly kind: 'namespace'; readonly schema: string }
  | (Place & {
      readonly kind: 'table'
      readonly isReadOnly: boolean
      readonly isView: boolean
      readonly isInherited?: boolean
      readonly isTriggering?: boolean
      readonly id?: string
    })
  /** An omitted column, or an omitted table if `column` is null. */
  | (Place & { readonly kind: 'skipped'; readonly column: string | null; readonly reason: string })
  | (Place & { readonly kind: 'column'; readonly position: number; readonly column: SourceColumn })
  | (Place & {
      readonly kind: 'index'
      readonly name: string
      readonly index: IndexKind
      readonly position: number
      /** Null for an expression, or for a prefix of a column. */
      readonly column: string | null
    })
  | (Place & {
      readonly kind: 'foreignKey'
      readonly name: string
      readonly position: number
      readonly column: string
      readonly references: Place & { readonly column: string }
      readonly onDelete: ReferentialAction
      readonly onUpdate: ReferentialAction
    })

/** The catalog's names for types without parameters; an empty list if the database lacks the type. */
export type CatalogNames = Readonly<Record<PlainName, readonly string[]>>

type PlainName = Exclude<TypeName, 'string' | 'decimal'>

export function typesByCatalogName(names: CatalogNames): ReadonlyMap<string, PlainName> {
  const types = Object.keys(names) as PlainName[]
  return new Map(types.flatMap((type) => names[type].map((name) => [name, type] as const)))
}

type RowOf<Kind extends CatalogRow['kind']> = Extract<CatalogRow, { readonly kind: Kind }>

export function assembleSchema(rows: readonly CatalogRow[]): SourceSchema {
  const columns = Map.groupBy(ofKind(rows, 'column'), placeOf)
  const indexes = Map.groupBy(ofKind(rows, 'index'), placeOf)
  const foreignKeys = Map.groupBy(ofKind(rows, 'foreignKey'), placeOf)
  const tables = ofKind(rows, 'table').map((row): SourceTable => {
    const place = placeOf(row)
    const ordered = sorted(columns.get(place) ?? [], ({ position }) => position)
    const own = ordered.map(({ column }) => column)
    const positions = ordered.map(({ position }) => String(position))
    const names = new Set(own.map(({ dbName }) => dbName))
    return {
      schema: row.schema,
      dbName: row.table,
      isReadOnly: row.isReadOnly,
      isView: row.isView,
      ...(row.isInherited && { isInherited: true as const }),
      ...(row.isTriggering && { isTriggering: true as const }),
      columns: row.isReadOnly ? own.map(untouchable) : own,
      indexes: parts(indexes.get(place) ?? []).flatMap((columns) => indexOf(columns, names)),
      foreignKeys: parts(foreignKeys.get(place) ?? []).flatMap(foreignKeyOf),
      ...(row.id !== undefined && { identity: { id: row.id, columns: positions } }),
    }
  })
  const [database] = ofKind(rows, 'database')
  return {
    defaultNamespace: database?.schema ?? undefined,
    knowsRelations: true,
    namespaces: sorted(
      ofKind(rows, 'namespace').map(({ schema }) => schema),
      (name) => name,
    ),
    tables: sorted(tables, ({ schema, dbName }) => `${schema}\0${dbName}`),
    skipped: sorted(ofKind(rows, 'skipped').map(skippedOf), ({ table, reason }) => `${table}\0${reason}`),
  }
}

export const NOT_PERMITTED = 'the database user may not read it'

function skippedOf({ schema, table, column, reason }: RowOf<'skipped'>): SkippedTable {
  const isColumn = column !== null
  return { table: tableName({ schema, dbName: table }), reason: isColumn ? `column ${column}: ${reason}` : reason }
}

/** Rows are never inserted into a view, so its defaults are omitted. */
function untouchable(column: SourceColumn): SourceColumn {
  return { ...column, isReadOnly: true, defaultKind: 'none' }
}

function indexOf(columns: readonly RowOf<'index'>[], known: ReadonlySet<string>): readonly SourceIndex[] {
  const [first] = columns
  const names = columns.flatMap(({ column }) => (column !== null && known.has(column) ? column : []))
  if (first === undefined || names.length < columns.length) return []
  return [{ dbName: first.name, kind: first.index, columns: [...new Set(names)], isImplied: false }]
}

function foreignKeyOf(columns: readonly RowOf<'foreignKey'>[]): readonly SourceForeignKey[] {
  const [first] = columns
  if (first === undefined) return []
  const { schema, table } = first.references
  return [
    {
      dbName: first.name,
      columns: columns.map(({ column }) => column),
      references: { schema, dbName: table, columns: columns.map(({ references }) => references.column) },
      onDelete: first.onDelete,
      onUpdate: first.onUpdate,
    },
  ]
}

/** Groups rows by name, in order. */
function parts<T extends { readonly name: string; readonly position: number }>(rows: readonly T[]): readonly T[][] {
  const named = Map.groupBy(
    sorted(rows, ({ position }) => position),
    ({ name }) => name,
  )
  return sorted([...named], ([name]) => name).map(([, columns]) => columns)
}

function placeOf({ schema, table }: Place): string {
  return `${schema}\0${table}`
}

function ofKind<Kind extends CatalogRow['kind']>(rows: readonly CatalogRow[], kind: Kind): readonly RowOf<Kind>[] {
  return rows.filter((row): row is RowOf<Kind> => row.kind === kind)
}

function sorted<T, Key extends string | number>(values: readonly T[], keyOf: (value: T) => Key): T[] {
  return [...values].sort((one, other) => {
    const [first, second] = [keyOf(one), keyOf(other)]
    return first < second ? -1 : first > second ? 1 : 0
  })
}
