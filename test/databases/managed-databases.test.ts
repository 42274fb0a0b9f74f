/** Managed clouds: tokens instead of passwords, roles that are assumed for them, and certificates that are checked. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { parseSqlAddress } from '../../src/core/sql/address.ts'
import { requireAwsRole } from '../../src/core/sql/aws-role.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { databasePassword, iamToken } from '../../src/platform/node/network/aws-iam.ts'
import { certificatesFor } from '../../src/platform/node/network/regional-certificates.ts'
import { createNodeSqlDatabases } from '../../src/platform/node/network/sql-databases.ts'
import { certificate, otherAuthority, privateKey } from '../support/servers/certificate.ts'
import { startMariadb } from '../support/servers/mariadb.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { startWorkerDrivers } from '../support/servers/worker-drivers.ts'

const host = 'prod-instance.us-east-1.rds.amazonaws.com'
const question = { text: 'select ssl from pg_stat_ssl where pid = pg_backend_pid()', params: [] }

let server: TestPostgres

beforeAll(async () => {
  server = await startPostgres({ tls: { certificate, privateKey } })
})

afterAll(() => server?.close())

function configOf(auth: object) {
  return { host, database: 'd', user: 'someusername', auth: { kind: 'aws-iam', region: 'us-east-1', ...auth } }
}

it('signs the token as the example of the AWS SDK says', async () => {
  const token = await iamToken({ host, port: 3306, user: 'someusername' }, 'us-east-1', {
    keys: { id: 'akid', secret: 'skid', session: undefined },
    datetime: '20161107T173933Z',
  })

  expect(token.startsWith(`${host}:3306/?`)).toBe(true)
  expect(Object.fromEntries(new URL(`https://${token}`).searchParams)).toEqual({
    Action: 'connect',
    DBUser: 'someusername',
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': 'akid/20161107/us-east-1/rds-db/aws4_request',
    'X-Amz-Date': '20161107T173933Z',
    'X-Amz-Expires': '900',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': 'd1138cdbc0ca63eec012ec0fc6c2267e03642168f5884a7795320d4c18374c61',
  })
})

it('waits for STS no longer than its time limit, and says so', async () => {
  const never: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    })
  const auth = { roleArn: 'arn:aws:iam::123456789012:role/own', accessKeyId: 'id', secretAccessKey: 's' }
  const address = parseSqlAddress('postgres', configOf(auth))
  const password = databasePassword(address, { fetch: never as never, environment: {}, timeLimit: 20 })

  await expect((password as () => Promise<string>)()).rejects.toThrow('STS did not answer')
})

it('uses the keys of the environment for roles that the operator lists, and for nothing else', async () => {
  const environment = { AWS_ACCESS_KEY_ID: 'envid', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 'session' }
  const asked: { readonly authorization: string | null; readonly body: string }[] = []
  const sts: typeof fetch = async (_, init) => {
    const { headers, body } = init as { headers: Headers; body: string }
    asked.push({ authorization: headers.get('authorization'), body })
    return new Response(null, { status: 403 })
  }
  const roleArn = 'arn:aws:iam::123456789012:role/listed'
  const awsRoles = [{ roleArn, externalId: 'our-id', workspaces: ['shop'] }]
  const options = { fetch: sts as never, environment, awsRoles }
  const ask = (auth: object) =>
    (databasePassword(parseSqlAddress('mysql', configOf(auth)), options) as () => Promise<string>)()
  const refused = { name: 'SqlFault', state: '28000' }

  await expect(ask({})).rejects.toMatchObject(refused)
  await expect(ask({ roleArn: 'arn:aws:iam::123456789012:role/other' })).rejects.toMatchObject(refused)
  expect(asked).toEqual([])
  await expect(ask({ roleArn })).rejects.toMatchObject(refused)
  await expect(ask({ roleArn, accessKeyId: 'own', secretAccessKey: 's' })).rejects.toMatchObject(refused)
  expect(asked[0]?.authorization).toContain('Credential=envid/')
  expect(asked[0]?.body).toContain('ExternalId=our-id')
  expect(asked[1]?.authorization).toContain('Credential=own/')
  expect(asked[1]?.body).not.toContain('ExternalId')
})

it('opens a listed role to the workspaces that are named, all of them where none are', () => {
  const [bound, open] = ['arn:aws:iam::123456789012:role/bound', 'arn:aws:iam::123456789012:role/open']
  const roles = [{ roleArn: bound, workspaces: ['shop'] }, { roleArn: open }]
  const check = (auth: object, workspace: string) => () =>
    requireAwsRole(parseSqlAddress('postgres', configOf(auth)), roles, workspace)
  const refused = expect.objectContaining({ kind: 'invalid' })

  for (const [auth, workspace] of [
    [{ roleArn: bound }, 'shop'],
    [{ roleArn: open }, 'other'],
    [{ roleArn: bound, accessKeyId: 'i', secretAccessKey: 's' }, 'other'],
    [{ accessKeyId: 'i', secretAccessKey: 's' }, 'other'],
  ] as const) {
    expect(check(auth, workspace)).not.toThrow()
  }
  for (const [auth, workspace] of [
    [{ roleArn: bound }, 'other'],
    [{ roleArn: 'arn:aws:iam::123456789012:role/unlisted' }, 'shop'],
    [{}, 'shop'],
  ] as const) {
    expect(check(auth, workspace)).toThrow(refused)
  }
})

it.each([
  ['[]', true],
  ['[{"roleArn":"arn:aws:iam::123456789012:role/a","externalId":"xy","workspaces":["shop"]}]', true],
  ['{}', false],
  ['[{"roleArn":"a"}]', false],
  ['[{"roleArn":"arn:aws:iam::123456789012:role/a","unknown":1}]', false],
  ['not json', false],
])('%s is a value of SERVICE_SOURCES__AWS_ROLES: %s', (value, isOne) => {
  expect(readConfig({ SERVICE_SOURCES__AWS_ROLES: value }).kind).toBe(isOne ? 'valid' : 'invalid')
})

it('assumes the role once for many connections, and signs with its keys', async () => {
  const asked: { authorization: string | undefined; body: string }[] = []
  const sts = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      asked.push({ authorization: request.headers.authorization, body })
      const Credentials = {
        AccessKeyId: 'ASSUMED',
        SecretAccessKey: 'secret',
        SessionToken: 'assumed-session',
        Expiration: Math.floor(Date.now() / 1_000) + 3_600,
      }
      response.end(JSON.stringify({ AssumeRoleResponse: { AssumeRoleResult: { Credentials } } }))
    })
  }).listen(0, '127.0.0.1')
  await once(sts, 'listening')
  const environment = { AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${(sts.address() as AddressInfo).port}/` }
  const roleArn = 'arn:aws:iam::123456789012:role/reader'
  const auth = { accessKeyId: 'akid', secretAccessKey: 'skid', roleArn }
  const password = databasePassword(parseSqlAddress('postgres', configOf(auth)), { fetch, environment })

  const tokens = [await (password as () => Promise<string>)(), await (password as () => Promise<string>)()]
  sts.close()

  expect(asked).toHaveLength(1)
  expect(asked[0]?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=akid\/\d{8}\/us-east-1\/sts\/aws4_request/)
  expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toMatchObject({
    Action: 'AssumeRole',
    RoleArn: roleArn,
  })
  for (const token of tokens) {
    const { searchParams } = new URL(`https://${token}`)
    expect(searchParams.get('X-Amz-Credential')).toMatch(/^ASSUMED\//)
    expect(searchParams.get('X-Amz-Security-Token')).toBe('assumed-session')
  }
})

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

it('asks for a password for each connection', async () => {
  const { hostname, port, username, password } = new URL(server.url)
  let asked = 0
  const driver = openPostgres({
    address: {
      host: hostname,
      port: Number(port),
      user: username,
      database: 'postgres',
      tls: { ca: certificate },
      socket: () => new Socket(),
      async password() {
        asked += 1
        return password
      },
    },
  })

  const pause = { text: 'select pg_sleep(0.05)', params: [] }
  await Promise.all([driver.batch([pause]), driver.batch([pause])])
  await driver.close()

  expect(asked).toBe(2)
})

it('knows the authorities of the region that a host of RDS is in', () => {
  const own = certificatesFor('db.abc.eu-west-1.rds.amazonaws.com') ?? []

  expect(own.length).toBeGreaterThan(0)
  expect(own.length).toBeLessThan(10)
  expect(certificatesFor('db.abc.xx-nowhere-9.rds.amazonaws.com')?.length).toBeGreaterThan(50)
  expect(certificatesFor('db.example.com')).toBeUndefined()
  expect(certificatesFor('rds.amazonaws.com.example.com')).toBeUndefined()
})

it.each([
  ['the authority that signed it', { ca: certificate }, '127.0.0.1', [['t']]],
  ['no authority', true, '127.0.0.1', undefined],
])('checks the certificate of a server against %s', async (_what, tls, name, rows) => {
  const { port, username, password } = new URL(server.url)
  const config = { host: name, port: Number(port), database: 'postgres', user: username, password, tls }
  const driver = createNodeSqlDatabases({ allowPrivate: true, environment: {} }).open(
    parseSqlAddress('postgres', config),
  )

  const answer = driver.query(question)
  if (rows === undefined) await expect(answer).rejects.toMatchObject({ name: 'SqlFault', state: '08000' })
  else expect(await answer).toEqual(rows)
  await driver.close()
})

describe.each([
  ['PostgreSQL', 'postgres'],
  ['MariaDB', 'mysql'],
] as const)('a Worker and the certificate of %s', (_name, part) => {
  it('connect where it trusts the authority that signed it, and only there', async () => {
    const address = part === 'postgres' ? postgresAddress() : await mariadbAddress()
    const [trusting, other] = [
      await startWorkerDrivers(part, certificate),
      await startWorkerDrivers(part, otherAuthority),
    ]
    const select = { text: 'select 1', params: [] }

    expect(await trusting.open(address).query(select)).toEqual([['1']])
    expect(await trusting.open(address).batch([select, select])).toEqual([[['1']], [['1']]])
    await expect(other.open(address).query(select)).rejects.toMatchObject({ name: 'SqlFault', state: '08000' })

    await Promise.all([trusting.close(), other.close()])
  })

  function postgresAddress() {
    const { hostname: host, port, username: user, password } = new URL(server.url)
    return { host, port: Number(port), user, password, database: 'postgres', isTls: true, isPooled: false }
  }

  async function mariadbAddress() {
    const mariadb = await startMariadb({ tls: { certificate, privateKey } })
    onTestFinished(mariadb.close)
    const { host, port, user, password, database } = mariadb
    return { host, port, user, password, database, isTls: true, isPooled: false }
  }
})
