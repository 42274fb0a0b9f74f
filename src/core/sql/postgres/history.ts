/**
 * Records changes by a trigger of the table (docs/contract.md#history). Its function names the columns of the model, and is
 * made anew with them. It compares what is stored: of some types no two values are equal, and others show equal ones in
 * several ways.
 */
import { MAX_TEXT } from '../answer-bound.ts'
import type { Recorded, RecordedColumn, TableRef } from '../change.ts'
import type { ChangeOf, Dialect, HistoryDdl } from '../dialect.ts'
import { HISTORY_TRIGGER, itemOf, recordedMembers } from '../history/recorded.ts'
import { table } from '../read/scope.ts'
import { compile, ident, integer, join, literal, type Sql, sql } from '../statement.ts'
import { object } from './rows.ts'

export const postgresHistory: HistoryDdl = { record, end, forget }

function record({ table: ref, recorded }: ChangeOf<'recordHistory'>, dialect: Dialect): readonly Sql[] {
  const text = literal(compile(body(recorded, dialect), dialect).text)
  const named = functionOf(recorded)
  return [
    sql`create or replace function ${named}() returns trigger language plpgsql as ${text}`,
    dropTrigger(ref),
    sql`create trigger ${trigger} after insert or update or delete on ${table(ref)} for each row execute function ${named}()`,
  ]
}

function end({ table: ref, recorded, isDropped }: ChangeOf<'endHistory'>): readonly Sql[] {
  return [...(isDropped ? [] : [dropTrigger(ref)]), sql`drop function if exists ${functionOf(recorded)}()`]
}

function forget({ collectionId, changes }: Recorded, fieldIds: readonly string[]): readonly Sql[] {
  if (fieldIds.length === 0) return []
  const ids = sql`array[${join(fieldIds.map(literal))}]`
  const without = (column: Sql) => sql`(${column}::jsonb - ${ids})::text`
  const has = (column: Sql) => sql`${column}::jsonb ?| ${ids}`
  const [before, after] = [sql`before`, sql`after`]
  return [
    sql`update ${table(changes)} set before = ${without(before)}, after = ${without(after)}
      where collection_id = ${literal(collectionId)} and (${has(before)} or ${has(after)})`,
  ]
}

const trigger = ident(HISTORY_TRIGGER)

function dropTrigger(ref: TableRef): Sql {
  return sql`drop trigger if exists ${trigger} on ${table(ref)}`
}

function functionOf({ changes: { schema }, collectionId }: Pick<Recorded, 'changes' | 'collectionId'>): Sql {
  const name = `record_${collectionId}`
  return schema === undefined ? ident(name) : ident(schema, name)
}

/**
 * An update that gives a row another key ends the history of one item and begins that of another. Values are rendered by
 * assignments, which cost a tenth of what they do within a statement.
 */
function body(recorded: Recorded, dialect: Dialect): Sql {
  const { key, columns } = recorded
  const whole = (row: Row) => object(recordedMembers(columns, valueIn(row), dialect))
  const item = (row: Row) => itemOf(key, valueIn(row), dialect)
  const isSameKey = join(
    key.map((column) => sql`not (${isChanged(column)})`),
    sql` and `,
  )
  return sql`declare
  actor text := nullif(current_setting('service.actor', true), '');
  item text;
  held text;
  told text;
begin
  if tg_op = 'UPDATE' then
    if ${isSameKey} then
      held := ${changed(columns, 'old', dialect)};
      if held = '' then return null; end if;
      item := ${item('new')};
      held := '{' || held || '}';
      told := '{' || ${changed(columns, 'new', dialect)} || '}';
      ${entry(recorded, 'update')};
      return null;
    end if;
  end if;
  if tg_op <> 'INSERT' then
    item := ${item('old')};
    if ${sizeOf(columns)} <= ${integer(MAX_TEXT)} then held := ${whole('old')}; end if;
    ${entry(recorded, 'delete')};
  end if;
  if tg_op <> 'DELETE' then
    item := ${item('new')};
    held := null;
    told := ${whole('new')};
    ${entry(recorded, 'create')};
  end if;
  return null;
end`
}

type Row = 'old' | 'new'

function valueIn(row: Row): (column: RecordedColumn) => Sql {
  return ({ dbName }) => ident(row, dbName)
}

/** Bytes of a row that is there, whose values may have come one after the other: those of texts and bytes are known without reading them. */
function sizeOf(columns: readonly RecordedColumn[]): Sql {
  const sizes = columns.map(({ dbName, type, isList }) => {
    const value = ident('old', dbName)
    return sql`coalesce(octet_length(${type.name === 'bytes' && !isList ? value : sql`${value}::text`}), 0)::bigint`
  })
  return join(sizes, sql` + `)
}

function isChanged({ dbName }: RecordedColumn): Sql {
  return sql`row(${ident('old', dbName)})::record *<> row(${ident('new', dbName)})::record`
}

/** The members of the columns that an update changes, separated by commas; an array has no bound of its elements that a table meets. */
function changed(columns: readonly RecordedColumn[], row: Row, dialect: Dialect): Sql {
  const members = recordedMembers(columns, valueIn(row), dialect).map(({ name, value }, index) => {
    const column = columns[index]
    const member = sql`concat(${literal(`${JSON.stringify(name)}:`)}, coalesce(${value}, 'null'))`
    return column === undefined ? member : sql`case when ${isChanged(column)} then ${member} end`
  })
  return sql`array_to_string(array[${join(members)}]::text[], ',')`
}

/** Of what no answer could show the values are left out. */
function entry({ collectionId, changes }: Recorded, action: 'create' | 'update' | 'delete'): Sql {
  return sql`if coalesce(octet_length(held), 0) + coalesce(octet_length(told), 0) > ${integer(MAX_TEXT)} then
      held := null; told := null;
    end if;
    insert into ${table(changes)} (collection_id, item, actor, action, before, after)
      values (${literal(collectionId)}, item, actor, ${literal(action)}, held, told)`
}
