/**
 * Invitations to a workspace (docs/decisions/045). The token in the mail proves access to the mailbox of the invited address:
 * it makes its bearer a member, with a new account if the address has none, but opens no session. The token in the API's answer
 * proves nothing: it only lets the signed-in, proven account of that address join.
 */

import type { Config } from '../../config.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import type { Actor } from '../../core/audit.ts'
import { ServiceError } from '../../core/error.ts'
import { parseJson } from '../../core/exact-json.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import { insertAccount } from '../../store/accounts.ts'
import { proveEmail } from '../../store/identities.ts'
import {
  deleteInvitation,
  findInvitation,
  findInvited,
  type InvitationRow,
  insertInvitation,
  isMemberByEmail,
} from '../../store/invitations.ts'
import { assignRoles, insertMember } from '../../store/members.ts'
import { setPassword } from '../../store/passwords.ts'
import { loadRoles } from '../../store/roles.ts'
import { findUserByEmail } from '../../store/users.ts'
import { type AuditEvent, actorOf, recordEvent, recordWorkspaceEvent } from '../caller/audit.ts'
import { type Caller, requireAnothers, requireUser } from '../caller/caller.ts'
import { callerNow, type RequestScope } from '../caller/callers.ts'
import { sha256Hex } from '../caller/digest.ts'
import { type Directory, type LazyBody, notFound, rowScopeOf } from '../caller/directory.ts'
import type { Throttle } from '../caller/throttle.ts'
import { invalidToken } from '../caller/tokens.ts'
import type { LicenseGuard } from '../license/held-license.ts'
import { type IsStillGiven, type LoadGrantor, requireRolesRevocable } from '../rights/delegation.ts'
import { changeRights } from '../rights/rights-changes.ts'
import { bodyFault, requireAssignable } from '../rights/roles.ts'
import { invitationMail, linkBase, type RequestOrigin } from './mails.ts'
import { newToken } from './one-time-tokens.ts'

export type InvitationInput = {
  readonly email: string
  readonly workspace_roles: readonly string[]
  /** Milliseconds from now. */
  readonly expiresIn: number
}

export type Acceptance = {
  readonly token: string
  /** For an account that is created or proven for the first time; a proven account keeps its password. */
  readonly password?: string | undefined
  /** For an account that is created. */
  readonly fullName?: string | undefined
}

export type AcceptedInvitation = {
  readonly id: string
  readonly email: string
  readonly workspace: { readonly id: string; readonly apiName: string }
}

export type ShownInvitation = {
  readonly email: string
  readonly workspace: { readonly apiName: string }
  readonly invitedBy: string | null
  /** The state of the invited address's account; present only for the mailed token, which its owner has. */
  readonly account?: 'none' | 'unproven' | 'proven'
}

/** Lists are JSON texts. Bodies are parsed only after authorization. */
export type Invitations = {
  /** Requires workspaceMembers:read. */
  list(scope: RequestScope, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  /** The answer contains one token and the mail to the invited address another; neither is stored. */
  create(scope: RequestScope, invitation: LazyBody<InvitationInput>, visit: RequestOrigin): Promise<object>
  delete(scope: RequestScope, id: string): Promise<void>
  /** Describes the invitation of a token without using the token. Throws 401 for an unknown, used or expired token. */
  lookUp(token: string): Promise<ShownInvitation>
  /**
   * Throws 401 for an unknown, used or expired token, 403 for the answer's token unless the caller is the proven account of the
   * invited address, and 409 if the inviter may no longer grant the roles.
   */
  accept(caller: Caller, acceptance: Acceptance, address: string | undefined): Promise<AcceptedInvitation>
}

export type InvitationsDeps = {
  readonly ports: Ports
  readonly config: Config
  readonly directory: Directory
  readonly license: LicenseGuard
  readonly loadGrantor: LoadGrantor
  readonly isStillGiven: IsStillGiven
  readonly throttle: Pick<Throttle, 'requireMail'>
}

export function createInvitations(deps: InvitationsDeps): Invitations {
  const { ports, config, directory, license, loadGrantor, isStillGiven, throttle } = deps
  const { clock, database, ids, passwords } = ports

  return {
    async list(scope, query) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      return directory.list('invitations', rowScopeOf(scope), await query())
    },

    async create(scope, sent, visit) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      const { email, workspace_roles: roles, expiresIn } = await sent()
      const id = ids.next()
      const [token, mailToken] = [newToken(), newToken()]
      const expiresAt = clock.now() + expiresIn
      const hashes = { tokenHash: await sha256Hex(token), mailTokenHash: await sha256Hex(mailToken) }
      const made = { id, workspaceId: workspace.id, email, roleIds: roles, ...hashes }
      let isCounted = false
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: async () => ({
          known: await loadRoles(database, workspace.id, roles),
          isMember: await isMemberByEmail(database, workspace.id, email),
          invited: await findUserByEmail(database, email),
          grantor: await loadGrantor(caller, workspace),
        }),
        decide: async ({ known, isMember, invited, grantor }) => {
          if (invited !== undefined) requireAnothers(caller, invited)
          await requireAssignable(grantor, { path: 'workspace_roles', wanted: roles, known, held: [] })
          if (isMember) throw new ServiceError('conflict', 'The account of this address is already a member')
          // Counted after all checks, so that a refused invitation sends no mail and does not use up the limit.
          if (!isCounted) await throttle.requireMail(email)
          isCounted = true
          const writes = insertInvitation({ ...made, invitedBy: requireUser(caller), expiresAt })
          return [
            ...license.within(['seats'], workspace.id, writes),
            recordWorkspaceEvent(ids, scope, {
              action: 'invitation.create.v1',
              target: { type: 'invitation', id },
              payload: { email, roles },
            }),
          ]
        },
        taken: 'This address is already invited',
      })
      const letter = {
        to: email,
        token: mailToken,
        base: linkBase(config, visit),
        page: config.SERVICE_INVITATION_URL,
        workspace: workspace.apiName,
        expiresAt,
      }
      ports.background(ports.mailer.send(invitationMail(letter)))
      return { ...(parseJson(await directory.read('invitations', rowScopeOf(scope), id)) as object), token }
    },

    async delete(scope, id) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: async () => ({
          invited: (await findInvited(database, workspace.id, id)) ?? notFound('invitations'),
          grantor: await loadGrantor(caller, workspace),
        }),
        decide: async ({ invited: { email, roles }, grantor }) => {
          await requireRolesRevocable(grantor, roles)
          return [
            deleteInvitation(id),
            recordWorkspaceEvent(ids, scope, {
              action: 'invitation.delete.v1',
              target: { type: 'invitation', id },
              payload: { email },
            }),
          ]
        },
      })
    },

    async lookUp(token) {
      const found = (await findInvitation(database, await sha256Hex(token))) ?? refused()
      const { email, workspaceName, invitedBy, account, isMailed } = found
      const known = account === null ? 'none' : account.isProven ? 'proven' : 'unproven'
      return {
        email,
        workspace: { apiName: workspaceName },
        invitedBy: invitedBy?.name ?? null,
        ...(isMailed && { account: known }),
      }
    },

    async accept(caller, { token, password, fullName }, address) {
      const tokenHash = await sha256Hex(token)
      const find = async () => (await findInvitation(database, tokenHash)) ?? refused()
      const { email, workspaceId, workspaceName } = await find()
      const newId = ids.next()
      let userId = newId
      await changeRights(ports, workspaceId, {
        caller,
        reach: 'workspace',
        load: find,
        decide: async (invitation) => {
          if (!invitation.isMailed) requireInvited(await callerNow(database, caller), invitation)
          if (!(await isStillGiven(invitation))) throw givenNoLonger()
          // Another invitation may have created the account since the last attempt.
          userId = invitation.account?.id ?? newId
          const record = joinRecorder(ports, invitation, { userId, address, actor: actorOf(caller) })
          return [
            ...(await provingStatements(invitation, record)),
            ...license.within(['seats'], workspaceId, joinStatements(invitation, userId, record)),
          ]
        },
        taken: 'An account of this address has just been created',
      })
      return { id: userId, email, workspace: { id: workspaceId, apiName: workspaceName } }

      /**
       * Statements that follow from the proof by mail: create an account, or remove all other credentials of an existing
       * account.
       */
      async function provingStatements(
        { email, account }: InvitationRow,
        record: Record,
      ): Promise<readonly Statement[]> {
        if (account?.isProven === true) return []
        if (account !== null) {
          const payload = { otherWaysIn: 'closed' }
          const hash = password === undefined ? undefined : await passwords.hash(password)
          return [
            ...proveEmail(userId),
            ...(hash === undefined ? [] : [setPassword(userId, hash)]),
            record({ action: 'user.update.v1', payload }),
          ]
        }
        if (password === undefined)
          throw bodyFault('password', 'must be given: there is no account of this address yet')
        const passwordHash = await passwords.hash(password)
        return [
          insertAccount({ id: userId, email, fullName: fullName ?? null, passwordHash }),
          record({ action: 'user.create.v1' }),
        ]
      }
    },
  }
}

/** Throws 403 unless the caller is signed in to the proven account of the invited address. */
function requireInvited(caller: Caller, { account }: InvitationRow): void {
  const isSignedIn = caller.kind === 'user' && caller.credential.kind === 'session'
  if (isSignedIn && account?.isProven === true && account.id === caller.userId) return
  throw new ServiceError(
    'forbidden',
    'Sign in to the account of the invited address, with its address verified, to use this token; the mailed token needs no sign-in',
  )
}

function givenNoLonger(): ServiceError {
  return new ServiceError(
    'conflict',
    'Whoever invited you may no longer give what the invitation gives; ask to be invited again',
  )
}

type Record = (event: Pick<AuditEvent, 'action' | 'target' | 'payload'>) => Statement

/** The new member and the actor; an anonymous actor for a mailed token without a credential. */
export type JoinContext = { readonly userId: string; readonly address: string | undefined; readonly actor: Actor }

/** Returns a function that records audit events about the new member. */
export function joinRecorder(
  { ids }: Ports,
  { workspaceId }: { readonly workspaceId: string },
  { userId, address, actor }: JoinContext,
): Record {
  const common = { actor, workspaceId, address, target: { type: 'user', id: userId } } as const
  return (event) => recordEvent(ids, { ...common, ...event })
}

/** Statements that make `userId` a member with the roles of the invitation, and mark the invitation as used. */
export function joinStatements(invitation: InvitationRow, userId: string, record: Record): readonly Statement[] {
  const { id, workspaceId, roles, account } = invitation
  const added = roles.filter((role) => account === null || !account.roleIds.includes(role.id))
  return [
    insertMember(workspaceId, userId),
    assignRoles(
      workspaceId,
      userId,
      added.map((role) => role.id),
    ),
    deleteInvitation(id),
    record({ action: 'invitation.accept.v1', payload: { invitation: id } }),
    ...(account?.isMember === true ? [] : [record({ action: 'user.join_workspace.v1' })]),
    ...added.map((role) => record({ action: 'role.assign.v1', payload: { roleId: role.id, roleName: role.name } })),
  ]
}

function refused(): never {
  throw invalidToken()
}
