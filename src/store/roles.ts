/** Roles of a workspace, and their policies. */

import type { PolicyContent } from '../core/access/policy.ts'
import type { HeldPolicy } from '../core/access/principal.ts'
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { param, type Sql, sql, statement, uuids } from './statements.ts'

export type RoleKind = 'administrator' | 'public' | 'custom'

export type RoleRow = {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly kind: RoleKind
  readonly policies: readonly { readonly id: string; readonly name: string; readonly content: PolicyContent }[]
}

/** Returns the roles of the workspace among `ids`. */
export async function loadRoles(
  database: SqlDriver,
  workspaceId: string,
  ids: readonly string[],
): Promise<readonly RoleRow[]> {
  const among = sql`r.workspace_id = ${param(workspaceId)}::uuid and r.id in (${uuids(ids)})`
  const [[text] = []] = await database.query(statement(sql`select ${rolesWhere(among)}::text`))
  return withPolicies(parseJson(text ?? '{}') as RolesText)
}

/** Roles with the ids of their policies, and each policy once, however many roles have it. */
export type RolesText = {
  readonly roles: readonly (Omit<RoleRow, 'policies'> & { readonly policies: readonly string[] })[]
  readonly policies: RoleRow['policies']
}

/** SQL expression: RolesText of the roles `r` that satisfy `condition`. */
export function rolesWhere(condition: Sql): Sql {
  return sql`json_build_object(
      'roles', (
        select coalesce(json_agg(json_build_object('id', r.id, 'name', r.name, 'description', r.description, 'kind', r.kind,
          'policies', (
            select coalesce(json_agg(rp.policy_id order by rp.policy_id), '[]'::json)
            from service.role_policy rp where rp.role_id = r.id))), '[]'::json)
        from service.role r where ${condition}),
      'policies', (
        select coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'content', p.content)), '[]'::json)
        from service.policy p where p.id in (
          select rp.policy_id from service.role_policy rp join service.role r on r.id = rp.role_id where ${condition})))`
}

export function withPolicies({ roles, policies }: RolesText): readonly RoleRow[] {
  const byId = new Map(policies.map((policy) => [policy.id, policy]))
  return roles.map((role) => ({ ...role, policies: role.policies.flatMap((id) => byId.get(id) ?? []) }))
}

/** All roles and policies of a workspace, and the roles of its active members. */
export type RightsOutline = {
  readonly policies: readonly HeldPolicy[]
  readonly roles: readonly (Pick<RoleRow, 'id' | 'kind'> & { readonly policies: readonly string[] })[]
  readonly members: readonly { readonly userId: string; readonly roles: readonly string[] }[]
}

/** Reads who has which rights, in one statement. */
export async function loadRightsOutline(database: SqlDriver, workspaceId: string): Promise<RightsOutline> {
  const own = sql`workspace_id = ${param(workspaceId)}::uuid`
  const list = (members: Sql, from: Sql) => sql`(select coalesce(json_agg(${members}), '[]'::json) from ${from})`
  const [[text] = []] = await database.query(
    statement(sql`
      select json_build_object(
        'policies', ${list(sql`json_build_object('id', p.id, 'name', p.name, 'content', p.content) order by p.id`, sql`service.policy p where ${own}`)},
        'roles', ${list(
          sql`json_build_object('id', r.id, 'kind', r.kind, 'policies', ${list(sql`rp.policy_id order by rp.policy_id`, sql`service.role_policy rp where rp.role_id = r.id`)}) order by r.id`,
          sql`service.role r where ${own}`,
        )},
        'members', ${list(
          sql`json_build_object('userId', m.user_id, 'roles', ${list(sql`mr.role_id order by mr.role_id`, sql`service.member_role mr where mr.workspace_id = m.workspace_id and mr.user_id = m.user_id`)}) order by m.user_id`,
          sql`service.member m where ${own} and m.status = 'active'`,
        )})::text`),
  )
  return parseJson(text ?? '{}') as RightsOutline
}

/** Returns the ids of the members who are suspended: they have roles, and no rights. */
export async function loadSuspended(database: SqlDriver, workspaceId: string): Promise<readonly string[]> {
  const rows = await database.query(
    statement(sql`
      select user_id::text from service.member
      where workspace_id = ${param(workspaceId)}::uuid and status = 'suspended'`),
  )
  return rows.map(([id]) => id ?? '')
}

/** Loads the policies naming `$CURRENT_ROLES` that members of the role have through any of their roles. */
export async function loadPoliciesBeside(
  database: SqlDriver,
  id: string,
): Promise<readonly Pick<RoleRow['policies'][number], 'content'>[]> {
  const [[text] = []] = await database.query(
    statement(sql`
      select coalesce(json_agg(json_build_object('content', p.content)), '[]')::text
      from service.policy p
      where p.content::text like ${param('%"$CURRENT_ROLES"%')} and p.id in (
        select rp.policy_id from service.role_policy rp
        join service.member_role own on own.role_id = rp.role_id
        join service.member_role mr on mr.workspace_id = own.workspace_id and mr.user_id = own.user_id
        where mr.role_id = ${param(id)}::uuid)`),
  )
  return parseJson(text ?? '[]') as Pick<RoleRow['policies'][number], 'content'>[]
}

export type NewRole = {
  readonly name: string
  readonly description: string | null
  readonly policies: readonly string[]
}

export function insertRole(workspaceId: string, id: string, role: NewRole): readonly Statement[] {
  return [
    statement(sql`
      insert into service.role (id, workspace_id, name, description, kind)
      values (${param(id)}::uuid, ${param(workspaceId)}::uuid, ${param(role.name)}, ${param(role.description)}, 'custom')`),
    attachPolicies(id, role.policies),
  ]
}

export function updateRole(id: string, role: NewRole): readonly Statement[] {
  return [
    statement(sql`
      update service.role set name = ${param(role.name)}, description = ${param(role.description)}
      where id = ${param(id)}::uuid`),
    statement(sql`
      delete from service.role_policy
      where role_id = ${param(id)}::uuid and policy_id not in (${uuids(role.policies)})`),
    attachPolicies(id, role.policies),
  ]
}

export function deleteRole(id: string): Statement {
  return statement(sql`delete from service.role where id = ${param(id)}::uuid`)
}

function attachPolicies(roleId: string, policyIds: readonly string[]): Statement {
  return statement(sql`
    insert into service.role_policy (role_id, policy_id)
    select ${param(roleId)}::uuid, p.id from (${uuids(policyIds)}) p (id)
    on conflict do nothing`)
}
