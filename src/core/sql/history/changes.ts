/**
 * Reads the history of one item: one statement, so that rights are those of the same moment as what they show. What was recorded
 * before the item of now is asked for only where every row may be read.
 */
import type { ChangesPlan, RecordedChanges } from '../../plan/history/changes.ts'
import { fieldEquals } from '../../plan/names.ts'
import { all, and } from '../../query/filter.ts'
import { MAX_TEXT } from '../answer-bound.ts'
import type { TableRef } from '../change.ts'
import type { Dialect, Rows } from '../dialect.ts'
import { predicate } from '../read/predicate.ts'
import { column, rootScope, table } from '../read/scope.ts'
import { listed } from '../read.ts'
import { compileTemplate, ident, integer, join, literal, type Sql, type StatementTemplate, sql } from '../statement.ts'
import { itemOf } from './recorded.ts'

/** Bytes of the changes of a page, where they are several. */
const MAX_PAGE = 1024 * 1024

/** The row of a page has the columns that `readChanges` knows. */
export function compileChanges(plan: ChangesPlan, changes: TableRef, dialect: Dialect): StatementTemplate {
  const { item, isWhole, before, limit } = plan
  const { collection } = item
  const own = (alias: string) =>
    sql`${ident(alias)}.collection_id = ${literal(collection.id)} and ${ident(alias)}.item = i.k`
  const firstChange = sql`(select max(b.id) from ${table(changes)} b where ${own('b')} and b.action = 'create')`
  const conditions = [
    own('e'),
    ...(isWhole ? [] : [sql`i.a is not null`, sql`e.id >= coalesce(${firstChange}, 0)`]),
    ...(before === undefined ? [] : [sql`e.id < ${dialect.typed(int64, before)}`]),
    ...(hidesFields(plan) ? [sql`(e.action <> 'update' or ${mentions(plan)})`] : []),
  ]
  const size = sql`coalesce(octet_length(e.before), 0) + coalesce(octet_length(e.after), 0)`
  const at = dialect.wire(ident('e', 'at'), { type: { name: 'dateTimeWithTimezone' }, isList: false })
  const page = sql`select i.a, ${firstChange} as c, e.id, ${at} as t, e.actor, e.action, e.before, e.after,
      ${size} as s, sum(${size}) over (order by e.id desc) as w
    from (select (${dialect.one(listed(item, rootScope(dialect)))}) as a, ${itemExpression(plan, dialect)} as k) i
    left join ${table(changes)} e on ${join(conditions, sql` and `)}
    order by e.id desc limit ${integer(limit)}`
  // However large the first one is, it comes.
  const isWithin = sql`p.w <= ${integer(MAX_PAGE)} or (p.w = p.s and p.w <= ${integer(MAX_TEXT)})`
  const bounded = (name: string) => sql`case when ${isWithin} then p.${ident(name)} end`
  const text = (value: Sql) => dialect.wire(value, int64)
  return compileTemplate(
    sql`select p.a, ${text(sql`p.c`)}, ${text(sql`p.id`)}, p.t, p.actor, p.action, ${bounded('before')}, ${bounded('after')},
      case when ${isWithin} then '' end from (${page}) p order by p.id desc`,
    dialect,
  )
}

/** `isCut`: what follows would be more than one answer may have. */
export type RecordedPage = RecordedChanges & { readonly isCut: boolean }

export function readChanges(rows: Rows): RecordedPage {
  const [[item = null, firstChange = null] = []] = rows
  const kept = rows.filter((row) => row[2] !== null && row[8] === '')
  return {
    item,
    firstChange: firstChange === null ? undefined : (JSON.parse(firstChange) as string),
    isCut: rows.some((row) => row[2] !== null && row[8] !== ''),
    changes: kept.map(([, , id, at, actor = null, action, before = null, after = null]) => ({
      id: JSON.parse(id ?? '') as string,
      at: JSON.parse(at ?? '') as string,
      actor,
      action: action ?? '',
      before,
      after,
    })),
  }
}

const int64 = { type: { name: 'int64' }, isList: false } as const

/** As its row renders the key, or what was sent where there is none: a number may be written in several ways. */
function itemExpression({ item, key }: ChangesPlan, dialect: Dialect): Sql {
  const fields = key.map(({ field }) => field)
  const scope = rootScope(dialect, 'k0')
  const where = predicate(and(key.map(({ field, text }) => fieldEquals(field, all, text))), scope)
  const known = sql`select ${itemOf(fields, (field) => column(field, scope), dialect)} from ${table(item.collection)} ${ident('k0')} where ${where}`
  const texts = new Map(key.map(({ field, text }) => [field.id, text]))
  const sent = itemOf(fields, (field) => dialect.typed(field, texts.get(field.id) ?? ''), dialect)
  return sql`coalesce((${known}), ${sent})`
}

function hidesFields({ item, seen }: ChangesPlan): boolean {
  return seen.length < item.collection.primitives.length
}

/** Whether a change may have a field that is shown; values may have such texts as well. */
function mentions({ seen }: ChangesPlan): Sql {
  const named = seen.map(({ field }) => sql`e.before like ${literal(`%${JSON.stringify(field.id)}:%`)}`)
  return named.length === 0 ? sql`1 = 0` : join(named, sql` or `)
}
