/**
 * A real MariaDB on a random loopback port, in a temporary directory that goes away with it. `mariadbd` is the one of
 * SERVICE_TEST_MARIADBD, or on the path, or in /usr/sbin. Its time zone is not UTC, because sessions have to see to
 * that themselves.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { copyPrepared } from '../run/prepared.ts'
import { freePort } from './free-port.ts'

export type TestMariadb = {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Ends the server as a crash would, every connection with it. */
  crash(): Promise<void>
  /** Starts it again after a crash, at the same address and with the same data. */
  restart(): Promise<void>
  close(): Promise<void>
}

export type MariadbSettings = {
  /** In PEM form; without, the server speaks no TLS. */
  readonly tls?: { readonly certificate: string; readonly privateKey: string }
}

export async function startMariadb({ tls }: MariadbSettings = {}): Promise<TestMariadb> {
  const binary = requireProgram('mariadbd', process.env.SERVICE_TEST_MARIADBD)
  const home = await mkdtemp(join(tmpdir(), 'mariadb-'))
  const directory = join(home, 'server')
  const password = randomBytes(12).toString('hex')
  await copyPrepared('mariadb', directory, initialiseAtLast, [import.meta.filename, binary])
  await writeFile(join(directory, 'setup.sql'), setup(password))
  if (tls !== undefined) await writeTls(directory, tls)
  const port = await freePort()
  let server = start(binary, directory, port)
  const kill = () => server.kill('SIGKILL')
  process.once('exit', kill)
  await ready(server)

  return {
    host: '127.0.0.1',
    port,
    user: 'tester',
    password,
    database: 'shop',
    async crash() {
      const exited = once(server, 'exit')
      kill()
      await exited
    },
    async restart() {
      // What sets the account up has run and would fail.
      await writeFile(join(directory, 'setup.sql'), '')
      server = start(binary, directory, port)
      await ready(server)
    },
    async close() {
      process.off('exit', kill)
      const exited = once(server, 'exit')
      kill()
      if (server.exitCode === null && server.signalCode === null) await exited
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** The path of `mariadbd`, or undefined where this machine has none. */
export function findMariadbd(): string | undefined {
  return findProgram('mariadbd', process.env.SERVICE_TEST_MARIADBD)
}

export const missingMariadb =
  'MariaDB is missing: run `apt-get install mariadb-server`, or set SERVICE_TEST_MARIADBD to the path of mariadbd'

function requireProgram(name: string, path?: string): string {
  const found = findProgram(name, path)
  if (found === undefined) throw new Error(missingMariadb)
  return found
}

function findProgram(name: string, path?: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin']
  const candidates = path === undefined ? folders.map((folder) => join(folder, name)) : [path]
  return candidates.find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const stdio: StdioOptions = ['ignore', 'ignore', 'pipe']

/** Root may run it, but only when it says so. */
const user = process.getuid?.() === 0 ? ['--user=root'] : []

/** Of the write-ahead log. A server that finds it in another size makes it anew. */
const LOG_SIZE = '32M'

async function initialise(directory: string): Promise<void> {
  const flags = [
    '--no-defaults',
    ...user,
    `--datadir=${join(directory, 'data')}`,
    `--tmpdir=${temporary(directory)}`,
    `--innodb-log-file-size=${LOG_SIZE}`,
    '--skip-test-db',
    '--skip-name-resolve',
  ]
  const child = spawn(requireProgram('mariadb-install-db'), [...flags, '--auth-root-authentication-method=normal'], {
    stdio,
  })
  const output = collect(child)
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`mariadb-install-db failed: ${output.text}`)
}

const ATTEMPTS = 3

/** The server's own set-up of an empty directory crashes once in a while (signal 11, on a busy machine). */
async function initialiseAtLast(directory: string): Promise<void> {
  await mkdir(temporary(directory))
  for (let attempt = 1; ; attempt += 1) {
    try {
      await initialise(directory)
      return
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await rm(join(directory, 'data'), { recursive: true, force: true })
    }
  }
}

/** A server that starts deletes what it takes for left-over temporary tables, so no two may share the place. */
function temporary(directory: string): string {
  return join(directory, 'temporary')
}

/** The database's own collation ignores case, as on most servers. */
function setup(password: string): string {
  return [
    'create database shop character set utf8mb4 collate utf8mb4_general_ci;',
    `create user tester@127.0.0.1 identified by '${password}';`,
    'grant all on *.* to tester@127.0.0.1 with grant option;',
  ].join('\n')
}

const CERTIFICATE = 'server.crt'
const KEY = 'server.key'

async function writeTls(directory: string, tls: NonNullable<MariadbSettings['tls']>): Promise<void> {
  await writeFile(join(directory, CERTIFICATE), tls.certificate)
  await writeFile(join(directory, KEY), tls.privateKey)
}

function start(binary: string, directory: string, port: number): ChildProcess {
  const settings = {
    datadir: join(directory, 'data'),
    socket: join(directory, 'socket'),
    'pid-file': join(directory, 'pid'),
    'init-file': join(directory, 'setup.sql'),
    tmpdir: temporary(directory),
    'bind-address': '127.0.0.1',
    port: String(port),
    'default-time-zone': '+09:00',
    'innodb-buffer-pool-size': '64M',
    'innodb-log-file-size': LOG_SIZE,
    'innodb-flush-log-at-trx-commit': '0',
    'performance-schema': 'off',
  }
  const isTls = existsSync(join(directory, CERTIFICATE))
  const tls = isTls ? { 'ssl-cert': join(directory, CERTIFICATE), 'ssl-key': join(directory, KEY) } : {}
  const flags = Object.entries({ ...settings, ...tls }).map(([name, value]) => `--${name}=${value}`)
  return spawn(binary, ['--no-defaults', ...user, '--skip-name-resolve', ...flags], { stdio })
}

/** What it prints later, such as a line for each statement that fails, is not kept. */
async function ready(server: ChildProcess): Promise<void> {
  const output = collect(server)
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on('data', () => {
      if (output.text.includes('ready for connections')) resolve()
    })
    server.once('exit', () => reject(new Error(`mariadbd did not start: ${output.text}`)))
  })
  server.stderr?.removeAllListeners('data').resume()
}

function collect(child: ChildProcess): { text: string } {
  const output = { text: '' }
  child.stderr?.on('data', (chunk) => {
    output.text += chunk
  })
  return output
}
