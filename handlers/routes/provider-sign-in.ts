/**
 * `/api/auth/providers` (docs/contract.md#sign-in-providers): signing in through a provider. The browser is redirected
 * to the provider, comes back to the callback, and ends at `redirect`, which must be on our own origin or in
 * SERVICE_AUTH__REDIRECT_ORIGINS.
 */
import type { Config } from '../../src/config.ts'
import { nested, ServiceError } from '../../src/core/error.ts'
import type { SignInError } from '../../src/services/accounts/provider-sign-in.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { type Answer, data, failure } from '../http/answer.ts'
import { cookiesNamed, signedIn } from '../http/cookies.ts'
import { type App, mount, sessionClientOf } from '../http/mount.ts'
import { isReachedByLoopback, publicAddress } from '../http/origin.ts'
import { type AppContext, headerOf, pathParam } from '../http/request.ts'
import { requireKnownParameters } from '../http/unexpected-input.ts'

const LONGEST_REDIRECT = 1_000

export function mountProviderSignIn(app: App, { config, providers, providerSignIn }: Services): void {
  mount(app, '/api/auth/providers', { GET: async () => data(await providers.listEnabled()) })

  mount(
    app,
    '/api/auth/providers/:name/login',
    {
      GET: async (c) => {
        requireKnownParameters(c, ['redirect'])
        const redirect = redirectOf(c, config)
        const name = pathParam(c, 'name')
        const callback = `${publicAddress(c, config)}/api/auth/providers/${encodeURIComponent(name)}/callback`
        const started = await providerSignIn.begin(name, { callback, redirect })
        if (started.kind === 'failed') return failedAnswer(started.error, redirect)
        const { address, sealed, lifetime } = started
        return { ...sendTo(address), cookies: [cookie(c, config, { value: sealed, lifetime })] }
      },
    },
    { strictQuery: ['GET'] },
  )

  mount(
    app,
    '/api/auth/providers/:name/callback',
    {
      GET: async (c) => {
        const [sealed, ...others] = cookiesNamed(cookieName(c, config), headerOf(c, 'cookie'))
        const finished = await providerSignIn.finish(pathParam(c, 'name'), {
          parameters: new URL(c.req.url).searchParams,
          // Several cookies mean that an attacker planted some, so none is trusted.
          sealed: others.length === 0 ? sealed : undefined,
          client: sessionClientOf(app, c),
        })
        const ended = cookie(c, config, { value: '', lifetime: 0 })
        const { redirect } = finished
        if (finished.kind === 'failed') return { ...failedAnswer(finished.error, redirect), cookies: [ended] }
        const answer = signedIn(c, config, { mode: 'session', result: finished.result })
        const cookies = [...(answer.cookies ?? []), ended]
        return { ...(redirect === undefined ? answer : sendTo(redirect)), cookies }
      },
    },
    { strictQuery: ['GET'] },
  )
}

/** Returns the normalised final redirect; undefined without one. Throws 422 for a target that is not allowed. */
function redirectOf(c: AppContext, config: Config): string | undefined {
  const redirect = new URL(c.req.url).searchParams.get('redirect')
  if (redirect === null) return undefined
  const own = publicAddress(c, config)
  const fault = (reason: string) => nested('invalid', ['Failed to read the query', 'redirect', reason])
  if (redirect.length > LONGEST_REDIRECT) throw fault(`must have at most ${LONGEST_REDIRECT} characters`)
  if (!URL.canParse(redirect, own)) throw fault('must be an address')
  const { origin, username, password, href } = new URL(redirect, own)
  const allowed = [new URL(own).origin, ...(config.SERVICE_AUTH__REDIRECT_ORIGINS ?? [])]
  // The origin of a `blob:` URL is that of the address in it.
  const isPage = href.startsWith(`${origin}/`)
  if (isPage && allowed.includes(origin) && username === '' && password === '') return href
  throw fault('must be of our own origin or of one in SERVICE_AUTH__REDIRECT_ORIGINS')
}

/** URLs here contain codes and states, so no referrer is sent. */
function sendTo(address: string): Answer {
  return { status: 302, body: null, headers: { Location: address, 'Referrer-Policy': 'no-referrer' } }
}

function failedAnswer(error: SignInError, redirect: string | undefined): Answer {
  if (redirect === undefined) {
    return failure(
      error === 'provider_unavailable'
        ? new ServiceError('unavailable', 'The sign-in provider does not answer')
        : new ServiceError('unauthenticated', 'Invalid credentials'),
    )
  }
  const address = new URL(redirect)
  address.searchParams.set('error', error)
  return sendTo(address.href)
}

/** The `__Host-` prefix keeps other hosts from planting the cookie; it requires TLS, which loopback lacks. */
function cookieName(c: AppContext, config: Config): string {
  return isReachedByLoopback(c, config) ? 'service_sign_in' : '__Host-service_sign_in'
}

type CookieValue = { readonly value: string; readonly lifetime: number }

function cookie(c: AppContext, config: Config, { value, lifetime }: CookieValue): string {
  const attributes = `Path=/; Max-Age=${lifetime}; HttpOnly; SameSite=Lax`
  return `${cookieName(c, config)}=${value}; ${attributes}${isReachedByLoopback(c, config) ? '' : '; Secure'}`
}
