/**
 * What was signed in with, by service and workspace, in one file of the user that nobody else reads. Each is sent to its
 * own service alone, whatever `governed.json` says, and none is ever shown.
 */
import { chmod, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Auth, apiKey, ServiceError, session } from 'governed-data-client'
import { Failure } from './failure.ts'
import { underLock } from './file-lock.ts'
import type { Environment } from './settings.ts'
import { parseJson, readText, writeText } from './written-file.ts'

export type Credential =
  | { readonly kind: 'key'; readonly key: string }
  /** As the client keeps its session: JSON. */
  | { readonly kind: 'session'; readonly session: string }

export type Credentials = {
  readonly path: string
  load(of: Environment): Promise<Credential | undefined>
  /** Runs what signs in; the session that it makes is kept. */
  signIn(of: Environment, work: (auth: Auth) => Promise<void>): Promise<void>
  keepKey(of: Environment, key: string): Promise<void>
  /** Whether any is kept for the service, whatever its workspace. */
  isFor(origin: string): Promise<boolean>
  forget(of: Environment): Promise<void>
  /** How a client presents what is kept. */
  authOf(of: Environment, credential: Credential): Auth
  /** Whether others may read the file; undefined where there is none. */
  isOpenToOthers(): Promise<boolean | undefined>
}

const PRIVATE = 0o600

/** `home`: the folder of the file. */
export function createCredentials({ home }: { readonly home: string }): Credentials {
  const path = join(home, 'credentials.json')
  const lock = `${path}.lock`

  const loadAll = async () => {
    const text = await readText(path)
    const all = text === undefined ? {} : parseJson(path, text)
    if (typeof all !== 'object' || all === null)
      throw new Failure(`${path} is damaged`, { help: 'delete it and sign in' })
    return new Map(Object.entries(all as Record<string, Credential>))
  }
  /** Only under the lock. */
  const change = async (of: Environment, credential: Credential | undefined) => {
    const all = await loadAll()
    all.delete(nameOf(of))
    if (credential !== undefined) all.set(nameOf(of), credential)
    await writeText(path, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`, { mode: PRIVATE })
    await chmod(path, PRIVATE)
  }
  const load = async (of: Environment) => (await loadAll()).get(nameOf(of))
  const sessionAuth = (of: Environment) =>
    session({
      async getItem() {
        const held = await load(of)
        return held?.kind === 'session' ? held.session : null
      },
      setItem: (_, text) => change(of, { kind: 'session', session: text }),
      removeItem: () => change(of, undefined),
    })

  return {
    path,
    load,
    signIn: (of, work) => underLock(lock, () => work(sessionAuth(of))),
    keepKey: (of, key) => underLock(lock, () => change(of, { kind: 'key', key })),
    isFor: async (origin) =>
      [...(await loadAll()).keys()].some((name) => new URL(name.split(' ')[0] ?? '').origin === origin),
    forget: (of) => underLock(lock, () => change(of, undefined)),
    authOf(of, credential) {
      if (credential.kind === 'key') return apiKey(credential.key)
      const inner = sessionAuth(of)
      return {
        ...inner,
        // A refresh token counts once, so that two processes must not use the same one.
        async headers(ask) {
          const headers = await underLock(lock, async () => inner.headers(ask))
          if (headers === undefined) throw new ServiceError(401, { message: 'The session is over' })
          return headers
        },
      }
    },
    async isOpenToOthers() {
      const found = await stat(path).catch(() => undefined)
      return found && (found.mode & 0o077) !== 0 && process.platform !== 'win32'
    },
  }
}

/** Throws for what no header can carry, without saying what it was. */
export function parseToken(title: string, text: string): string {
  if (/^[\x21-\x7e]+$/.test(text.trim())) return text.trim()
  throw new Failure(`${title} is no API key and no access token`)
}

export function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  return env.GOVERNED_HOME || join(homedir(), '.config/governed')
}

const nameOf = ({ url, workspace }: Environment) => `${url} ${workspace}`
