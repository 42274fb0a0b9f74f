/** `/api/auth/…`: signing in, refreshing sessions, signing out (docs/contract.md#sessions). */
import * as z from 'zod'
import { ServiceError } from '../../src/core/error.ts'
import { lazily } from '../../src/core/lazily.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { bodyFault } from '../../src/services/rights/roles.ts'
import { type Answer, failure, json, noContent } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { clearedCookies, type LoginMode, refreshCookies, signedIn } from '../http/cookies.ts'
import { type App, mount, sessionClientOf } from '../http/mount.ts'
import { requireSameOrigin } from '../http/origin.ts'
import type { AppContext } from '../http/request.ts'
import { textSchema } from '../http/schemas.ts'

const modeSchema = lazily(() => z.enum(['json', 'session'], "must be 'json' or 'session'").default('session'))

/** The address is not validated: a malformed one fails like an address without an account. */
const credentials = lazily(() => ({ email: textSchema(320), password: z.string().max(256) }))

export const loginBody = lazily(() =>
  z.strictObject({ credentials: z.strictObject(credentials()), mode: modeSchema() }),
)

export const passwordLoginBody = lazily(() => z.strictObject({ ...credentials(), mode: modeSchema() }))

export const refreshBody = lazily(() => z.strictObject({ refreshToken: z.string().optional() }))

export const linkBody = lazily(() => z.strictObject({ token: z.string().max(200) }))

export function mountAuth(app: App, services: Services): void {
  const { config, sessions, signInLinks, tokens } = services

  // A JWK Set as in RFC 7517, without the envelope; cacheable.
  mount(app, '/api/auth/jwks', {
    GET: () => ({ ...json({ keys: tokens.published }), headers: { 'Cache-Control': 'public, max-age=300' } }),
  })

  mount(app, '/api/auth/login', {
    POST: async (c) => {
      const { credentials, mode } = await readBody(c, loginBody)
      const result = await sessions.login({ ...credentials, ...sessionClientOf(app, c) })
      return signedIn(c, config, { mode, result })
    },
  })

  mount(app, '/api/auth/providers/local/password/login', {
    POST: async (c) => {
      const { email, password, mode } = await readBody(c, passwordLoginBody)
      const result = await sessions.login({ email, password, ...sessionClientOf(app, c) })
      return signedIn(c, config, { mode, result })
    },
  })

  mount(app, '/api/auth/link', {
    POST: async (c) => {
      const { token } = await readBody(c, linkBody)
      const result = await signInLinks.use(token, sessionClientOf(app, c))
      return signedIn(c, config, { mode: 'session', result })
    },
  })

  mount(app, '/api/auth/refresh', {
    POST: (c) =>
      withRefreshToken(services, c, async (token, mode) => {
        const result = await sessions.refresh(token, sessionClientOf(app, c))
        return signedIn(c, config, { mode, result })
      }),
  })

  mount(app, '/api/auth/logout', {
    POST: (c) =>
      withRefreshToken(services, c, async (token, mode) => {
        await sessions.logout(token, app.addressOf(c))
        return mode === 'json' ? noContent() : { ...noContent(), cookies: clearedCookies(c, config) }
      }),
  })
}

/** Runs `work` with the refresh token of the body or of the cookie; an invalid cookie is deleted. */
async function withRefreshToken(
  { config }: Services,
  c: AppContext,
  work: (token: string, mode: LoginMode) => Promise<Answer>,
): Promise<Answer> {
  const { refreshToken } = await readBody(c, refreshBody)
  const cookies = refreshCookies(c)
  if (cookies.length + (refreshToken === undefined ? 0 : 1) > 1) throw new ServiceError('badRequest', 'Invalid request')
  if (refreshToken !== undefined) return work(refreshToken, 'json')
  const [cookie] = cookies
  if (cookie === undefined) throw bodyFault('refreshToken', 'must be given where the cookie service_refresh is not')
  requireSameOrigin(c, config)
  try {
    return await work(cookie, 'session')
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind !== 'unauthenticated') throw error
    return { ...failure(error), cookies: clearedCookies(c, config) }
  }
}
