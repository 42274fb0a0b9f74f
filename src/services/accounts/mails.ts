/** The mails of the service, and the base of the links in them (decision 017). */

import type { Config } from '../../config.ts'
import { isLoopback } from '../../core/loopback.ts'
import { withoutTrailing } from '../../core/trailing.ts'
import type { Mail } from '../../ports/accounts.ts'
import type { Instant } from '../../ports/clock.ts'

/** Where a request came from and which origin it was sent to, as far as known. */
export type RequestOrigin = {
  readonly address: string | undefined
  /** The origin of the request's URL, such as `http://127.0.0.1:8787`. */
  readonly origin: string
}

/**
 * Returns the base URL of links: SERVICE_BASE_URL, or on loopback the request's origin. Otherwise undefined, because the client
 * controls the origin and could make a mail send another user's token to a foreign server.
 */
export function linkBase({ SERVICE_BASE_URL: base }: Config, { origin }: RequestOrigin): string | undefined {
  if (base !== undefined) return withoutTrailing(base, '/')
  return isLoopback(new URL(origin).hostname) ? origin : undefined
}

export type TokenMail = {
  readonly to: string
  readonly token: string
  readonly base: string | undefined
  /** The operator's own page with `{token}` in its address; undefined for the console's page. */
  readonly page: string | undefined
}

/** The page that a mail links to; undefined if no base URL is known. `own` is the path of the console's page. */
function pageFor({ page, base, token }: TokenMail, own: string): string | undefined {
  return (page ?? (base && `${base}${own}`))?.replaceAll('{token}', token)
}

/** The mail with a link to reset the password. */
export function resetMail(mail: TokenMail): Mail {
  const { to, token, base } = mail
  const page = pageFor(mail, '/-/reset#token={token}')
  return {
    to,
    subject: 'Choose a new password',
    text: paragraphs([
      'A new password was requested for this account.',
      page && `Choose it here, within one hour:\n${page}`,
      base && `Check whether the token is still valid:\n${base}/api/auth/password-reset/verify?token=${token}`,
      `Token, valid once, for one hour:\n${token}`,
      base && `Send it with the new password to ${base}/api/auth/password-reset/confirm, as {"token", "password"}.`,
      'If you did not request this, ignore this mail: the password stays unchanged.',
    ]),
  }
}

export type InvitationMail = TokenMail & { readonly workspace: string; readonly expiresAt: Instant }

/** The mail with a link to accept the invitation. */
export function invitationMail(mail: InvitationMail): Mail {
  const { to, token, base, workspace, expiresAt } = mail
  const page = pageFor(mail, `/-/invitation#token={token}&email=${encodeURIComponent(to)}`)
  return {
    to,
    subject: `Invitation to the workspace ${workspace}`,
    text: paragraphs([
      `You are invited to the workspace ${workspace}${base === undefined ? '' : ` at ${base}`}.`,
      page && `Accept the invitation here:\n${page}`,
      `Token to accept the invitation, valid once, until ${new Date(expiresAt).toUTCString()}:\n${token}`,
      base && `Send it to ${base}/api/auth/invitations/accept, as {"token", "password", "fullName"};`,
      'a password is required only if this e-mail address has no account yet.',
    ]),
  }
}

function paragraphs(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join('\n\n')
}
