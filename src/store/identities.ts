/** Which account each subject of a sign-in provider has, and which sign-ins have returned from a provider. */

import type { Profile, SignInFacts } from '../core/access/sign-in.ts'
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { type InvitationRow, invitationsOf } from './invitations.ts'
import { holdAccount } from './sessions.ts'
import { param, sql, statement, timestamp } from './statements.ts'

export type IdentityFacts = Pick<SignInFacts, 'known' | 'account'> & {
  /** Open invitations of the verified address. */
  readonly invitations: readonly InvitationRow[]
  /** Whether the account with this address is a member of the requested workspace. */
  readonly isMember: boolean
}

/** Loads in one statement what a sign-in with this profile is decided on; `workspaceId` is the requested workspace. */
export async function loadIdentityFacts(
  database: SqlDriver,
  profile: Profile,
  workspaceId: string | null,
): Promise<IdentityFacts> {
  const { issuer, subject } = profile
  const email = param(profile.email ?? null)
  const [[text] = []] = await database.query(
    statement(sql`
      select json_build_object(
        'known', (
          select json_build_object('userId', u.id, 'status', u.status)
          from service.identity i join service."user" u on u.id = i.user_id
          where i.issuer = ${param(issuer)} and i.subject = ${param(subject)}),
        'account', (
          select json_build_object('userId', u.id, 'status', u.status, 'isService', u.is_service,
            'isAdministrator', u.is_administrator, 'isProven', u.email_proven_at is not null,
            'isTaken', exists (
              select 1 from service.identity i where i.user_id = u.id and i.issuer = ${param(issuer)}))
          from service."user" u where lower(u.email) = lower(${email})),
        'isMember', exists (
          select 1 from service.member m join service."user" u on u.id = m.user_id
          where m.workspace_id = ${param(workspaceId)}::uuid and lower(u.email) = lower(${email})),
        'invitations', ${invitationsOf(sql`lower(i.email) = lower(${email}) and i.expires_at > now()`)})::text`),
  )
  return parseJson(text ?? 'null') as IdentityFacts
}

/** Links the profile of a sign-in provider to an account. */
export function insertIdentity(
  { issuer, subject }: Profile,
  { userId, providerId }: { readonly userId: string; readonly providerId: string },
): Statement {
  return statement(sql`
    insert into service.identity (issuer, subject, provider_id, user_id)
    values (${param(issuer)}, ${param(subject)}, ${param(providerId)}::uuid, ${param(userId)}::uuid)`)
}

/**
 * Marks the account's e-mail address as proven. The first time, ends every earlier way in, since somebody else may have
 * set up the account: its password, its sessions, its keys and those of its service accounts (which the user can switch
 * on again). A password that comes with the proof must be set after these statements.
 */
export function proveEmail(userId: string): readonly Statement[] {
  const id = sql`${param(userId)}::uuid`
  const isFirst = sql`exists (select 1 from service."user" u where u.id = ${id} and u.email_proven_at is null)`
  return [
    holdAccount(userId),
    statement(sql`
      update service.session set revoked_at = now() where user_id = ${id} and revoked_at is null and ${isFirst}`),
    statement(sql`
      update service.api_key set active = false where active and ${isFirst} and user_id in (
        select o.id from service."user" o where o.id = ${id} or o.service_account_owner_id = ${id})`),
    statement(sql`
      update service."user" set password_hash = null, email_proven_at = now()
      where id = ${id} and email_proven_at is null`),
  ]
}

/**
 * Records that the sign-in with this state has returned; answers false if it had returned before. `expiresAt` is the
 * expiry of the sign-in itself.
 */
export async function recordCallback(database: SqlDriver, stateHash: string, expiresAt: Instant): Promise<boolean> {
  const [, rows] = await database.batch([
    statement(sql`delete from service.returned_sign_in where expires_at < now()`),
    statement(sql`
      insert into service.returned_sign_in (state_hash, expires_at)
      values (${param(stateHash)}, ${timestamp(expiresAt)})
      on conflict do nothing returning 1`),
  ])
  return rows?.length === 1
}
