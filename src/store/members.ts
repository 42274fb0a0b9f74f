/** Members of a workspace and their roles. */
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { isProven } from './accounts.ts'
import { ownerActsIn } from './principal-state.ts'
import { type RoleRow, type RolesText, rolesWhere, withPolicies } from './roles.ts'
import { param, sql, statement, uuids } from './statements.ts'

export type MemberStatus = 'active' | 'suspended'

export type MemberRow = {
  readonly status: MemberStatus
  /** The owner of a service account; null for a person. */
  readonly ownerId: string | null
  /** The account's e-mail address is proven; for a service account, its owner's. */
  readonly isProven: boolean
  readonly roles: readonly RoleRow[]
  /** Number of other people who can currently act as Administrator. */
  readonly otherAdministrators: number
}

/** Loads a member with its roles and their policies; undefined if the user is not a member. */
export async function loadMember(
  database: SqlDriver,
  workspaceId: string,
  userId: string,
): Promise<MemberRow | undefined> {
  const [row] = await database.query(
    statement(sql`
      select json_build_object('status', m.status,
        'ownerId', (select u.service_account_owner_id from service."user" u where u.id = m.user_id),
        'isProven', (select ${isProven(sql`a`)} from service."user" a where a.id = m.user_id),
        'held', ${rolesWhere(sql`r.id in (
          select mr.role_id from service.member_role mr
          where mr.workspace_id = m.workspace_id and mr.user_id = m.user_id)`)},
        'otherAdministrators', (
          select count(*) from service.member o
          join service."user" u on u.id = o.user_id
          join service.member_role mr on mr.workspace_id = o.workspace_id and mr.user_id = o.user_id
          join service.role r on r.id = mr.role_id
          where o.workspace_id = m.workspace_id and o.user_id <> m.user_id and o.status = 'active'
            and u.status = 'active' and not u.is_service and r.kind = 'administrator'))::text
      from service.member m
      where m.workspace_id = ${param(workspaceId)}::uuid and m.user_id = ${param(userId)}::uuid`),
  )
  if (row === undefined) return undefined
  const { held, ...member } = parseJson(row[0] ?? 'null') as Omit<MemberRow, 'roles'> & { readonly held: RolesText }
  return { ...member, roles: withPolicies(held) }
}

/** Lists the names of workspaces whose only acting Administrator is this user; service accounts do not count. */
export async function soleAdministratorOf(database: SqlDriver, userId: string): Promise<readonly string[]> {
  const rows = await database.query(
    statement(sql`
      select w.api_name from service.workspace w
      join service.role r on r.workspace_id = w.id and r.kind = 'administrator'
      join service.member_role mr on mr.role_id = r.id
      join service."user" going on going.id = mr.user_id and not going.is_service
      where going.id = ${param(userId)}::uuid
        and not exists (
          select 1 from service.member_role omr
          join service.member o on o.workspace_id = omr.workspace_id and o.user_id = omr.user_id
          join service."user" u on u.id = omr.user_id
          where omr.role_id = r.id and omr.user_id <> going.id
            and o.status = 'active' and u.status = 'active' and not u.is_service)
      order by w.api_name`),
  )
  return rows.map(([name]) => name ?? '')
}

/** Lists the ids of workspaces where the user is an active member; for a service account, where its owner may act. */
export async function workspacesOf(database: SqlDriver, userId: string): Promise<readonly string[]> {
  const rows = await database.query(
    statement(sql`
      select m.workspace_id from service.member m join service."user" u on u.id = m.user_id
      where m.user_id = ${param(userId)}::uuid and m.status = 'active' and ${ownerActsIn(sql`m.workspace_id`)}`),
  )
  return rows.map(([id]) => id ?? '')
}

export function insertMember(workspaceId: string, userId: string): Statement {
  return statement(sql`
    insert into service.member (workspace_id, user_id)
    values (${param(workspaceId)}::uuid, ${param(userId)}::uuid) on conflict do nothing`)
}

export function updateMemberStatus(workspaceId: string, userId: string, status: MemberStatus): Statement {
  return statement(sql`
    update service.member set status = ${param(status)}
    where workspace_id = ${param(workspaceId)}::uuid and user_id = ${param(userId)}::uuid`)
}

/** Adds roles to a member; roles that it already has are ignored. */
export function assignRoles(workspaceId: string, userId: string, roleIds: readonly string[]): Statement {
  return statement(sql`
    insert into service.member_role (workspace_id, user_id, role_id)
    select ${param(workspaceId)}::uuid, ${param(userId)}::uuid, r.id from (${uuids(roleIds)}) r (id)
    on conflict do nothing`)
}

export function unassignRoles(workspaceId: string, userId: string, roleIds: readonly string[]): Statement {
  return statement(sql`
    delete from service.member_role where workspace_id = ${param(workspaceId)}::uuid
      and user_id = ${param(userId)}::uuid and role_id in (${uuids(roleIds)})`)
}

export function deleteMember(workspaceId: string, userId: string): Statement {
  return statement(sql`
    delete from service.member
    where workspace_id = ${param(workspaceId)}::uuid and user_id = ${param(userId)}::uuid`)
}
