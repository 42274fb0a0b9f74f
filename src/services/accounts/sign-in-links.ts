/**
 * Signing in by the one-time link of a local run (docs/contract.md#the-console). No route creates such a link: the process that
 * starts the service on its embedded database writes it there.
 */
import { ServiceError } from '../../core/error.ts'
import type { Ports } from '../../ports/ports.ts'
import { takeSignInLink } from '../../store/sign-in-links.ts'
import { recordEvent } from '../caller/audit.ts'
import { sha256Hex } from '../caller/digest.ts'
import type { Throttle } from '../caller/throttle.ts'
import type { LoginResult, SessionClient, Sessions } from './sessions.ts'

export type SignInLinks = {
  /** Opens a session by the secret of a link. Throws 401 for an unknown, used or expired secret, 429 after too many attempts. */
  use(token: string, client: SessionClient): Promise<LoginResult>
}

export type SignInLinksDeps = { readonly ports: Ports; readonly sessions: Sessions; readonly throttle: Throttle }

export function createSignInLinks(deps: SignInLinksDeps): SignInLinks {
  const { ports, sessions, throttle } = deps
  return {
    async use(token, client) {
      await throttle.admit(client.address)
      const userId = await takeSignInLink(ports.database, await sha256Hex(token))
      if (userId !== undefined) return sessions.open({ userId, method: 'link', client })
      const failed = { action: 'auth.login.v1', outcome: 'failure', actor: { kind: 'anonymous' } } as const
      const event = { ...failed, address: client.address, payload: { method: 'link' } }
      await ports.database.query(recordEvent(ports.ids, event))
      throw new ServiceError('unauthenticated', 'Invalid token')
    },
  }
}
