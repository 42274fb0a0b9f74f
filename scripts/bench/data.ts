/**
 * A real Postgres with the service's data. One instance of the service runs in this process: it creates the data
 * through the API and records the statements it sends, so that the bare handler can send the same.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Eventual } from '../../src/core/and-then.ts'
import type { Statement } from '../../src/core/sql/statement.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { startPostgres, type TestPostgres } from '../../test/support/servers/postgres.ts'
import { openInProcess } from '../../test/support/service/in-process.ts'
import { generousLicense } from '../../test/support/service/license.ts'
import type { RecordedParam, RecordedStatement } from './bare.ts'
import { type Case, cases } from './cases.ts'
import { type Api, makeMainWorkspace } from './model.ts'

export type Data = {
  readonly databaseUrl: string
  /** Variables for a server of this data. */
  readonly environment: Readonly<Record<string, string>>
  readonly token: string
  /** One for each case, by name. */
  readonly statements: readonly RecordedStatement[]
  readonly api: Api
  /** Returns the text of the last mail to an address. */
  readonly mailTo: (address: string) => string
  /** Runs the license check of an item request, in the instance of this process. */
  readonly admit: () => Eventual<void>
  readonly close: () => Promise<void>
}

export async function openData(): Promise<Data> {
  const database = await startPostgres()
  try {
    return await makeData(database)
  } catch (cause) {
    await database.close()
    throw cause
  }
}

async function makeData(database: TestPostgres): Promise<Data> {
  const email = 'bench@example.com'
  const password = randomBytes(12).toString('hex')
  const environment = {
    ...(await generousLicense()),
    PORT: '0',
    SERVICE_HOST: '127.0.0.1',
    SERVICE_DATABASE_URL: database.url,
    SERVICE_SECRET: randomBytes(32).toString('hex'),
    SERVICE_ADMIN__EMAIL: email,
    SERVICE_ADMIN__PASSWORD: password,
  }
  const instance = await openInstance(environment, database.url)
  const credentials = { credentials: { email, password }, mode: 'json' }
  const { accessToken: token } = (await instance.api()('POST', '/api/auth/login', credentials)) as {
    accessToken: string
  }
  const api = instance.api(token)
  await makeMainWorkspace(api)
  await analyze(database.url)
  const statements: RecordedStatement[] = []
  for (const each of cases) statements.push(await record(each, api, instance.sent))
  return {
    databaseUrl: database.url,
    environment,
    token,
    statements,
    api,
    mailTo: instance.mailTo,
    admit: instance.admit,
    async close() {
      await instance.close()
      await database.close()
    },
  }
}

async function openInstance(environment: Readonly<Record<string, string>>, databaseUrl: string) {
  const sent: Statement[] = []
  const database = recording(openPostgres({ connectionString: databaseUrl }), sent)
  const { request, services, mails, close } = await openInProcess({ database, databaseUrl, variables: environment })
  return {
    sent,
    admit: () => services.licensing.admit(0),
    mailTo: (address: string) => mails.findLast(({ to }) => to === address)?.text ?? '',
    api: (token?: string): Api => {
      const headers = {
        'Content-Type': 'application/json',
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      }
      return async (method, path, body) => {
        const response = await request(`http://localhost${path}`, {
          method,
          headers,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
        return text === '' ? undefined : JSON.parse(text)
      }
    },
    async close() {
      await close()
      await database.close()
    },
  }
}

function recording(driver: SqlDriver, sent: Statement[]): SqlDriver {
  return {
    ...driver,
    query(statement) {
      sent.push(statement)
      return driver.query(statement)
    },
    batch(statements) {
      sent.push(...statements)
      return driver.batch(statements)
    },
  }
}

/** No other parameter of any case has this value. */
const MARK = '1234'

/** A warm request sends one statement; the first request warms up. */
async function record({ name, path, item }: Case, api: Api, sent: Statement[]): Promise<RecordedStatement> {
  const method = item === undefined ? 'GET' : 'POST'
  const ask = () => api(method, `/api/bench${path.replace('{key}', MARK)}`, item && [item])
  await ask()
  const statement = await onlyStatement(ask, sent)
  if (statement === undefined) throw new Error(`${name} never sends one statement alone`)
  const fields = new Map(Object.entries(item ?? {}).map(([field, value]) => [String(value), field]))
  const params = statement.params.map((value): RecordedParam => {
    const field = value === null ? undefined : fields.get(value)
    if (field !== undefined) return { kind: 'field', name: field }
    return value === MARK && item === undefined ? { kind: 'key' } : { kind: 'fixed', value }
  })
  return { name, method, text: statement.text, params }
}

/** Returns the statement of a request; retries if the periodic read of versions came in between. */
async function onlyStatement(ask: () => Promise<unknown>, sent: Statement[]): Promise<Statement | undefined> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    sent.length = 0
    await ask()
    if (sent.length === 1) return sent[0]
  }
  return undefined
}

/** Both sides use the same query plans from the first request on. */
async function analyze(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query('vacuum analyze')
  await client.end()
}
