/** What middleware leaves for handlers, and the two things that every handler asks of it. */
import { type Caller, type RequestScope, requireAddress } from '../../src/services/caller/callers.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { requireSameOrigin } from './origin.ts'
import { type AppContext, pathParam } from './request.ts'

/** The caller inside the workspace of the path. */
export function authorize(services: Services, c: AppContext): RequestScope | Promise<RequestScope> {
  return authorizeToken(services, c, tokenOf(services, c))
}

/** The same by a token that is said. */
export function authorizeToken(
  { callers }: Services,
  c: AppContext,
  token: string | undefined,
): RequestScope | Promise<RequestScope> {
  const scope = callers.authorize(pathParam(c, 'workspace'), token)
  return scope instanceof Promise ? scope.then((late) => entered(c, late)) : entered(c, scope)
}

/** The caller on a route of the system: 403 for a key whose scope limits what its user may do. */
export async function identify(services: Services, c: AppContext): Promise<Caller> {
  return known(c, await services.callers.identify(tokenOf(services, c)))
}

/** The caller where every key is told what it is itself. */
export async function identifyItself(services: Services, c: AppContext): Promise<Caller> {
  return known(c, await services.callers.identify(tokenOf(services, c), 'itself'))
}

function entered(c: AppContext, scope: RequestScope): RequestScope {
  known(c, scope.caller)
  return scope
}

/** Says that from now on it is known who asks. Throws 403 for a key that does not count at the address of the request. */
function known(c: AppContext, caller: Caller): Caller {
  c.get('timing').entered = performance.now()
  if (caller.kind === 'user' && caller.scope !== undefined) requireAddress(caller, () => c.get('addressOf')(c))
  return caller
}

/** The token that the caller is known by. Throws 403 for a change by cookie that does not come from our own origin. */
function tokenOf({ config }: Services, c: AppContext): string | undefined {
  const credential = c.get('credential')
  if (credential?.source === 'cookie' && !isReading(c.req.method)) requireSameOrigin(c, config)
  return credential?.token
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
