/**
 * Reads the history of one item from the system database in one statement, so that rights and records are of the same moment.
 * Steps from each visible change to the previous one; hidden changes count neither by number nor by size.
 */
import { parseJson } from '../../exact-json.ts'
import type { ChangesPlan, RecordedChanges } from '../../plan/history/changes.ts'
import { fieldEquals } from '../../plan/names.ts'
import { all, and } from '../../query/filter.ts'
import type { TableRef } from '../ddl/change.ts'
import type { Dialect, Rows } from '../dialect.ts'
import { conjuncts, predicate, whereVisible } from '../read/predicate.ts'
import { column, rootScope, table } from '../read/scope.ts'
import {
  compileTemplate,
  empty,
  ident,
  integer,
  join,
  literal,
  param,
  type Sql,
  type StatementTemplate,
  sql,
} from '../statement.ts'
import { idsOf, itemOf } from './recorded.ts'

/** Maximum bytes of the changes of a page, if there are several. */
const MAX_PAGE = 1024 * 1024

/**
 * The first row of a page is not a change. The last row is emptied if it exceeds the limit or size, which shows that more
 * changes follow. `readChanges` parses the columns.
 */
export function compileChanges(plan: ChangesPlan, changes: TableRef, dialect: Dialect): StatementTemplate {
  const { item, isWhole, before, limit } = plan
  const { collection } = item
  const own = (entry: string, item: string) =>
    sql`${ident(entry)}.collection_id = ${literal(collection.id)} and ${ident(entry)}.item = ${ident(item)}.k`
  const isOfNow = sql`i.f is not null and e.id >= coalesce(i.c, 0)`
  const shown = isWhole ? sql`case when ${isOfNow} then i.f else ${idsOf(plan.always)} end` : sql`i.f`
  const isUnknown = sql`e.before is null and e.after is null and cardinality(${shown}) = ${integer(collection.primitives.length)}`
  const conditions = [
    sql`${own('e', 'i')} and e.id < p.id`,
    sql`(e.fields && ${shown} or (${isUnknown}))`,
    ...(isWhole ? [] : [isOfNow]),
  ]
  const earlier = sql`select e.*, ${shown} as f from ${table(changes)} e
    where ${join(conditions, sql` and `)} order by e.id desc limit 1`
  // After a change that no longer exists there is none.
  const start =
    before === undefined
      ? sql`9223372036854775807`
      : sql`(select b.id from ${table(changes)} b where ${own('b', 'i')} and b.mark = ${param(before)}::uuid)`
  const isOnPage = sql`p.n <= 1 or (p.n <= ${integer(limit)} and p.w <= ${integer(MAX_PAGE)})`
  const size = sql`coalesce(octet_length(s.before), 0) + coalesce(octet_length(s.after), 0)`
  const onPage = (name: string) => sql`case when ${isOnPage} then p.${ident(name)} end`
  return compileTemplate(
    sql`with recursive r as (select (${fieldsOf(plan, dialect)}) as f, ${itemExpression(plan, dialect)} as k),
      i as (select r.*, (select max(b.id) from ${table(changes)} b
        where ${own('b', 'r')} and b.action = 'create') as c from r),
      p as (
        select 0 as n, 0 as w, ${start} as id, null::uuid as mark, null::timestamptz as at, null::text as actor, null::text as action,
          null::text as before, null::text as after
        from i
        union all
        select p.n + 1, p.w + ${size}, e.id, e.mark, e.at, e.actor, e.action, s.before, s.after
        from i, p, lateral (${earlier}) e,
          lateral (select ${stateOf('before', plan)} as before, ${stateOf('after', plan)} as after) s
        where ${isOnPage})
    select case when i.f is not null then '' end, p.mark::text,
      ${dialect.wire(ident('p', 'at'), time)}, p.actor, p.action, ${onPage('before')}, ${onPage('after')},
      case when ${isOnPage} then '' end
    from p, i order by p.n`,
    dialect,
  )
}

/** Parses the rows of a page. */
export function readChanges([first, ...rows]: Rows): RecordedChanges {
  const shown = rows.filter((row) => row[7] === '')
  return {
    isThere: first?.[0] === '',
    isLast: shown.length === rows.length,
    changes: shown.map(([, mark, at, actor = null, action, before = null, after = null]) => ({
      mark: mark ?? '',
      at: parseJson(at ?? '') as string,
      actor,
      action: action ?? '',
      before,
      after,
    })),
  }
}

const time = { type: { name: 'dateTimeWithTimezone' }, isList: false } as const

/** The ids of the fields that the caller can see of the item now; null if the caller cannot read the item. */
function fieldsOf({ item: { collection, selection, where } }: ChangesPlan, dialect: Dialect): Sql {
  const scope = rootScope(dialect)
  const ids = selection.map(({ name, visible }) => whereVisible(sql`${literal(name)}::uuid`, visible, scope))
  const condition = conjuncts(where, scope)
  const found = condition.length === 0 ? empty : sql` where ${join(condition)}`
  return sql`select array_remove(array[${join(ids)}]::uuid[], null) from ${table(collection)} ${ident(scope.alias)}${found}`
}

/** The visible part of a state, by field name. */
function stateOf(state: 'before' | 'after', { seen }: ChangesPlan): Sql {
  const names = sql`array[${join(seen.map(({ apiName }) => literal(`${JSON.stringify(apiName)}:`)))}]::text[]`
  return sql`case when e.${ident(state)} is not null then (
    select concat('{', string_agg(concat(names.name, v.value), ',' order by names.n), '}')
    from unnest(e.fields, e.${ident(state)}) v(id, value)
    join unnest(${idsOf(seen)}, ${names}) with ordinality names(id, name, n) on names.id = v.id
    where v.id = any(e.f)) end`
}

/** The item's id, by its row's key, or by the sent key without a row: a number may be written in several ways. */
function itemExpression({ item, key }: ChangesPlan, dialect: Dialect): Sql {
  const fields = key.map(({ field }) => field)
  const scope = rootScope(dialect, 'k0')
  const where = predicate(and(key.map(({ field, text }) => fieldEquals(field, all, text))), scope)
  const known = sql`select ${itemOf(fields, (field) => column(field, scope), dialect)} from ${table(item.collection)} ${ident('k0')} where ${where}`
  const texts = new Map(key.map(({ field, text }) => [field.id, text]))
  const sent = itemOf(fields, (field) => dialect.typed(field, texts.get(field.id) ?? ''), dialect)
  return sql`coalesce((${known}), ${sent})`
}
