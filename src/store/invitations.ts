/** Invitations into a workspace. Only digests of their tokens are stored. */
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { type RoleRow, type RolesText, rolesWhere, withPolicies } from './roles.ts'
import { param, type Sql, sql, statement, timestamp, uuids } from './statements.ts'

export type InvitationRow = {
  readonly id: string
  readonly workspaceId: string
  readonly workspaceName: string
  readonly email: string
  /** Who invited, with the name or, without one, the address; null where the account is gone. */
  readonly invitedBy: { readonly id: string; readonly name: string } | null
  readonly roles: readonly { readonly id: string; readonly name: string }[]
  /** The account with that address, if there is one. */
  readonly account: {
    readonly id: string
    /** The account's e-mail address is proven. */
    readonly isProven: boolean
    readonly isMember: boolean
    readonly roleIds: readonly string[]
  } | null
}

/** `isMailed` is true for the token from the mail, which only the invited address received. */
export type PresentedInvitation = InvitationRow & { readonly isMailed: boolean }

/** Finds an unexpired invitation by the digest of either of its tokens. */
export async function findInvitation(database: SqlDriver, tokenHash: string): Promise<PresentedInvitation | undefined> {
  const hash = param(tokenHash)
  const condition = sql`(i.token_hash = ${hash} or i.mail_token_hash = ${hash}) and i.expires_at > now()`
  const isMailed = sql`exists (select 1 from service.invitation i where i.mail_token_hash = ${hash})`
  const [[text, mailed] = []] = await database.query(
    statement(sql`select ${invitationsOf(condition)}::text, ${isMailed}`),
  )
  const [found] = parseJson(text ?? '[]') as InvitationRow[]
  return found && { ...found, isMailed: mailed === 't' }
}

/** SQL expression: a JSON array of InvitationRow, of the invitations `i` that satisfy `condition`. */
export function invitationsOf(condition: Sql): Sql {
  return sql`(
      select coalesce(json_agg(json_build_object('id', i.id, 'workspaceId', i.workspace_id, 'workspaceName', w.api_name,
        'email', i.email,
        'invitedBy', (
          select json_build_object('id', b.id, 'name', coalesce(b.full_name, b.email))
          from service."user" b where b.id = i.invited_by),
        'roles', (
          select coalesce(json_agg(json_build_object('id', r.id, 'name', r.name)), '[]'::json)
          from service.invitation_role ir join service.role r on r.id = ir.role_id where ir.invitation_id = i.id),
        'account', (
          select json_build_object('id', u.id, 'isProven', u.email_proven_at is not null,
            'isMember', exists (
              select 1 from service.member m where m.workspace_id = i.workspace_id and m.user_id = u.id),
            'roleIds', (
              select coalesce(json_agg(mr.role_id), '[]'::json) from service.member_role mr
              where mr.workspace_id = i.workspace_id and mr.user_id = u.id))
          from service."user" u where lower(u.email) = lower(i.email) and not u.is_service))), '[]'::json)
      from service.invitation i join service.workspace w on w.id = i.workspace_id
      where ${condition})`
}

/** Whether the account with this address, in any case, is a member of the workspace. */
export async function isMemberByEmail(database: SqlDriver, workspaceId: string, email: string): Promise<boolean> {
  const rows = await database.query(
    statement(sql`
      select 1 from service.member m join service."user" u on u.id = m.user_id
      where m.workspace_id = ${param(workspaceId)}::uuid and lower(u.email) = lower(${param(email)})`),
  )
  return rows.length > 0
}

export type NewInvitation = {
  readonly id: string
  readonly workspaceId: string
  readonly email: string
  readonly roleIds: readonly string[]
  /** Digest of the token in the response to the inviter. */
  readonly tokenHash: string
  /** Digest of the token in the mail. */
  readonly mailTokenHash: string
  readonly invitedBy: string
  readonly expiresAt: Instant
}

/** Deletes an expired invitation of the same address, then inserts the new one. */
export function insertInvitation(made: NewInvitation): readonly Statement[] {
  return [
    statement(sql`
      delete from service.invitation where workspace_id = ${param(made.workspaceId)}::uuid
        and lower(email) = lower(${param(made.email)}) and expires_at <= now()`),
    statement(sql`
      insert into service.invitation (id, workspace_id, email, token_hash, mail_token_hash, invited_by, expires_at)
      values (${param(made.id)}::uuid, ${param(made.workspaceId)}::uuid, ${param(made.email)},
        ${param(made.tokenHash)}, ${param(made.mailTokenHash)}, ${param(made.invitedBy)}::uuid,
        ${timestamp(made.expiresAt)})`),
    statement(sql`
      insert into service.invitation_role (invitation_id, role_id)
      select ${param(made.id)}::uuid, r.id from (${uuids(made.roleIds)}) r (id)`),
  ]
}

type Invited = { readonly email: string; readonly roles: readonly RoleRow[] }

/** Returns the invited address and its roles; undefined if the workspace has no such invitation. */
export async function findInvited(database: SqlDriver, workspaceId: string, id: string): Promise<Invited | undefined> {
  const [[text] = []] = await database.query(
    statement(sql`
      select json_build_object('email', i.email,
        'held', ${rolesWhere(sql`r.id in (select ir.role_id from service.invitation_role ir where ir.invitation_id = i.id)`)})::text
      from service.invitation i
      where i.workspace_id = ${param(workspaceId)}::uuid and i.id = ${param(id)}::uuid`),
  )
  if (text === undefined || text === null) return undefined
  const { email, held } = parseJson(text) as { readonly email: string; readonly held: RolesText }
  return { email, roles: withPolicies(held) }
}

export function deleteInvitation(id: string): Statement {
  return statement(sql`delete from service.invitation where id = ${param(id)}::uuid`)
}
