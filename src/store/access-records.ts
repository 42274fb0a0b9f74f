/** All roles and policies of a workspace together, as the model file has them. */
import type { AccessRecords } from '../core/file/access/records.ts'
import type { SqlDriver } from '../ports.ts'
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
  const read = JSON.parse(text ?? '{"roles":[],"policies":[]}') as AccessRecords
  return read
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
