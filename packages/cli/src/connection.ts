/** The service that a command asks, and as whom: flags before variables before files. */
import { apiKey, type Client, createClient, type Result } from 'governed-data-client'
import { explain, type Target } from './advice.ts'
import type { Call } from './command.ts'
import { type Credentials, createCredentials, homeOf, parseToken } from './credentials.ts'
import { Failure, wrongCall } from './failure.ts'
import type { Host } from './host.ts'
import { requireKnown } from './known.ts'
import { type Environment, loadSettings, parseName, parseUrl, type SettingsFile } from './settings.ts'
import { loadUsed } from './used.ts'

export type Connection = {
  readonly db: Client<Record<never, never>>
  readonly target: Target
  /** The data of a call, or a failure that says what to do. */
  must<T, M>(call: Result<T, M> | PromiseLike<Result<T, M>>): Promise<T>
}

/** A project and the user in it, before anything is asked. */
export type Project = {
  readonly file: SettingsFile
  readonly credentials: Credentials
  readonly home: string
  /** By `env use`. */
  readonly used: string | undefined
  /** The environment that counts, and why: that of the flag, of a variable, of `env use`, or the only one. */
  readonly name: string
  /** Undefined where neither the settings nor variables have it. */
  readonly environment: Environment | undefined
}

/** No answer takes as long, but for those to what changes tables. */
export const PATIENCE = 30_000

/** For what changes tables, which may be large; Node waits no longer than this for an answer. */
export const CHANGED_WITHIN = 300_000

export async function openProject(host: Host, flag: string | undefined): Promise<Project> {
  const { env, cwd } = host
  const file = await loadSettings(cwd)
  const home = homeOf(env)
  const { env: environments } = file.settings
  const [only, ...more] = environments.keys()
  const requested = flag ?? (env.GOVERNED_ENV || undefined)
  const used = await loadUsed({ home, settings: file.path })
  const name = parseName(requested ?? used ?? (only !== undefined && more.length === 0 ? only : 'default'))
  const found = environments.get(name)
  // A named environment is meant as it is; variables complete the others.
  const url = (flag === undefined && env.GOVERNED_URL) || found?.url
  const workspace = (flag === undefined && env.GOVERNED_WORKSPACE) || found?.workspace
  const environment = url && workspace ? { url: parseUrl(url), workspace } : undefined
  return { file, home, used, name, environment, credentials: createCredentials({ home }) }
}

/** Throws where there is no such environment. */
export function requireEnvironment({ file, name, environment }: Project): Environment {
  if (environment !== undefined) return environment
  const names = [...file.settings.env.keys()]
  if (names.length === 0) {
    throw wrongCall('no service is known here', 'governed login --url https://data.example.com --workspace NAME')
  }
  throw wrongCall(`there is no environment ${name}`, `say --env with one of ${names.join(', ')}`)
}

/** Throws, too, where `GOVERNED_TOKEN` would go to a service that is not known. */
export async function connect(call: Call, project: Project): Promise<Connection> {
  const environment = requireEnvironment(project)
  const { GOVERNED_TOKEN } = call.host.env
  const token = GOVERNED_TOKEN && parseToken('GOVERNED_TOKEN', GOVERNED_TOKEN)
  if (token) await requireKnown(call, project, { url: environment.url, what: 'GOVERNED_TOKEN' })
  const kept = token ? undefined : await project.credentials.load(environment)
  const auth = token ? apiKey(token) : kept && project.credentials.authOf(environment, kept)
  return connectionOf(environment, {
    auth,
    flags: project.file.settings.env.size > 1 ? ` --env ${project.name}` : '',
    credential: token ? 'token' : (kept?.kind ?? 'none'),
  })
}

type As = Pick<Target, 'flags' | 'credential'> & {
  readonly auth: Parameters<typeof createClient>[1]['auth'] | undefined
}

export function connectionOf(environment: Environment, { auth, flags, credential }: As): Connection {
  const target = { ...environment, flags, credential }
  const db = createClient<Record<never, never>>(environment.url, {
    workspace: environment.workspace,
    timeout: PATIENCE,
    ...(auth !== undefined && { auth }),
  })
  return {
    db,
    target,
    async must(call) {
      const result = await call
      if (result.ok) return result.data
      // What a credential file or a lock does wrong is told as it is.
      const { cause } = result.error
      throw cause instanceof Failure ? cause : explain(result.error, target)
    },
  }
}
