/** Which databases the sources of the instance lead to, and the names in them that their models go by (decision 118). */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { metaSchema } from './installation.ts'
import { ident, join, json, param, type Sql, sql, statement } from './statements.ts'

/** What a database is known by: two that have one of these texts are the same. With the schema of what names none. */
export type Whereabouts = { readonly knownAs: readonly string[]; readonly defaultSchema: string | undefined }

type SourcePlace = { readonly workspaceId: string; readonly sourceId: string } & Whereabouts

/** Returns false where the source is not known to lead there. */
export async function isPlaceSaved(database: SqlDriver, { sourceId, knownAs, defaultSchema }: SourcePlace) {
  const rows = await database.query(
    statement(sql`
      select 1 from service.source_place where source_id = ${param(sourceId)}::uuid and known_as = ${json(knownAs)}::jsonb
        and default_schema is not distinct from ${param(defaultSchema ?? null)}::text`),
  )
  return rows.length > 0
}

export function savePlace({ workspaceId, sourceId, knownAs, defaultSchema }: SourcePlace): Statement {
  return statement(sql`
    insert into service.source_place (source_id, workspace_id, known_as, default_schema)
    values (${param(sourceId)}::uuid, ${param(workspaceId)}::uuid, ${json(knownAs)}::jsonb,
      ${param(defaultSchema ?? null)}::text)
    on conflict (source_id) do update set known_as = excluded.known_as, default_schema = excluded.default_schema`)
}

export function forgetPlace(sourceId: string): Statement {
  return statement(sql`delete from service.source_place where source_id = ${param(sourceId)}::uuid`)
}

/** Another source of the same database. */
export type OtherSource = {
  readonly workspace: string
  readonly sourceId: string
  readonly defaultSchema: string | null
}

/** Returns the other sources of the instance, of all workspaces, that lead to the same database. */
export async function findOthers(
  database: SqlDriver,
  sourceId: string,
  knownAs: readonly string[],
): Promise<readonly OtherSource[]> {
  const rows = await database.query(
    statement(sql`
      select w.api_name, s.source_id, s.default_schema
      from service.source_place s join service.workspace w on w.id = s.workspace_id
      where s.source_id <> ${param(sourceId)}::uuid
        and s.known_as ?| array(select jsonb_array_elements_text(${json(knownAs)}::jsonb))
      order by w.api_name, s.source_id`),
  )
  return rows.map(([workspace, id, defaultSchema]) => ({
    workspace: workspace ?? '',
    sourceId: id ?? '',
    defaultSchema: defaultSchema ?? null,
  }))
}

/** The name of a table, or of a column of it. */
export type NameInDatabase = {
  readonly schema: string | undefined
  readonly table: string
  readonly column?: string
}

/** Names, and the other sources whose models are asked for them; at least one of each. */
export type SharedNames = { readonly names: readonly NameInDatabase[]; readonly others: readonly OtherSource[] }

/** Returns the position of the first name that a model of the others goes by. */
export async function findShared(database: SqlDriver, shared: SharedNames): Promise<number | undefined> {
  const rows = await database.query(statement(sql`select min(x.at)::text ${sharedIn(shared)}`))
  const at = rows[0]?.[0]
  return at === null || at === undefined ? undefined : Number(at)
}

/** Builds a statement that fails its transaction if a model of the others goes by one of the names. */
export function assertUnsharedStatement(shared: SharedNames): Statement {
  return statement(sql`select 1 / (case when exists (select 1 ${sharedIn(shared)}) then 0 else 1 end)`)
}

/** In whatever case, and of whichever schema where one is not known. */
function sharedIn({ names, others }: SharedNames): Sql {
  const rows = names.map(({ schema, table, column }, at) => ({ at, schema, table, column }))
  const uses = others.map(({ workspace, sourceId, defaultSchema }) => {
    const [collection, namespace, field] = ['collection', 'namespace', 'primitive_field'].map((name) =>
      ident(metaSchema(workspace), name),
    ) as [Sql, Sql, Sql]
    const schema = sql`coalesce(n.db_name, ${param(defaultSchema)}::text)`
    return sql`exists (
      select 1 from ${collection} c left join ${namespace} n on n.id = c.namespace_id
      where c.source_id = ${param(sourceId)}::uuid and lower(c.db_name) = lower(x."table")
        and coalesce(${schema} = x.schema, true)
        and (x."column" is null or exists (
          select 1 from ${field} f where f.collection_id = c.id and lower(f.db_name) = lower(x."column"))))`
  })
  return sql`
    from jsonb_to_recordset(${json(rows)}::jsonb) as x (at integer, schema text, "table" text, "column" text)
    where ${join(uses, sql` or `)}`
}
