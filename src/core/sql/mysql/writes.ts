/** Statements that change rows, with `returning` if supported. */
import type { DirectWrite, Marker, Setting, WriteQueue } from '../dialect.ts'
import { insert } from '../insert.ts'
import type { RowQuery } from '../read/row-query.ts'
import { empty, ident, join, type Sql, sql, withRowHandler } from '../statement.ts'
import type { Targets } from '../write/slots.ts'
import { usedUp } from './explain.ts'
import type { Family } from './family.ts'
import { ordering, row } from './rows.ts'
import { allDefaults, isMixed, nonEmpty } from './slots.ts'

const lockName = `concat('service:writes:', md5(ifnull(database(), '')))`

/** A session lock. After some seconds without the lock, the write continues; a failed or ended session releases it as well. */
export const writeQueue: WriteQueue = {
  take: { text: `select get_lock(${lockName}, 5)`, params: [] },
  release: [{ text: `select release_lock(${lockName})`, params: [] }],
  patience: undefined,
  remaining: usedUp,
}

export function update(targets: Targets, settings: readonly Setting[]): Sql {
  const sets = join(settings.map(({ column, value }) => sql`${ident(targets.alias, column)} = ${value}`))
  return sql`update ${rowsOf(targets)} set ${sets} where ${targets.where}`
}

/** Uses no alias, which `delete` would look up in the connection's own database. */
export function remove({ table, where, isByPrimaryKey }: Targets): Sql {
  return isByPrimaryKey
    ? sql`delete ${table} from ${table}${byKey} where ${where}`
    : sql`delete from ${table} where ${where}`
}

/**
 * Some proxies report the number of changed instead of found rows, so zero may also mean an unchanged row. Then the row is
 * queried, and changed again, because others may have inserted it meanwhile.
 */
export function updateOne(targets: Targets, settings: readonly Setting[], { text }: Marker): Sql {
  const changed = update(targets, settings)
  const found = sql`select 1 from ${rowsOf(targets)} where ${targets.where} for update`
  const again = nonEmpty(found, text, changed)
  return withRowHandler(changed, (_, matched) => (matched === 0 ? again : undefined))
}

function rowsOf({ table, alias, isByPrimaryKey }: Targets): Sql {
  return sql`${table} ${ident(alias)}${isByPrimaryKey ? byKey : empty}`
}

/** A small table would be scanned otherwise, which waits for rows that others insert: two such writes would deadlock. */
const byKey = sql` force index (primary)`

/** Uses `returning`, which supports no alias and, for deleted rows, no other tables. */
export function written(
  write: DirectWrite,
  rendered: (from: Sql, alias: string) => RowQuery,
  own: Family,
): Sql | undefined {
  if (write.kind === 'update' || inner.test(write.name)) return undefined
  const rows = rendered(empty, write.name)
  if (rows.members.some(({ value }) => readsOtherTables(value, write.name))) return undefined
  const answer = row(rows, own)
  if (write.kind === 'delete') {
    const { table, where } = write.targets(write.name)
    return sql`delete from ${table} where ${where}${ordering(rows.order)} returning ${answer} as r`
  }
  if (isMixed(write.insertion)) return undefined
  return sql`${insert(write.insertion, { allDefaults })} returning ${answer} as r`
}

/** Aliases of tables in subqueries. */
const inner = /^t\d+$/i

function readsOtherTables({ parts }: Sql, name: string): boolean {
  return parts.some((part) => part.kind === 'ident' && part.names.length > 1 && part.names[0] !== name)
}
