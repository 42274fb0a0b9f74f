/** Who a client says it is: an API key, a session whose tokens it keeps, or a session in the browser's cookies. */
import { type ErrorBody, ServiceError } from './error.ts'
import type { HeadersLike } from './send.ts'

export interface Auth {
  /** Undefined where there is nothing to say; after a 401 also where it would be the same again. */
  headers(ask: AuthAsk): MaybePromise<HeadersLike | undefined>
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** How a session begins and ends; absent where it does not by this client. */
  readonly session?: SessionAuth
}

export type AuthAsk = {
  readonly url: string
  readonly fetch: typeof fetch
  /** Whether it was 401, with what `headers` answered before. */
  readonly refused: boolean
  readonly sent?: HeadersLike
}

export type SessionAuth = {
  readonly mode: 'json' | 'session'
  keep(tokens: Tokens): MaybePromise<void>
  /** Forgets it and answers the refresh token, where it is kept here. */
  end(): MaybePromise<string | undefined>
}

/** `expires`: in so many seconds. */
export type Tokens = { readonly expires: number; readonly accessToken: string; readonly refreshToken: string }

/** Where tokens are kept, such as `localStorage`; `SessionStorage` may answer later. */
export type TokenStorage = {
  getItem(name: string): MaybePromise<string | null>
  setItem(name: string, value: string): MaybePromise<void>
  removeItem(name: string): MaybePromise<void>
}

type MaybePromise<T> = T | Promise<T>

/** A function is asked again when the key was refused. */
export function apiKey(key: string | (() => MaybePromise<string>)): Auth {
  return {
    async headers({ sent }) {
      const Authorization = `Bearer ${typeof key === 'string' ? key : await key()}`
      return authorizationOf(sent) === Authorization ? undefined : { Authorization }
    },
  }
}

/** Keeps the tokens of a session and refreshes them, once at a time; without `storage` they are forgotten with the page. */
export function session(storage: TokenStorage = memory(), name = 'governed-session'): Auth {
  const held = async (): Promise<Held | undefined> => {
    const text = await storage.getItem(name)
    return text === null ? undefined : JSON.parse(text)
  }
  const keep = (tokens: Tokens) =>
    storage.setItem(name, JSON.stringify({ ...tokens, until: Date.now() + tokens.expires * 900 }))

  /** Of those who wait the first refreshes; the others take what it has stored. */
  const refresh = (ask: AuthAsk, old: Held) =>
    alone(storage, `${name} ${new URL(ask.url).origin}`, async () => {
      const now = await held()
      if (now?.accessToken !== old.accessToken) return now
      const answer = await refreshed(ask, { refreshToken: old.refreshToken })
      if (answer === undefined) {
        await storage.removeItem(name)
        return undefined
      }
      await keep(answer)
      return answer
    })

  return {
    async headers(ask) {
      const now = await held()
      if (now === undefined) return undefined
      const isRefused = ask.refused && authorizationOf(ask.sent) === bearer(now).Authorization
      const next = isRefused || now.until < Date.now() ? await refresh(ask, now) : now
      return next && bearer(next)
    },
    session: {
      mode: 'json',
      keep,
      async end() {
        const token = (await held())?.refreshToken
        await storage.removeItem(name)
        return token
      },
    },
  }
}

/** The session is in cookies that only the browser sees; the page and the service have one origin, or CORS lets it. */
export function cookie(): Auth {
  // Nothing to say, but another nothing after each refresh: so a late 401 is known to be of the time before.
  let current: HeadersLike = {}
  const self: Auth = {
    credentials: 'include',
    async headers(ask) {
      if (!ask.refused || ask.sent !== current) return current
      return alone(self, `governed-session ${new URL(ask.url).origin}`, async () => {
        if ((await refreshed(ask, {}, 'include')) === undefined) return undefined
        current = {}
        return current
      })
    },
    session: { mode: 'session', keep() {}, end: () => undefined },
  }
  return self
}

/** `until`: when it is time for new ones, a tenth before they end. */
type Held = Tokens & { readonly until: number }

const authorizationOf = (sent: HeadersLike) => new Headers(sent).get('Authorization')

const bearer = ({ accessToken }: Tokens) => ({ Authorization: `Bearer ${accessToken}` })

/** Undefined where the service refuses; throws where it is not known whether it does. */
async function refreshed({ url, fetch }: AuthAsk, body: object, credentials?: 'include'): Promise<Tokens | undefined> {
  const response = await fetch(`${url}/api/auth/refresh`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(credentials !== undefined && { credentials }),
  })
  if (response.ok) return response.json() as Promise<Tokens>
  // 422 is for no token at all, in no cookie either.
  if (response.status === 401 || (credentials !== undefined && response.status === 422)) return undefined
  throw new ServiceError(response.status, (await response.json().catch(() => ({}))) as ErrorBody)
}

/** What is under way, by what it is about and its name. */
const underWay = new WeakMap<object, Map<string, Promise<unknown>>>()

type Locks = { request<T>(name: string, run: () => Promise<T>): Promise<T> }

/** Runs it once for all who ask meanwhile and have the same storage, and apart from other tabs of the origin. */
function alone<T>(storage: object, name: string, run: () => Promise<T>): Promise<T> {
  const running = underWay.get(storage) ?? new Map<string, Promise<unknown>>()
  underWay.set(storage, running)
  const other = running.get(name) as Promise<T> | undefined
  if (other !== undefined) return other
  const { locks } = (globalThis as { navigator?: { locks?: Locks } }).navigator ?? {}
  const mine = (locks === undefined ? run() : locks.request(name, run)).finally(() => running.delete(name))
  running.set(name, mine)
  return mine
}

function memory(): TokenStorage {
  const held = new Map<string, string>()
  return {
    getItem: (name) => held.get(name) ?? null,
    setItem(name, value) {
      held.set(name, value)
    },
    removeItem(name) {
      held.delete(name)
    },
  }
}
