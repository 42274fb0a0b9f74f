/** The data model of a workspace in the system database: read in one statement, written as a difference. */

import { namesGivenUp, type OwnedApiName } from '../core/access/former-names.ts'
import { parseJson } from '../core/exact-json.ts'
import type { ModelRecords } from '../core/model/model.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver, SqlRow } from '../ports/database.ts'
import { metaSchema } from './installation.ts'
import { ident, join, json, param, type Sql, sql, statement } from './statements.ts'

/** Loads a workspace's model records and their version; undefined for an unknown workspace. */
export async function loadModel(
  database: SqlDriver,
  workspace: { readonly id: string; readonly apiName: string },
): Promise<{ readonly version: number; readonly records: ModelRecords } | undefined> {
  const [row] = await database.query(modelQuery(workspace))
  if (row === undefined) return undefined
  const [version, ...lists] = row
  return { version: Number(version), records: readLists(lists) }
}

/**
 * Selects one JSON list per column of each table: JSON rows would double the database's work, which is most of the load
 * time. All lists of a table have the same rows in the same order, by creation.
 */
function modelQuery(workspace: { readonly id: string; readonly apiName: string }): Statement {
  const at = (name: string) => ident(metaSchema(workspace.apiName), name)
  const list = (table: string, columns: readonly (readonly [column: string, ...unknown[]])[], members?: Sql) => {
    const values = [...columns.map(([column]) => ident('x', column)), ...(members === undefined ? [] : [members])]
    const lists = join(values.map((value) => sql`json_agg(${value})`))
    return sql`(select ${lists} from (select * from ${at(table)} order by ordinal) x) as ${ident(table)}`
  }
  const mappings = sql`(select json_agg(json_build_object('constrainedFieldId', m.constrained_field_id,
    'referencedFieldId', m.referenced_field_id) order by m."order")
    from ${at('single_constraint_field')} m where m.constraint_id = x.id)`
  const fieldIds = sql`(select json_agg(m.field_id order by m."order") from ${at('index_field')} m where m.index_id = x.id)`
  const lists = [
    list('data_source', sourceColumns),
    list('namespace', namespaceColumns),
    list('collection', collectionColumns),
    list('primitive_field', primitiveColumns),
    list('single_relation_field', relationColumns),
    list('single_constraint', constraintColumns, mappings),
    list('index', indexColumns, fieldIds),
  ]
  return statement(sql`select w.model_version, data_source.*, namespace.*, collection.*, primitive_field.*,
      single_relation_field.*, single_constraint.*, index.*
    from service.workspace w, ${join(lists)} where w.id = ${param(workspace.id)}::uuid`)
}

function readLists(lists: SqlRow): ModelRecords {
  const rest = lists.values()
  const next = <T>(columns: Columns<T>, ...more: readonly (keyof T & string)[]) =>
    readList<T>([...columns.map(([, , member]) => member), ...more], rest)
  return {
    sources: next(sourceColumns).map(({ ledgerSchema, ...source }) =>
      typeof ledgerSchema === 'string' ? { ...source, ledgerSchema } : source,
    ),
    namespaces: next(namespaceColumns),
    collections: next(collectionColumns).map(({ isInherited, isClosed, isTriggering, hasHistory, ...collection }) => ({
      ...collection,
      ...(isInherited && { isInherited }),
      ...(isClosed && { isClosed }),
      ...(isTriggering && { isTriggering }),
      ...(hasHistory && { hasHistory }),
    })),
    primitiveFields: next(primitiveColumns).map(({ checks, ...field }) => (checks ? { ...field, checks } : field)),
    relationFields: next(relationColumns).map(({ through, ...field }) => (through ? { ...field, through } : field)),
    constraints: next(constraintColumns, 'mappings'),
    indexes: next(indexColumns, 'fieldIds'),
  }
}

/** The tables hold only what `saveModel` wrote, so their rows are valid records. */
function readList<T>(members: readonly (keyof T & string)[], lists: Iterator<SqlRow[number]>): T[] {
  const columns = members.map(
    (member) => [member, parseJson(lists.next().value ?? '[]') as readonly unknown[]] as const,
  )
  const [[, first] = ['', []]] = columns
  return first.map((_, index) => {
    const record: Partial<Record<keyof T, unknown>> = {}
    for (const [member, values] of columns) record[member] = values[index]
    return record as T
  })
}

/**
 * Whether all these collections are there, and neither they nor parts of them were changed behind `version`, back and forth
 * included.
 */
export async function areUntouched(
  database: SqlDriver,
  workspace: string,
  ids: readonly string[],
  version: number,
): Promise<boolean> {
  const [[count] = []] = await database.query(
    statement(sql`
      select count(*) from ${ident(metaSchema(workspace), 'collection')}
      where id in (${listed(ids)}) and touched <= ${param(String(version))}::bigint`),
  )
  return Number(count) === ids.length
}

/** Builds the statements that change the stored records of `workspace` from `before` to `after`, which is of `version`. */
export function saveModel(
  workspace: string,
  before: ModelRecords,
  after: ModelRecords,
  version: number,
): readonly Statement[] {
  const at = (name: string) => ident(metaSchema(workspace), name)
  return [
    ...saveTable(at('data_source'), sourceColumns, before.sources, after.sources),
    ...saveTable(at('namespace'), namespaceColumns, before.namespaces, after.namespaces),
    ...saveTable(at('collection'), collectionColumns, before.collections, after.collections),
    ...saveTable(at('primitive_field'), primitiveColumns, before.primitiveFields, after.primitiveFields),
    ...saveTable(at('single_relation_field'), relationColumns, before.relationFields, after.relationFields),
    ...saveTable(at('single_constraint'), constraintColumns, before.constraints, after.constraints),
    ...saveTable(at('index'), indexColumns, before.indexes, after.indexes),
    ...saveMembers(
      {
        table: at('single_constraint_field'),
        owner: 'constraint_id',
        columns: ['constrained_field_id', 'referenced_field_id'],
      },
      before.constraints,
      after.constraints,
      ({ mappings }) =>
        mappings.map((mapping) => ({
          constrained_field_id: mapping.constrainedFieldId,
          referenced_field_id: mapping.referencedFieldId,
        })),
    ),
    ...saveMembers(
      { table: at('index_field'), owner: 'index_id', columns: ['field_id'] },
      before.indexes,
      after.indexes,
      ({ fieldIds }) => fieldIds.map((fieldId) => ({ field_id: fieldId })),
    ),
    sql`update ${at('collection')} set touched = ${param(String(version))}::bigint
      where id in (${listed([...touchedBetween(before, after)])})`,
    ...keepFormerNames(workspace, namesGivenUp(before, after)),
  ].map(statement)
}

function keepFormerNames(workspace: string, names: readonly OwnedApiName[]): readonly Sql[] {
  if (names.length === 0) return []
  return [
    sql`insert into service.former_name (workspace_id, place, name, owner_id)
      select w.id, x.place, x.name, x."ownerId" from service.workspace w,
        jsonb_to_recordset(${json(names)}::jsonb) as x (place text, name text, "ownerId" uuid)
      where w.api_name = ${param(workspace)} on conflict do nothing`,
  ]
}

/** Returns the first of these names that another one had. */
export async function firstFormerName(
  database: SqlDriver,
  workspaceId: string,
  names: readonly OwnedApiName[],
): Promise<OwnedApiName | undefined> {
  if (names.length === 0) return undefined
  const rows = await database.query(
    statement(sql`
      select x."ownerId" from jsonb_to_recordset(${json(names)}::jsonb) as x (place text, name text, "ownerId" uuid)
      where exists (select 1 from service.former_name f where f.workspace_id = ${param(workspaceId)}::uuid
        and f.place = x.place and f.name = x.name and f.owner_id <> x."ownerId")`),
  )
  const had = new Set(rows.map(([id]) => id))
  return names.find(({ ownerId }) => had.has(ownerId))
}

/** The ids of collections of which anything is another object. */
function touchedBetween(before: ModelRecords, after: ModelRecords): ReadonlySet<string> {
  const changed = <T extends object>(of: (records: ModelRecords) => readonly T[]): readonly T[] => {
    const [old, now] = [new Set(of(before)), new Set(of(after))]
    return [...[...old].filter((one) => !now.has(one)), ...[...now].filter((one) => !old.has(one))]
  }
  const idsOf = (records: readonly WithId[]) => new Set(records.map(({ id }) => id))
  const sources = idsOf(changed((records) => records.sources))
  const namespaces = idsOf(changed((records) => records.namespaces))
  const constraints = idsOf(changed((records) => records.constraints))
  const touched = idsOf(changed((records) => records.collections))
  for (const records of [before, after]) {
    for (const { id, sourceId, namespaceId } of records.collections) {
      if (sources.has(sourceId) || namespaces.has(namespaceId ?? '')) touched.add(id)
    }
    for (const { collectionId, constraintId } of records.relationFields) {
      if (constraints.has(constraintId ?? '')) touched.add(collectionId)
    }
  }
  const parts = [
    changed((records) => records.primitiveFields),
    changed((records) => records.relationFields),
    changed((records) => records.indexes),
  ]
  for (const part of parts) for (const { collectionId } of part) touched.add(collectionId)
  return touched
}

/** Column name, column type, and the record member it stores. */
type Columns<T> = readonly (readonly [column: string, type: Sql, member: keyof T & string])[]
type Tables = { readonly [K in keyof ModelRecords]: ModelRecords[K][number] }

const uuid = sql`uuid`
const text = sql`text`
const bool = sql`boolean`
const jsonb = sql`jsonb`

const sourceColumns: Columns<Tables['sources']> = [
  ['id', uuid, 'id'],
  ['api_name', text, 'apiName'],
  ['provider', text, 'provider'],
  ['ledger_schema', text, 'ledgerSchema'],
]
const namespaceColumns: Columns<Tables['namespaces']> = [
  ['id', uuid, 'id'],
  ['source_id', uuid, 'sourceId'],
  ['db_name', text, 'dbName'],
  ['is_system', bool, 'isSystem'],
]
const collectionColumns: Columns<Tables['collections']> = [
  ['id', uuid, 'id'],
  ['source_id', uuid, 'sourceId'],
  ['namespace_id', uuid, 'namespaceId'],
  ['db_name', text, 'dbName'],
  ['api_name', text, 'apiName'],
  ['is_read_only', bool, 'isReadOnly'],
  ['is_system', bool, 'isSystem'],
  ['is_view', bool, 'isView'],
  ['is_inherited', bool, 'isInherited'],
  ['is_closed', bool, 'isClosed'],
  ['is_triggering', bool, 'isTriggering'],
  ['has_history', bool, 'hasHistory'],
]
const primitiveColumns: Columns<Tables['primitiveFields']> = [
  ['id', uuid, 'id'],
  ['collection_id', uuid, 'collectionId'],
  ['db_name', text, 'dbName'],
  ['api_name', text, 'apiName'],
  ['type', jsonb, 'type'],
  ['is_nullable', bool, 'isNullable'],
  ['is_list', bool, 'isList'],
  ['is_read_only', bool, 'isReadOnly'],
  ['default_value', jsonb, 'defaultValue'],
  ['is_loose', bool, 'isLoose'],
  ['native', jsonb, 'native'],
  ['checks', jsonb, 'checks'],
]
const relationColumns: Columns<Tables['relationFields']> = [
  ['id', uuid, 'id'],
  ['collection_id', uuid, 'collectionId'],
  ['api_name', text, 'apiName'],
  ['opposite_collection_id', uuid, 'oppositeCollectionId'],
  ['opposite_relation_field_id', uuid, 'oppositeRelationFieldId'],
  ['constraint_id', uuid, 'constraintId'],
  ['is_list', bool, 'isList'],
  ['is_nullable', bool, 'isNullable'],
  ['through', jsonb, 'through'],
]
const constraintColumns: Columns<Tables['constraints']> = [
  ['id', uuid, 'id'],
  ['db_name', text, 'dbName'],
  ['on_delete', text, 'onDelete'],
  ['on_update', text, 'onUpdate'],
]
const indexColumns: Columns<Tables['indexes']> = [
  ['id', uuid, 'id'],
  ['collection_id', uuid, 'collectionId'],
  ['db_name', text, 'dbName'],
  ['kind', text, 'kind'],
]

type WithId = { readonly id: string }

/**
 * Unchanged records are the same objects, so identity tells what changed; records keep their order, so the common
 * prefix needs no comparison.
 */
function difference<T extends WithId>(before: readonly T[], after: readonly T[]): { gone: string[]; written: T[] } {
  let same = 0
  while (same < before.length && before[same] === after[same]) same += 1
  const old = new Map(before.slice(same).map((record) => [record.id, record]))
  const rest = after.slice(same)
  const kept = new Set(rest.map(({ id }) => id))
  return {
    gone: [...old.keys()].filter((id) => !kept.has(id)),
    written: rest.filter((record) => old.get(record.id) !== record),
  }
}

function saveTable<T extends WithId>(
  table: Sql,
  columns: Columns<T>,
  before: readonly T[],
  after: readonly T[],
): Sql[] {
  const { gone, written } = difference(before, after)
  const statements = gone.length === 0 ? [] : [sql`delete from ${table} where id in (${listed(gone)})`]
  if (written.length === 0) return statements
  const rows = written.map((record) =>
    Object.fromEntries(columns.map(([column, , member]) => [column, record[member]])),
  )
  const names = join(columns.map(([column]) => ident(column)))
  const types = join(columns.map(([column, type]) => sql`${ident(column)} ${type}`))
  const updates = join(columns.slice(1).map(([column]) => sql`${ident(column)} = excluded.${ident(column)}`))
  return [
    ...statements,
    sql`insert into ${table} (${names}) select * from jsonb_to_recordset(${json(rows)}::jsonb) as x (${types})
      on conflict (id) do update set ${updates}`,
  ]
}

function saveMembers<T extends WithId>(
  { table, owner, columns }: { readonly table: Sql; readonly owner: string; readonly columns: readonly string[] },
  before: readonly T[],
  after: readonly T[],
  membersOf: (record: T) => readonly Record<string, string>[],
): Sql[] {
  const { gone, written } = difference(before, after)
  const known = new Set(before.map(({ id }) => id))
  const replaced = [...gone, ...written.map(({ id }) => id).filter((id) => known.has(id))]
  const statements =
    replaced.length === 0 ? [] : [sql`delete from ${table} where ${ident(owner)} in (${listed(replaced)})`]
  const rows = written.flatMap((record) =>
    membersOf(record).map((member, order) => ({ ...member, [owner]: record.id, order })),
  )
  if (rows.length === 0) return statements
  const names = [owner, ...columns]
  const types = join([...names.map((name) => sql`${ident(name)} uuid`), sql`"order" integer`])
  return [
    ...statements,
    sql`insert into ${table} (${join(names.map((name) => ident(name)))}, "order")
      select ${join(names.map((name) => ident(name)))}, "order" from jsonb_to_recordset(${json(rows)}::jsonb) as x (${types})`,
  ]
}

function listed(ids: readonly string[]): Sql {
  return sql`select value::uuid from jsonb_array_elements_text(${json(ids)}::jsonb)`
}
