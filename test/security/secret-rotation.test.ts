/** SERVICE_SECRET as a list, `npm run secrets:rotate` on a real system database, and secrets in other processes. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { openVault } from '../../src/platform/vault.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { secretPurpose } from '../../src/services/accounts/providers.ts'
import { rotateSecrets } from '../../src/services/instance/secret-rotation.ts'
import { sourcePurpose } from '../../src/services/model/source-settings.ts'
import { insertProvider } from '../../src/store/providers.ts'
import { listSealed } from '../../src/store/sealed.ts'
import { sealSource } from '../../src/store/sources.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let postgres: TestPostgres
let database: SqlDriver
const [old, fresh] = [secret(), secret()]

function secret(): string {
  return randomBytes(32).toString('base64url')
}

beforeAll(async () => {
  postgres = await startPostgres()
  database = openPostgres({ connectionString: postgres.url })
})

afterAll(async () => {
  await database.close()
  await postgres.close()
})

it('seals with the first, opens with all, and says what is sealed with another', async () => {
  const [before, after] = [openVault(old), openVault(`${fresh},${old}`)]
  const sealed = await before.seal('p', 'text')

  expect(await after.open('p', sealed)).toBe('text')
  const again = (await after.reseal('p', sealed)) ?? ''
  expect(await openVault(fresh).open('p', again)).toBe('text')
  expect(await after.reseal('p', again)).toBeUndefined()
  await expect(before.open('p', again)).rejects.toThrow('cannot be opened')
  await expect(after.open('q', sealed)).rejects.toThrow('cannot be opened')
  await expect(after.reseal('q', sealed)).rejects.toThrow('cannot be opened')
})

it('opens what a secret with a comma sealed, given alone or behind a new one', async () => {
  const material = 'a,secret,with,commas,of,more,than,32,bytes,in,all'
  const bytes = await sealedBySecretWithComma(material)

  expect(await openVault(`${fresh},${material}`).open('p', bytes)).toBe('text')
  expect(await openVault(material).open('p', bytes)).toBe('text')
})

/** What the vault made of such a secret when it was one. */
async function sealedBySecretWithComma(material: string): Promise<string> {
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: Buffer.from('vault v1') }
  const raw = await crypto.subtle.importKey('raw', Buffer.from(material), 'HKDF', false, ['deriveKey'])
  const key = await crypto.subtle.deriveKey(hkdf, raw, { name: 'AES-GCM', length: 256 }, false, ['encrypt'])
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const algorithm = { name: 'AES-GCM', iv, additionalData: Buffer.from('p') }
  const text = new Uint8Array(await crypto.subtle.encrypt(algorithm, key, Buffer.from('text')))
  return `v1.${Buffer.concat([iv, text]).toString('base64url')}`
}

it.each([
  [old, true],
  [`${fresh},${old}`, true],
  [`${fresh},a,b,${old}`, true],
  ['short', false],
  [`${fresh},short`, false],
  [`short,${old}`, false],
  [`${fresh},`, false],
  [`,${fresh}`, false],
])('%s is a value of SERVICE_SECRET: %s', (value, isOne) => {
  expect(readConfig({ SERVICE_SECRET: value }).kind).toBe(isOne ? 'valid' : 'invalid')
})

it('re-seals everything once, and nothing the second time, while the service runs', async () => {
  const service = await openInProcess({ database, databaseUrl: postgres.url, variables: { SERVICE_SECRET: old } })
  await sealOneOfEach(service)

  const vault = openVault(`${fresh},${old}`)
  const told: string[] = []
  const first = await rotateSecrets({ database, vault }, (done, total) => told.push(`${done}/${total}`))
  const second = await rotateSecrets({ database, vault }, () => {})
  const blind = await rotateSecrets({ database, vault: openVault(secret()) }, () => {})

  const kinds = (await listSealed(database)).map(({ kind }) => kind)
  expect(new Set(kinds)).toEqual(new Set(['signingKey', 'provider', 'secret', 'source']))
  expect(first).toEqual({ total: kinds.length, resealed: kinds.length, superseded: 0, unreadable: [] })
  expect(told.at(-1)).toBe(`${kinds.length}/${kinds.length}`)
  expect(second).toEqual({ total: kinds.length, resealed: 0, superseded: 0, unreadable: [] })
  expect(blind.unreadable).toHaveLength(kinds.length)
  await service.close()
  // A start with the new one alone reads the signing key, and a source.
  const renewed = await openInProcess({ database, databaseUrl: postgres.url, variables: { SERVICE_SECRET: fresh } })
  await renewed.close()
})

async function sealOneOfEach(service: InProcess): Promise<void> {
  const vault = openVault(old)
  const { send } = await signedIn(service)
  expect((await send('POST', '/api/system/workspaces', { apiName: 'shop' })).status).toBe(201)
  expect((await send('PUT', '/api/shop/secrets/password', { value: 'a value' })).status).toBe(204)
  const [[sourceId] = []] = await database.query({ text: 'select id from service_shop_meta.data_source', params: [] })
  const setting = await vault.seal(sourcePurpose(sourceId ?? ''), '{}')
  const id = randomUUID()
  const sealedClientSecret = await vault.seal(secretPurpose(id), 'a client secret')
  const claims = { subject: 'sub', email: 'email', emailVerified: 'email_verified' }
  const server = { kind: 'openid', issuer: 'https://id.example.com', claims } as const
  await database.batch([
    sealSource({ workspace: 'shop', sourceId: sourceId ?? '' }, setting),
    insertProvider({
      ...{ id, name: 'example', server, clientId: 'c', sealedClientSecret, scopes: [], enabled: false },
      autoJoinRoleId: null,
    }),
  ])
}

async function signedIn({ request, administrator }: InProcess) {
  const call = (method: string, path: string, body?: object, token?: string) =>
    request(`http://127.0.0.1${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const login = await call('POST', '/api/auth/login', { credentials: administrator, mode: 'json' })
  const { accessToken } = (await login.json()) as { accessToken: string }
  return { send: (method: string, path: string, body?: object) => call(method, path, body, accessToken) }
}

it('a secret or a configuration that is written in one process is read anew in the other within 5 seconds', async () => {
  const other = await startPostgres()
  const tables = openPostgres({ connectionString: other.url })
  await tables.query({ text: 'create table crates (id integer primary key)', params: [] })
  await tables.close()
  const startGateway = () => startNeonGateway(other.url)
  const gateways = [await startGateway(), await startGateway(), await startGateway(), await startGateway()]
  const mine = openPostgres({ connectionString: postgres.url })
  const administrator = { email: 'second@example.com', password: 'a password of some length' }
  const variables = { SERVICE_SECRET: `${old},${fresh}`, SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true' }
  await database.query({ text: 'drop schema if exists service cascade', params: [] })
  await database.query({ text: 'drop schema if exists service_shop_meta, service_shop_data cascade', params: [] })
  const first = await openInProcess({
    database: mine,
    databaseUrl: postgres.url,
    variables: {
      ...variables,
      SERVICE_ADMIN__EMAIL: administrator.email,
      SERVICE_ADMIN__PASSWORD: administrator.password,
    },
  })
  let ahead = 0
  const clock = { now: () => Date.now() + ahead }
  const second = await openInProcess({ database, databaseUrl: postgres.url, variables, clock })
  const [here, there] = [await signedIn(first), await signedIn({ ...second, administrator })]
  const read = async () => (await there.send('GET', '/api/depot/items/crates')).status

  await here.send('POST', '/api/system/workspaces', { apiName: 'depot' })
  await here.send('PUT', '/api/depot/secrets/dsn', { value: gateways[0]?.url })
  const config = { connectionString: { $secret: 'dsn' } }
  const created = await here.send('POST', '/api/depot/sources/data', { apiName: 'store', provider: 'neon', config })
  const { data } = (await created.json()) as { data: { id: string } }
  expect((await here.send('POST', `/api/depot/schema/introspect/${data.id}`)).status).toBe(200)
  ahead += 5_000
  expect(await read()).toBe(200)

  expect((await here.send('PUT', '/api/depot/secrets/dsn', { value: gateways[1]?.url })).status).toBe(204)
  await gateways[0]?.close()

  ahead += 5_000
  expect(await read()).toBe(200)

  // Also without a secret, before and after.
  for (const place of [2, 3]) {
    const changed = { config: { connectionString: gateways[place]?.url } }
    expect((await here.send('PATCH', `/api/depot/sources/data/${data.id}`, changed)).status).toBe(204)
    await gateways[place - 1]?.close()
    ahead += 5_000
    expect(await read()).toBe(200)
  }
  await first.close()
  await second.close()
  await mine.close()
  await gateways[3]?.close()
  await other.close()
})
