/**
 * An instance of a test file's own, on the platform of its project: a Node server, or the Worker under workerd. Other
 * tests share one; this is for what only a start shows, and for what a shared instance could not bear.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'
import { startNode } from '../../../handlers/node.ts'
import { consoleFolder } from '../../../scripts/console/build.ts'
import { startWorkerd } from '../../../scripts/workerd.ts'
import { observeAsLines } from '../../../src/platform/log-lines.ts'
import { startNeonGateway } from '../../../src/platform/node/embedded/neon-gateway.ts'
import type { Mail } from '../../../src/ports/accounts.ts'
import { startPostgres } from '../servers/postgres.ts'
import { type Client, client } from './client.ts'
import { tokenIn } from './mailed-token.ts'
import { quickHashing } from './quick-hashing.ts'
import type { Served } from './served.ts'

export type TestEnvironment = {
  readonly databaseUrl: string
  /** Opens the instance, with variables besides those that every one needs. It goes by the stage's clock. */
  open(variables?: Variables, platform?: Served['platform']): Promise<Instance>
  /** What keeps the instance from starting. Throws where it starts. */
  refusal(variables: Variables): Promise<Refusal>
  readonly clock: MovableClock
  /** Runs a statement in the system database, past the service; answers the first value of its first row. */
  run(statement: string): Promise<unknown>
  close(): Promise<void>
}

export type Variables = Readonly<Record<string, string>>

/** The machine's clock, ahead by as much as a test wants; instances and the licensing service go by it. */
export type MovableClock = {
  now(): number
  ahead(): number
  advance(milliseconds: number): Promise<void>
  onMove(listener: (ahead: number) => Promise<void>): () => void
}

/** `statuses` of a few addresses, `live` first, where an instance that may not start answers at all. */
export type Refusal = { readonly reason: string; readonly log: string; readonly statuses: readonly number[] }

export type Instance = {
  readonly url: string
  /** Does what is due by the clock, as its alarm, its timers and its cron would. */
  due(): Promise<void>
  /** What it wrote to its log. */
  readonly log: () => string
  /** The token in the last mail to this address with such a subject, once it was sent. */
  mailedToken(address: string, subject: RegExp): Promise<string>
  readonly anonymous: Client
  /** The first administrator, signed in. */
  administrator(): Promise<Client>
  close(): Promise<void>
}

const account = { email: 'admin@example.com', password: 'a password of some length' }

/**
 * A database and what belongs to an installation, over which one instance after the other, or several, are opened.
 * `hyperdrives` are bindings of Workers with their connection strings.
 */
export async function openTestEnvironment(
  platform = inject('served').platform,
  hyperdrives: Readonly<Record<string, string>> = {},
): Promise<TestEnvironment> {
  const postgres = await startPostgres()
  const gateway = await startNeonGateway(postgres.url)
  const clock = movableClock()
  const common = {
    SERVICE_SECRET: randomBytes(32).toString('base64url'),
    SERVICE_ADMIN__EMAIL: account.email,
    SERVICE_ADMIN__PASSWORD: account.password,
    SERVICE_ACCESS_TOKEN_TTL: '3650d',
    SERVICE_REFRESH_TOKEN_TTL: '3650d',
    SERVICE_FILES__STORE: 'database',
  }
  const instances = new Set<Instance>()

  async function start(wished: Variables, on: Served['platform'], lines: string[]): Promise<Instance> {
    // Mails are in the log, which only an instance on this machine may have them in.
    const variables = { ...(wished.SERVICE_BASE_URL === undefined && { SERVICE_MAIL__URL: 'log:' }), ...wished }
    const started = on === 'workerd' ? await openWorker(lines, variables) : await openNode(lines, variables)
    const instance: Instance = {
      url: started.url,
      due: started.due,
      log: () => lines.join('\n'),
      mailedToken: (address, subject) => mailedToken(lines, address, subject),
      anonymous: client(started.url, {}),
      administrator: () => signedIn(started.url),
      async close() {
        if (instances.delete(instance)) await started.close()
      },
    }
    instances.add(instance)
    return instance
  }

  async function openNode(lines: string[], variables: Variables) {
    const work: (() => Promise<void>)[] = []
    const server = await startNode({
      environment: { ...common, ...variables, SERVICE_DATABASE_URL: postgres.url, PORT: '0' },
      consoleFolder: await consoleFolder(),
      observe: observeAsLines((line) => lines.push(line)),
      clock,
      passwords: quickHashing,
      ticker: (_, tick) => {
        work.push(tick)
        return async () => {}
      },
    })
    const due = async () => {
      for (const tick of work) await tick()
    }
    return { ...server, due }
  }

  async function openWorker(lines: string[], variables: Variables) {
    const worker = await startWorkerd({
      entry: 'test/support/service/clocked-worker.ts',
      minify: true,
      host: '127.0.0.1',
      port: 0,
      variables: {
        ...common,
        ...variables,
        SERVICE_DATABASE_URL: gateway.url,
        SERVICE_TEST_CLOCK: String(clock.ahead()),
      },
      onLog: ({ message }) => lines.push(message),
      hyperdrives,
    })
    const post = async (path: string, body: string) => {
      const response = await fetch(worker.url + path, { method: 'POST', body })
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    }
    const forget = clock.onMove((ahead) => post('/test/clock', String(ahead)))
    return {
      url: worker.url,
      due: async () => {
        await post('/test/due', '')
        await post('/test/cron', '')
      },
      async close() {
        forget()
        await worker.close()
      },
    }
  }

  return {
    databaseUrl: postgres.url,
    clock,
    open: (variables = {}, on = platform) => start(variables, on, []),

    async run(statement) {
      const other = new pg.Client(postgres.url)
      await other.connect()
      const { rows } = await other.query({ text: statement, rowMode: 'array' })
      await other.end()
      return rows[0]?.[0]
    },

    async refusal(variables) {
      const lines: string[] = []
      const instance = await start(variables, platform, lines).catch((cause: Error) => cause)
      if (instance instanceof Error) return { reason: instance.message, log: lines.join('\n'), statuses: [] }
      const paths = ['/api/system/live', '/api/system/info', '/api/shop/items/articles', '/ping']
      const answers = await Promise.all(paths.map((path) => instance.anonymous.get(path)))
      const ready = (await (await instance.anonymous.get('/api/system/ready')).json()) as Ready
      await instance.close()
      if (ready.status === 'ready') throw new Error('the instance has started')
      return { reason: ready.checks.startup, log: instance.log(), statuses: answers.map(({ status }) => status) }
    },

    async close() {
      for (const instance of [...instances]) await instance.close()
      await gateway.close()
      await postgres.close()
    },
  }
}

/** Milliseconds, far more than a line of the log takes on a busy machine. */
const LATEST = 30_000

async function mailedToken(lines: readonly string[], address: string, subject: RegExp): Promise<string> {
  const last = () => mailsIn(lines).findLast((mail) => mail.to === address && subject.test(mail.subject))
  const deadline = Date.now() + LATEST
  while (last() === undefined && Date.now() < deadline) await wait(20)
  return tokenIn(last()?.text ?? '')
}

function mailsIn(lines: readonly string[]): readonly Mail[] {
  return lines.flatMap((line) => {
    const [, to = '', subject = '', text] = /^Mail to (\S+): ([^\n]*)\n(.*)$/s.exec(line) ?? []
    return text === undefined ? [] : [{ to, subject, text: text.replaceAll(/^ {2}\| /gm, '') }]
  })
}

type Ready = { readonly status: string; readonly checks: { readonly startup: string } }

function movableClock(): MovableClock {
  let ahead = 0
  const listeners = new Set<(ahead: number) => Promise<void>>()
  return {
    now: () => Date.now() + ahead,
    ahead: () => ahead,
    async advance(milliseconds) {
      ahead += milliseconds
      for (const listener of listeners) await listener(ahead)
    },
    onMove(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

async function signedIn(url: string): Promise<Client> {
  const login = { credentials: account, mode: 'json' }
  const response = await client(url, {}).post('/api/auth/login', login)
  if (!response.ok) throw new Error(`the administrator cannot sign in: ${response.status} ${await response.text()}`)
  const { accessToken } = (await response.json()) as { accessToken: string }
  return client(url, { Authorization: `Bearer ${accessToken}` })
}
