/**
 * One instance of the service over a Postgres of its own, served by as many processes as a test starts. The tests look
 * into the database beside them, through `database`.
 */
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openPostgres } from '../../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import { startPostgres } from '../../support/servers/postgres.ts'
import { generousLicense } from '../../support/service/license.ts'
import type { Account } from './client.ts'

export type Instance = {
  /** What a process of the instance is started with. */
  readonly variables: Readonly<Record<string, string>>
  readonly administrator: Account
  readonly databaseUrl: string
  /** A driver of the tests' own; its connections are told by `OBSERVER`. */
  readonly database: SqlDriver
  close(): Promise<void>
}

export type Replica = {
  readonly url: string
  readonly pid: number
  /** Ends the process without a chance to clean up. */
  kill(): Promise<void>
}

/** The application name of the tests' own connections. */
export const OBSERVER = 'observer'

export async function openInstance(): Promise<Instance> {
  const postgres = await startPostgres()
  const database = openPostgres({ connectionString: `${postgres.url}?application_name=${OBSERVER}` })
  const administrator = { email: 'admin@example.com', password: randomBytes(12).toString('base64url') }
  return {
    administrator,
    databaseUrl: postgres.url,
    database,
    variables: {
      ...(await generousLicense()),
      SERVICE_DATABASE_URL: postgres.url,
      SERVICE_SECRET: randomBytes(32).toString('base64url'),
      SERVICE_ADMIN__EMAIL: administrator.email,
      SERVICE_ADMIN__PASSWORD: administrator.password,
      SERVICE_ACCESS_TOKEN_TTL: '12h',
      SERVICE_SCHEMA__BODY_LIMIT: '64MiB',
    },
    async close() {
      await database.close()
      await postgres.close()
    },
  }
}

/** Starts a Node process of the instance, with variables of its own on top; resolves when it serves. */
export async function startReplica(
  { variables }: Instance,
  own: Readonly<Record<string, string>> = {},
): Promise<Replica> {
  const child = spawn(process.execPath, ['test/migration/support/replica.ts'], {
    cwd: root,
    env: { ...environment(), PORT: '0', ...variables, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const exited = once(child, 'exit').finally(() => process.off('exit', endWithUs))
  const { promise: listening, resolve } = Promise.withResolvers<string>()
  let output = ''
  const read = (chunk: Buffer) => {
    output += chunk
    const [, url] = /Listening on (\S+)/.exec(output) ?? []
    if (url !== undefined) resolve(url)
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const url = await Promise.race([listening, exited.then(() => undefined)])
  if (url === undefined) throw new Error(`the service did not start: ${output}`)
  for (const stream of [child.stdout, child.stderr]) stream.off('data', read).resume()
  return {
    url,
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/**
 * Keeps the compiled code of the service for all processes that start later, which then take half the work to start. One
 * that is killed has no time to keep it.
 */
export async function compileReplica(): Promise<void> {
  const program = `await import('./handlers/node.ts'); process.exit()`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: root,
    env: environment(),
  })
}

const root = join(import.meta.dirname, '../../..')

function environment(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/replicas') }
}
