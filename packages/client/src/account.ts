/** Signing in and out, and who one is (docs/api.md#signing-in). */
import type { Auth, Tokens } from './auth.ts'
import { type Call, createCall, type Result } from './call.ts'
import { itemsOf } from './items.ts'
import type { Answer, Sender } from './send.ts'
import { queryString } from './wire.ts'

export type Account = {
  /** 401 where the credentials are wrong. */
  login(credentials: { readonly email: string; readonly password: string }): Call<void>
  logout(): Call<void>
  me(): Call<User>
  /** The providers that one can sign in at. */
  providers(): Call<{ name: string }[]>
  /** Where to send the browser, which comes back to `redirect` with a session in its cookies. */
  providerUrl(name: string, redirect: string): string
}

export type User = {
  id: string
  email: string
  fullName: string | null
  status: 'active' | 'suspended'
  isAdministrator: boolean
  isService: boolean
  emailProvenAt: string | null
  createdAt: string
}

type AccountDeps = { readonly url: string; readonly auth: Auth | undefined; readonly send: Sender }

export function createAccount({ url, auth, send }: AccountDeps): Account {
  const held = () => {
    if (auth?.session === undefined) throw new TypeError('Signing in takes auth: session() or cookie()')
    return auth.session
  }
  const post = (path: string, body: object) =>
    send({
      method: 'POST',
      url: `${url}/api/auth/${path}`,
      body: JSON.stringify(body),
      isAnonymous: true,
    })
  const get = <T>(path: string) =>
    createCall(async () => itemsOf({}, await send({ method: 'GET', url: `${url}/api/${path}` })) as Result<T>)

  return {
    login(credentials) {
      const session = held()
      return createCall(async () => {
        const answer = await post('login', { credentials, mode: session.mode })
        if (answer.ok) await session.keep(answer.data as Tokens)
        return nothing(answer)
      })
    },
    logout() {
      const session = held()
      return createCall(async () => {
        const refreshToken = await session.end()
        return nothing(await post('logout', refreshToken === undefined ? {} : { refreshToken }))
      })
    },
    me: () => get<User>('system/users/me'),
    providers: () => get<{ name: string }[]>('auth/providers'),
    providerUrl: (name, redirect) =>
      `${url}/api/auth/providers/${encodeURIComponent(name)}/login${queryString({ redirect })}`,
  }
}

const nothing = (answer: Answer) => itemsOf({}, answer.ok ? { ...answer, data: undefined } : answer) as Result<void>
