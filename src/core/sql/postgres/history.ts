/**
 * Records changes by a trigger of the table (docs/contract.md#history). Its function names the columns of the model, and is
 * created again when they change. It compares stored values, because some types have no equality, and others show equal values
 * in several forms.
 */
import { MAX_TEXT } from '../answer-bound.ts'
import type { Recorded, RecordedColumn, TableRef } from '../ddl/change.ts'
import type { ChangeOf, DdlDialect, HistoryDdl } from '../ddl/dialect.ts'
import { HISTORY_TRIGGER, idsOf, itemOf, recordedMembers } from '../history/recorded.ts'
import { table } from '../read/scope.ts'
import { compile, ident, integer, join, literal, type Sql, sql } from '../statement.ts'

export const postgresHistory: HistoryDdl = { record, end, forget }

function record({ table: ref, recorded }: ChangeOf<'recordHistory'>, dialect: DdlDialect): readonly Sql[] {
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
  const ids = idsOf(fieldIds.map((id) => ({ id })))
  const kept = (values: Sql, all: Sql) => sql`case when ${all} is not null then coalesce(${values}, '{}') end`
  return [
    sql`update ${table(changes)} c set (fields, before, after) = (
        select coalesce(array_agg(f.id order by f.n), '{}'), ${kept(sql`array_agg(f.b order by f.n)`, sql`c.before`)},
          ${kept(sql`array_agg(f.a order by f.n)`, sql`c.after`)}
        from unnest(c.fields, c.before, c.after) with ordinality f(id, b, a, n) where f.id <> all(${ids}))
      where c.collection_id = ${literal(collectionId)} and c.fields && ${ids}`,
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
 * An update of a row's key ends the history of one item and begins that of another. Values are rendered by assignments, which
 * cost a tenth of the same expressions within a statement.
 */
function body(recorded: Recorded, dialect: DdlDialect): Sql {
  const { key, columns } = recorded
  const values = (row: Row) =>
    recordedMembers(columns, valueIn(row), dialect).map(({ value }) => sql`coalesce(${value}, 'null')`)
  const ids = columns.map(({ id }) => sql`${literal(id)}::uuid`)
  const whole = (row: Row) => sql`array[${join(values(row))}]::text[]`
  const item = (row: Row) => itemOf(key, valueIn(row), dialect)
  const isSameKey = join(
    key.map((column) => sql`not (${isChanged(column)})`),
    sql` and `,
  )
  return sql`declare
  actor text := nullif(current_setting('service.actor', true), '');
  item text;
  fields uuid[];
  held text[];
  told text[];
begin
  if tg_op = 'UPDATE' then
    if ${isSameKey} then
      fields := ${ofChanged(columns, ids, sql`uuid`)};
      if cardinality(fields) = 0 then return null; end if;
      item := ${item('new')};
      held := ${ofChanged(columns, values('old'))};
      told := ${ofChanged(columns, values('new'))};
      ${entry(recorded, 'update')};
      return null;
    end if;
  end if;
  if tg_op <> 'INSERT' then
    item := ${item('old')};
    if ${sizeOf(columns)} <= ${integer(MAX_TEXT)} then held := ${whole('old')}; end if;
    fields := ${idsOf(columns)};
    ${entry(recorded, 'delete')};
  end if;
  if tg_op <> 'DELETE' then
    item := ${item('new')};
    fields := ${idsOf(columns)};
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

/** Bytes of the existing row, whose values may have been written one by one; known without reading long values. */
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

/** Of each column's value, those of changed columns, in an array, which has no limit that a table reaches. */
function ofChanged(columns: readonly RecordedColumn[], values: readonly Sql[], type = sql`text`): Sql {
  const each = columns.flatMap((column, index) => {
    const value = values[index]
    return value === undefined ? [] : [sql`case when ${isChanged(column)} then ${value} end`]
  })
  return sql`array_remove(array[${join(each)}]::${type}[], null)`
}

/** Omits values that are too large for any answer. */
function entry({ collectionId, changes }: Recorded, action: 'create' | 'update' | 'delete'): Sql {
  return sql`if octet_length(array_to_string(held || told, '')) > ${integer(MAX_TEXT)} then
      held := null; told := null;
    end if;
    insert into ${table(changes)} (collection_id, item, actor, action, fields, before, after)
      values (${literal(collectionId)}, item, actor, ${literal(action)},
        case when held is null and told is null then '{}' else fields end, held, told)`
}
