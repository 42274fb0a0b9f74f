/**
 * The isolates of one data source. All accounts share one until it ends under a call, which ends all calls in flight with it.
 * For ten minutes from then on, each account has an isolate of its own: a call that takes too much memory or time fails no
 * call of another account (docs/contract.md#connectors). Reads that were in flight are repeated there once; a write is
 * not, since it may have been done.
 */
import { type Age, type Clock, startAge } from '../../ports/clock.ts'
import type { ConnectorMethod, ConnectorReply, ConnectorSession } from '../../ports/connectors.ts'

/** Milliseconds. */
const APART = 600_000

/** Who calls: the account, absent for the service itself, and whether the call can be repeated. */
export type ConnectorCaller = { readonly account?: string | undefined; readonly isRead: boolean }

export type ConnectorSessions = {
  call(method: ConnectorMethod, argument: unknown, caller: ConnectorCaller): Promise<ConnectorReply>
  /** Ends all isolates. */
  close(): Promise<void>
}

export type ConnectorSessionsDeps = {
  readonly shared: ConnectorSession
  /** Opens another session of the same connector. */
  readonly open: () => ConnectorSession
  readonly clock: Clock
}

export function createConnectorSessions(deps: ConnectorSessionsDeps): ConnectorSessions {
  const { shared, open, clock } = deps
  const ofAccounts = new Map<string, ConnectorSession>()
  let sinceEnd: Age | undefined

  async function callApart(account: string, ...call: Parameters<ConnectorSession['call']>): Promise<ConnectorReply> {
    const session = ofAccounts.get(account) ?? open()
    ofAccounts.set(account, session)
    return noted(await session.call(...call))
  }

  function noted(reply: ConnectorReply): ConnectorReply {
    if (hasEnded(reply)) sinceEnd = startAge(clock)
    return reply
  }

  return {
    async call(method, argument, { account = '', isRead }) {
      if (sinceEnd !== undefined && sinceEnd() < APART) return callApart(account, method, argument)
      // What is still in flight there comes to its end; an isolate without calls ends by itself.
      ofAccounts.clear()
      const reply = noted(await shared.call(method, argument))
      return isRead && hasEnded(reply) ? callApart(account, method, argument) : reply
    },

    async close() {
      const sessions = [shared, ...ofAccounts.values()]
      ofAccounts.clear()
      await Promise.all(sessions.map((session) => session.close()))
    },
  }
}

/** Whether the isolate ended, and all of its calls with it. */
function hasEnded(reply: ConnectorReply): boolean {
  return reply.kind === 'ended' && reply.isAlone !== true
}
