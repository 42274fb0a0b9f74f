/** How the collections and fields of a workspace are called and shown, all together, as the model file has them; and its saved views. */
import { parseJson } from '../core/exact-json.ts'
import type { NameRecord } from '../core/file/presentation/names.ts'
import { integer, type Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { metaSchema } from './installation.ts'
import { ident, join, json, param, type Sql, sql, statement, uuids } from './statements.ts'

/** In one statement. */
export async function loadNames(database: SqlDriver, workspace: string): Promise<readonly NameRecord[]> {
  const [[text] = []] = await database.query(statement(sql`select ${namesIn(workspace)}`))
  return parseJson(text ?? '[]') as readonly NameRecord[]
}

/** A digest of what people call things by. */
export async function loadNamesDigest(database: SqlDriver, workspace: string): Promise<string> {
  const [[digest] = []] = await database.query(statement(sql`select ${digestIn(workspace)}`))
  return digest ?? ''
}

/** The names, with the digest of the same moment. */
export async function loadNamesWithDigest(
  database: SqlDriver,
  workspace: string,
): Promise<{ readonly names: readonly NameRecord[]; readonly digest: string }> {
  const [[text, digest] = []] = await database.query(
    statement(sql`select ${namesIn(workspace)}, ${digestIn(workspace)}`),
  )
  return { names: parseJson(text ?? '[]') as readonly NameRecord[], digest: digest ?? '' }
}

function namesIn(workspace: string): Sql {
  const { collections, fields } = tablesOf(workspace)
  const shown = sql`json_build_object('displayName', display_name, 'description', description, 'icon', icon, 'color', color,
    'displayTemplate', display_template, 'sort', sort, 'isHidden', case when is_hidden then true end)`
  return sql`(
      select coalesce(json_agg(json_strip_nulls(one)), '[]')::text from (
        select json_build_object('id', collection_id, 'isField', false, 'shown', ${shown}) as one from ${collections.table}
        union all
        select json_build_object('id', field_id, 'isField', true, 'shown', ${shown}) as one from ${fields.table}) x)`
}

/** Of display names and descriptions, by id. */
function digestIn(workspace: string): Sql {
  const { collections, fields } = tablesOf(workspace)
  const lines = join(
    [collections, fields].map(
      ({ table, key }) => sql`select json_build_array(${key}, display_name, description)::text as line from ${table}
        where display_name is not null or description is not null`,
    ),
    sql` union all `,
  )
  return sql`(
      select encode(sha256(convert_to(coalesce(string_agg(line, chr(10) order by line), ''), 'UTF8')), 'hex')
      from (${lines}) x)`
}

/** For the batch that saves the model, behind that: what is said of what goes then is gone already. */
export function saveNames(
  workspace: string,
  before: readonly NameRecord[],
  after: readonly NameRecord[],
): readonly Statement[] {
  const [was, is] = [new Set(before), new Set(after.map(({ id }) => id))]
  const { collections, fields } = tablesOf(workspace)
  return [collections, fields].flatMap(({ table, key, isField }) => {
    const gone = before.filter((record) => record.isField === isField && !is.has(record.id)).map(({ id }) => id)
    const written = after.filter((record) => record.isField === isField && !was.has(record))
    return [
      ...(gone.length === 0 ? [] : [statement(sql`delete from ${table} where ${key} in (${uuids(gone)})`)]),
      ...(written.length === 0 ? [] : [statement(upsert(table, key, written))]),
    ]
  })
}

function upsert(table: Sql, key: Sql, written: readonly NameRecord[]): Sql {
  const columns = sql`display_name, description, icon, color, display_template, sort, is_hidden`
  return sql`insert into ${table} (${key}, ${columns})
    select id, shown->>'displayName', shown->>'description', shown->>'icon', shown->>'color', shown->>'displayTemplate',
      (shown->>'sort')::integer, shown->'isHidden' is not null
    from jsonb_to_recordset(${json(written)}::jsonb) as x (id uuid, shown jsonb)
    on conflict (${key}) do update set (${columns}) = (excluded.display_name, excluded.description, excluded.icon,
      excluded.color, excluded.display_template, excluded.sort, excluded.is_hidden)`
}

export type ViewRow = {
  readonly id: string
  readonly name: string
  readonly collectionId: string
  readonly query: object
}

/** All of them together would be more than a process can hold. */
const VIEWS_AT_ONCE = 50

/**
 * Those that are of this user or of nobody alone, and are of one of the collections or have one of the names in their query; by id,
 * in parts.
 */
export async function* viewsNaming(
  database: SqlDriver,
  workspace: string,
  { userId, collectionIds, names }: ViewsNaming,
): AsyncGenerator<ViewRow, void> {
  if (collectionIds.length === 0 && names.length === 0) return
  let part: readonly ViewRow[] = []
  do {
    const [[text] = []] = await database.query(
      statement(sql`
        select coalesce(json_agg(json_build_object('id', x.id, 'name', x.name, 'collectionId', x.collection_id, 'query', x.query)
          order by x.id), '[]')::text
        from (
          select v.* from ${ident(metaSchema(workspace), 'view')} v
          where (v.user_id is null or v.user_id = ${param(userId ?? null)}::uuid)
            and v.id > ${param(part.at(-1)?.id ?? LEAST_ID)}::uuid
            and (v.collection_id in (${uuids(collectionIds)})
              or exists (select 1 from jsonb_array_elements_text(${json(names)}::jsonb) n where position(n in v.query::text) > 0))
          order by v.id limit ${integer(VIEWS_AT_ONCE)}) x`),
    )
    part = parseJson(text ?? '[]') as readonly ViewRow[]
    yield* part
  } while (part.length === VIEWS_AT_ONCE)
}

const LEAST_ID = '00000000-0000-0000-0000-000000000000'

export type ViewsNaming = {
  readonly userId: string | undefined
  readonly collectionIds: readonly string[]
  readonly names: readonly string[]
}

function tablesOf(workspace: string) {
  const at = (name: string) => ident(metaSchema(workspace), name)
  return {
    collections: { table: at('collection_meta'), key: ident('collection_id'), isField: false },
    fields: { table: at('field_meta'), key: ident('field_id'), isField: true },
  }
}
