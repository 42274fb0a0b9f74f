/**
 * Optimistic locks of rights: a change decided on facts of some versions is written only if no other change of rights came
 * first that they depend on.
 */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { actsBy, type Credential } from './principal-state.ts'
import { empty, param, type Sql, sql, statement } from './statements.ts'

/**
 * `access` is counted by every change, `instance` by those of accounts and what all workspaces share, and `place` says how the rights
 * of one workspace, or of any, were, or what an account had.
 */
export type RightsVersion = { readonly access: string; readonly instance: string; readonly place: string }

/** Where facts are of: one workspace, an account that is changed alone, or all workspaces. */
export type RightsPlace = { readonly workspaceId?: string | undefined; readonly accountId?: string | undefined }

export async function loadRightsVersion(database: SqlDriver, place: RightsPlace): Promise<RightsVersion> {
  const [[access, instance, counted] = []] = await database.query(
    statement(sql`select access_version, rights_version, ${stateOf(place)} from service.instance`),
  )
  return { access: access ?? '', instance: instance ?? '', place: counted ?? '' }
}

/** Of an account what others decide on, and its own changes: its ways in, its owner and its roles. */
function stateOf({ workspaceId, accountId }: RightsPlace): Sql {
  if (accountId !== undefined) {
    return sql`(select md5(concat_ws(' ', u.password_hash, u.service_account_owner_id, u.status, u.is_administrator,
        u.email_proven_at, (select string_agg(mr.role_id::text, ' ' order by mr.role_id) from service.member_role mr
          where mr.user_id = u.id)))
      from (select ${param(accountId)}::uuid as id) one left join service."user" u on u.id = one.id)`
  }
  const which = workspaceId === undefined ? empty : sql`where workspace_id = ${param(workspaceId)}::uuid`
  return sql`(select coalesce(sum(version), 0)::text from service.workspace_rights ${which})`
}

export type TakeTerms = {
  /** Whether any other change fails it, such as one of a key. */
  readonly isStrict: boolean
  /** By what the change was sent; undefined where no credential was. */
  readonly by: Credential | undefined
}

/**
 * First in a batch: counts the change, or fails the transaction if another came first that its facts depend on, or if its credential
 * was withdrawn meanwhile.
 */
export function takeRights(
  version: RightsVersion,
  place: RightsPlace,
  { isStrict, by }: TakeTerms,
): readonly Statement[] {
  const { workspaceId, accountId } = place
  // What is changed of one account alone is nothing that others are decided on.
  const ofInstance = workspaceId === undefined && accountId === undefined
  const turn = statement(sql`
    with turn as (
      update service.instance set access_version = access_version + 1,
        rights_version = rights_version + ${param(ofInstance ? '1' : '0')}::bigint
      where rights_version = ${param(version.instance)}::bigint
        and (access_version = ${param(version.access)}::bigint or not ${param(String(isStrict))}::boolean)
      returning 1)
    select 1 / count(*) from turn`)
  // A statement of its own, which sees what was committed while the one before was waiting.
  const isSame = stillSame(version, place, by)
  return workspaceId === undefined ? [turn, isSame] : [turn, isSame, countRightsIn(workspaceId)]
}

/** After `takeRights` or in it: fails the transaction where the facts have changed, or the credential was withdrawn. */
export function stillSame(version: RightsVersion, place: RightsPlace, by?: Credential): Statement {
  const isPresented = by === undefined ? empty : sql`and ${actsBy(by, 'anybody')}`
  return statement(sql`select 1 / (${stateOf(place)} = ${param(version.place)} ${isPresented})::int`)
}

/** After `takeRights`: counts a change of the rights in a workspace. */
export function countRightsIn(workspaceId: string): Statement {
  return count(sql`values (${param(workspaceId)}::uuid, 1)`)
}

/** After `takeRights`: counts that an account loses its rights in all its workspaces. */
export function countRightsOf(accountId: string): Statement {
  return count(sql`select workspace_id, 1 from service.member where user_id = ${param(accountId)}::uuid`)
}

function count(rows: Sql): Statement {
  return statement(sql`
    insert into service.workspace_rights (workspace_id, version) ${rows}
    on conflict (workspace_id) do update set version = workspace_rights.version + 1`)
}

/**
 * Fails the transaction if the workspace's model has another version, or is being changed; keeps it from changing until the end.
 * It waits for nobody, since the access version, which all workspaces share, is held meanwhile.
 */
export function lockModelVersion(workspaceId: string, version: number): Statement {
  return statement(sql`
    select 1 / count(*) from (
      select 1 from service.workspace
      where id = ${param(workspaceId)}::uuid and model_version = ${param(String(version))}::bigint
      for share nowait) held`)
}

/** Fails the transaction if somebody holds the row of the workspace. */
export function lockWorkspace(workspaceId: string): Statement {
  return statement(sql`
    select 1 from service.workspace where id = ${param(workspaceId)}::uuid for no key update nowait`)
}
