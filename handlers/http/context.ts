/** Identifies and authorizes the caller of a request, for all handlers. */
import { andThen, type Eventual } from '../../src/core/and-then.ts'
import { type Caller, personOf, requireAllowedAddress } from '../../src/services/caller/caller.ts'
import type { RequestScope } from '../../src/services/caller/callers.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { requireSameOrigin } from './origin.ts'
import { type AppContext, callerOf, pathParam } from './request.ts'
import { inSlot } from './request-slots.ts'

/** Authorizes the caller in the workspace of the path. */
export function authorize(services: Services, c: AppContext): Eventual<RequestScope> {
  return authorizeToken(services, c, tokenOf(services, c))
}

/** Like `authorize`, with an explicit token. */
export function authorizeToken(
  { callers }: Services,
  c: AppContext,
  token: string | undefined,
): Eventual<RequestScope> {
  const enter = () =>
    andThen(callers.authorize(pathParam(c, 'workspace'), token), (scope) => {
      c.set('requireThere', () => callers.requireThere(scope.workspace.id))
      known(c, scope.caller)
      return scope
    })
  return inSlot(c, enter)
}

/** Identifies the caller of a system route; 403 for a key whose scope limits its user's rights. */
export async function identify(services: Services, c: AppContext): Promise<Caller> {
  const enter = async () => known(c, await services.callers.identify(tokenOf(services, c)))
  return inSlot(c, enter)
}

/** Identifies the caller of a route that describes the key itself, which every key may use. */
export async function identifyItself(services: Services, c: AppContext): Promise<Caller> {
  const enter = async () => known(c, await services.callers.identify(tokenOf(services, c), 'itself'))
  return inSlot(c, enter)
}

/** Records the caller and the time of authentication. Throws 403 for a key whose scope excludes the client's address. */
function known(c: AppContext, caller: Caller): Caller {
  c.get('timing').authenticated = performance.now()
  if (caller.kind === 'anonymous' && c.get('credential') === undefined) c.set('isAnonymous', true)
  c.set('userId', personOf(caller))
  c.set('account', caller.kind === 'user' ? caller.userId : callerOf(c))
  if (caller.kind === 'user' && caller.scope !== undefined) requireAllowedAddress(caller, () => c.get('addressOf')(c))
  return caller
}

/** Returns the presented token. Throws 403 for a change by cookie from another origin. */
function tokenOf({ config }: Services, c: AppContext): string | undefined {
  const credential = c.get('credential')
  if (credential?.source === 'cookie' && !isReading(c.req.method)) requireSameOrigin(c, config)
  return credential?.token
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'QUERY' || method === 'OPTIONS'
}
