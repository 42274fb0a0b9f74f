/** The rights that a credential gives its bearer, read in one statement. */

import type { PolicyContent } from '../core/access/policy.ts'
import type { KeyScope } from '../core/access/scope.ts'
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import type { RoleKind } from './roles.ts'
import { isValidSession } from './sessions.ts'
import { param, type Sql, sql, statement } from './statements.ts'

/** A credential as its token names it. The kind `user` is an account without a credential, to compute its rights. */
export type Credential =
  | { readonly kind: 'session' | 'key'; readonly id: string; readonly userId: string }
  | { readonly kind: 'user'; readonly userId: string }

/** The state of a token's bearer, read in one statement; undefined if the token or the account is no longer valid. */
export type PrincipalState = {
  readonly userId: string
  /** The owner, if the user is a service account. */
  readonly ownerId: string | undefined
  readonly isAdministrator: boolean
  /** The scope of the presented API key, if it has one. */
  readonly scope: KeyScope | undefined
  /** The requested workspace. */
  readonly workspaceId: string | undefined
  /** Characters of its scope. */
  readonly weight: number
  /** The membership in the requested workspace; undefined if the user is not a member. */
  readonly member: Membership | undefined
}

export type Membership = {
  readonly status: 'active' | 'suspended'
  readonly roles: readonly { readonly id: string; readonly kind: RoleKind }[]
  /** The policies of all these roles, each once; none of an Administrator, who may do everything without. */
  readonly policies: readonly PolicyContent[]
}

/** Returns the policy of a JSON text. */
export type ReadPolicy = (text: string) => PolicyContent

const parsed: ReadPolicy = (text) => parseJson(text) as PolicyContent

/** Loads the state of a credential, with its membership in `workspaceId`; undefined if it is no longer valid. */
export async function loadPrincipalState(
  database: SqlDriver,
  credential: Credential,
  workspaceId: string | undefined,
  read = parsed,
): Promise<PrincipalState | undefined> {
  const [row] = await database.query(principalQuery(credential, workspaceId ?? null))
  if (row === undefined) return undefined
  const [userId, ownerId, isAdministrator, memberStatus, roles, policies, scope] = row
  return {
    userId: userId ?? '',
    ownerId: ownerId ?? undefined,
    isAdministrator: isAdministrator === 't',
    scope: scope === null || scope === undefined ? undefined : (parseJson(scope) as KeyScope),
    workspaceId,
    weight: scope?.length ?? 0,
    member:
      memberStatus === null || memberStatus === undefined
        ? undefined
        : {
            status: memberStatus === 'active' ? 'active' : 'suspended',
            roles: parseJson(roles ?? '[]') as Membership['roles'],
            policies: linesOf(policies).map(read),
          },
  }
}

/** Loads what the workspace's role Public grants to requests without a credential. */
export async function loadPublicPrincipalState(
  database: SqlDriver,
  workspaceId: string,
  read = parsed,
): Promise<Membership> {
  const [[roleId, policies] = []] = await database.query(
    statement(sql`
      select r.id, ${contentsOf(sql`rp.role_id = r.id`)}
      from service.role r where r.workspace_id = ${param(workspaceId)}::uuid and r.kind = 'public'`),
  )
  return {
    status: 'active',
    roles: roleId === null || roleId === undefined ? [] : [{ id: roleId, kind: 'public' }],
    policies: linesOf(policies).map(read),
  }
}

function principalQuery(credential: Credential, workspaceId: string | null): Statement {
  const ownRoles = sql`from service.member_role mr where mr.workspace_id = m.workspace_id and mr.user_id = m.user_id`
  return statement(sql`
    select u.id, u.service_account_owner_id, u.is_administrator,
      case when ${ownerActsIn(sql`m.workspace_id`)} then m.status else 'suspended' end, (
      select json_agg(json_build_object('id', r.id, 'kind', r.kind) order by r.id)
      from service.role r where r.id in (select mr.role_id ${ownRoles}))::text,
      ${contentsOf(sql`rp.role_id in (select mr.role_id ${ownRoles})
        and not exists (select 1 ${ownRoles} and exists (
          select 1 from service.role a where a.id = mr.role_id and a.kind = 'administrator'))`)}, ${scopeOf(credential)}
    from service."user" u
    left join service.member m on m.user_id = u.id and m.workspace_id = ${param(workspaceId)}::uuid
    where ${isBearer(credential)}`)
}

/** SQL condition: the credential is valid when the statement runs, and its account has at least the rights of `as`. */
export function actsBy(credential: Credential, as: 'anybody' | 'administrator'): Sql {
  const isEnough = as === 'administrator' ? sql`u.is_administrator` : sql`true`
  return sql`exists (select 1 from service."user" u where ${isBearer(credential)} and ${isEnough})`
}

/** SQL condition: `u` is the credential's account, is active, and the credential is valid. */
function isBearer(credential: Credential): Sql {
  return sql`u.id = ${param(credential.userId)}::uuid and u.status = 'active' and ${isValidCredential(credential)}
      and (not u.is_service or exists (
        select 1 from service."user" o where o.id = u.service_account_owner_id and o.status = 'active'))`
}

/** SQL condition: the credential of `u` is valid. A key is valid only while every key in its chain of makers is. */
function isValidCredential(credential: Credential): Sql {
  switch (credential.kind) {
    case 'user':
      return sql`true`
    case 'session':
      return sql`exists (select 1 from service.session s where ${isValidSession(credential)})`
    case 'key':
      return sql`exists (select 1 from service.api_key k where k.id = ${param(credential.id)}::uuid and k.user_id = u.id)
        and not exists (select 1 from service.key_line(${param(credential.id)}::uuid) l
          where not l.active or l.expires_at <= now())`
  }
}

function scopeOf(credential: Credential): Sql {
  if (credential.kind !== 'key') return sql`null`
  return sql`(select k.scope from service.api_key k where k.id = ${param(credential.id)}::uuid)::text`
}

/**
 * SQL condition: the owner of the service account `u` is an active member of the workspace or an administrator of the
 * instance. True for people, and where there is no workspace.
 */
export function ownerActsIn(workspaceId: Sql): Sql {
  return sql`(${workspaceId} is null or not u.is_service or exists (
      select 1 from service."user" o where o.id = u.service_account_owner_id and (o.is_administrator or exists (
        select 1 from service.member om
        where om.workspace_id = ${workspaceId} and om.user_id = o.id and om.status = 'active'))))`
}

/** SQL expression: the contents of the policies of some roles, each once, in a line of its own, which JSON has no others of. */
function contentsOf(roles: Sql): Sql {
  return sql`(
      select string_agg(p.content::text, chr(10) order by p.id) from service.policy p
      where p.id in (select rp.policy_id from service.role_policy rp where ${roles}))`
}

function linesOf(text: string | null | undefined): readonly string[] {
  return text === null || text === undefined ? [] : text.split('\n')
}
