/** All roles and policies of a workspace together, as the model file has them. */
import { parseJson } from '../core/exact-json.ts'
import type { AccessRecords } from '../core/file/access/records.ts'
import type { SqlDriver } from '../ports/database.ts'
import { param, sql, statement, uuids } from './statements.ts'

/** In one statement; Administrator is not among the roles. */
export async function loadAccessRecords(database: SqlDriver, workspaceId: string): Promise<AccessRecords> {
  const id = sql`${param(workspaceId)}::uuid`
  const [[text] = []] = await database.query(
    statement(sql`
      select json_build_object(
        'roles', (select coalesce(json_agg(json_build_object('id', r.id, 'name', r.name, 'description', r.description,
            'kind', r.kind, 'policyIds', (
              select coalesce(json_agg(rp.policy_id order by rp.policy_id), '[]') from service.role_policy rp
              where rp.role_id = r.id)) order by r.name), '[]')
          from service.role r where r.workspace_id = ${id} and r.kind <> 'administrator'),
        'policies', (select coalesce(json_agg(json_build_object('id', p.id, 'name', p.name,
            'description', p.description, 'content', p.content) order by p.name), '[]')
          from service.policy p where p.workspace_id = ${id}))::text`),
  )
  const read = parseJson(text ?? '{"roles":[],"policies":[]}') as AccessRecords
  return read
}

/** How many members hold these roles and policies, by id; a policy of Public has one holder more. */
export async function loadHolders(database: SqlDriver, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map()
  const rows = await database.query(
    statement(sql`
      select role_id::text, count(*) from service.member_role where role_id in (${uuids(ids)}) group by role_id
      union all
      select rp.policy_id::text, count(distinct mr.user_id) + max(case when r.kind = 'public' then 1 else 0 end)
      from service.role_policy rp join service.role r on r.id = rp.role_id
      left join service.member_role mr on mr.role_id = rp.role_id
      where rp.policy_id in (${uuids(ids)}) group by rp.policy_id`),
  )
  return new Map(rows.map(([id, count]) => [id ?? '', Number(count)]))
}

/** Which of these ids roles or policies of any workspace have. */
export async function loadTakenIds(database: SqlDriver, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await database.query(
    statement(sql`
      select id::text from service.role where id in (${uuids(ids)})
      union select id::text from service.policy where id in (${uuids(ids)})`),
  )
  return new Set(rows.flatMap(([id]) => id ?? []))
}
