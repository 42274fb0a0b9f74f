/** Aliases, tables and columns of a statement: every table gets its own alias, every column is qualified by one. */
import type { Collection, PrimitiveField, RelationField } from '../../model/model.ts'
import type { Dialect } from '../dialect.ts'
import { empty, ident, type Sql, sql } from '../statement.ts'

/**
 * The alias of the current rows, a function that creates further aliases, and the end of each `select` in a condition. `named`
 * collects the columns that are compiled in it.
 */
export type Scope = {
  readonly dialect: Dialect
  readonly alias: string
  readonly next: () => Scope
  readonly lock: Sql
  readonly named: Set<string>
  /** True if this many more operands may be separate parameters, instead of one array. */
  readonly mayCount: (operands: number) => boolean
  /** Whether these rows belong to a condition, and whether no join can replace it there. */
  readonly place?: 'condition' | 'alternative'
}

/** Maximum such operands per statement: policies may have thousands of lists of a few operands each. */
const MOST_COUNTED = 200

/** `alias` names the first rows; it must differ from the generated ones (`t1`, `t2`, …). */
export function rootScope(dialect: Dialect, alias = 't0', lock = empty): Scope {
  let count = 1
  let counted = 0
  const mayCount = (operands: number) => {
    counted += operands
    return counted <= MOST_COUNTED
  }
  const next = (): Scope => ({ dialect, alias: `t${count++}`, next, lock, named: new Set(), mayCount })
  return { dialect, alias, next, lock, named: new Set(), mayCount }
}

export function table(collection: Pick<Collection, 'schema' | 'dbName'>): Sql {
  return collection.schema === undefined ? ident(collection.dbName) : ident(collection.schema, collection.dbName)
}

export function column(field: PrimitiveField, scope: Scope): Sql {
  scope.named.add(field.dbName)
  return ident(scope.alias, field.dbName)
}

export function joined({ joins }: RelationField, target: Scope, own: Scope): readonly Sql[] {
  return joins.map((pair) => sql`${keyColumn(pair.other, target)} = ${keyColumn(pair.own, own)}`)
}

/** A column of a key in the form for comparing with another. */
export function keyColumn(field: PrimitiveField, scope: Scope): Sql {
  const own = column(field, scope)
  return field.native ? scope.dialect.compared(own, field) : own
}
