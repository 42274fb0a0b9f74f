/** Rows that later statements of a transaction find again by the keys in a slot. */
import type { Collection, PrimitiveField } from '../../model/model.ts'
import { lacksKey } from '../../plan/names.ts'
import type { Cell, Order, Selection, UpdatePlan } from '../../plan/plan.ts'
import { queryFault } from '../../query/parse.ts'
import type { Dialect } from '../dialect.ts'
import { orderBy } from '../read/order.ts'
import { predicate } from '../read/predicate.ts'
import type { RowQuery } from '../read/row-query.ts'
import { keyColumn, rootScope, type Scope, table } from '../read/scope.ts'
import { rendered } from '../read.ts'
import { empty, ident, type Sql, sql } from '../statement.ts'
import { cellValue } from './lines.ts'
import type { KeptColumn, KeptRows } from './slots.ts'

/** Keeps the keys of the rows in order. */
export function keepKeys(
  dialect: Dialect,
  { collection, where, order, slot }: Pick<UpdatePlan, 'collection' | 'where' | 'order'> & { readonly slot: number },
): Iterable<Sql> {
  requireKey(collection)
  const scope = lockedScope(dialect)
  const columns = keptColumns(collection.identity, scope)
  return dialect.slots.keep(slot, { columns, from: [sql`${rowsOf(collection, where, scope)}${inOrder(order, scope)}`] })
}

/** The scope of rows that are locked, or that decide about others: in their current state, whatever was read before. */
export function lockedScope(dialect: Dialect): Scope {
  return rootScope(dialect, 't0', dialect.slots.share)
}

export function keptColumns(fields: readonly PrimitiveField[], { alias }: Scope): readonly KeptColumn[] {
  return fields.map((field) => ({ value: ident(alias, field.dbName), shape: field }))
}

/** The rows of the table whose keys are kept in `slot`; `changed` are key columns that a write has changed. */
export function kept(
  collection: Collection,
  slot: number,
  scope: Scope,
  changed: readonly Cell[] = [],
): readonly KeptRows[] {
  const { dialect, alias } = scope
  const key = collection.identity.map((field) => {
    const renewed = changed.find((cell) => cell.field === field)
    return { column: keyColumn(field, scope), shape: field, value: renewed && cellValue(renewed, dialect) }
  })
  const isPrimary = collection.primaryKey.length > 0 && !collection.isView
  return dialect.slots.rows(slot, { table: table(collection), alias, key, isPrimary })
}

/** Deletes the rows whose keys are kept in `slot`. */
export function deleteKept(collection: Collection, slot: number, dialect: Dialect): readonly Sql[] {
  return kept(collection, slot, rootScope(dialect, collection.dbName)).map(({ targets }) => dialect.delete(targets))
}

/** Reads the items whose keys are kept in `slot`, in that order. */
export function readBack(
  dialect: Dialect,
  what: {
    readonly collection: Collection
    readonly slot: number
    readonly selection: Selection
    readonly changed?: readonly Cell[]
  },
): readonly Sql[] {
  const { collection, slot, selection, changed } = what
  return kept(collection, slot, rootScope(dialect), changed).map(({ from, order }) => {
    const scope = rootScope(dialect)
    return dialect.writtenList({ ...wholly(from(undefined), selection, scope), order })
  })
}

/** Refuses a collection without a key, because its rows cannot be found again. */
export function requireKey(collection: Collection): void {
  if (collection.identity.length > 0) return
  throw queryFault('body', `cannot be written: ${lacksKey(collection)}, so what was written is not known`)
}

export function inOrder(order: readonly Order[], scope: Scope): Sql {
  const terms = orderBy(order, scope)
  return terms === undefined ? empty : sql` order by ${terms}`
}

/** All rows of `from`. */
export function wholly(from: Sql, selection: Selection, scope: Scope): RowQuery {
  return { ...rendered(selection, scope), from, order: undefined, page: undefined, isIndexed: false }
}

/** If a key finds rows in a table and in inheriting tables, takes that of the table itself. */
export function firstOf(collection: Collection, { dialect, alias }: Scope): Sql {
  if (!collection.isInherited || dialect.ownFirst === undefined) return empty
  return sql` order by ${dialect.ownFirst(table(collection), alias)} limit 1`
}

export function rowsOf(collection: Collection, where: UpdatePlan['where'], scope: Scope): Sql {
  return sql` from ${table(collection)} ${ident(scope.alias)} where ${predicate(where, scope)}`
}
