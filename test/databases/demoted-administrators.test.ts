/**
 * docs/contract.md#credentials: what administrators of the instance do, they do only while they are such, whichever statement of the
 * request comes behind the change that takes it from them.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { type Client, signIn } from '../migration/support/client.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let server: TestPostgres
let database: SqlDriver
let service: InProcess
let client: Client
let count = 0
/** Statements and batches until `meanwhile` runs, before the next one. */
let left = 0
let meanwhile: (() => Promise<unknown>) | undefined

async function interrupt(): Promise<void> {
  left -= 1
  const work = left < 0 ? meanwhile : undefined
  if (work !== undefined) meanwhile = undefined
  await work?.()
}

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  const interrupted: SqlDriver = {
    ...database,
    query: (statement, context) => interrupt().then(() => database.query(statement, context)),
    batch: (statements, context) => interrupt().then(() => database.batch(statements, context)),
  }
  service = await openInProcess({ database: interrupted, databaseUrl: server.url })
  client = await signIn(service.administrator, 'http://localhost', service.request)
})

afterAll(async () => {
  await service?.close()
  await database?.close()
  await server?.close()
})

type Made = { readonly name: string; readonly user: string }
type Sent = readonly [method: string, path: string, body?: object]

const provider = {
  issuer: 'https://idp.example.com',
  clientId: 'service',
  clientSecret: 'secret',
  scopes: ['openid', 'email'],
  enabled: false,
}

const requests: Record<string, (made: Made) => Sent | Promise<Sent>> = {
  'a new provider': ({ name }) => ['POST', '/providers', { ...provider, name }],
  'a change of a provider': async ({ name }) => {
    await created('/providers', { ...provider, name })
    return ['PATCH', `/providers/${name}`, { enabled: true }]
  },
  'the deletion of a provider': async ({ name }) => {
    await created('/providers', { ...provider, name })
    return ['DELETE', `/providers/${name}`]
  },
  'a change of an account': ({ user }) => ['PATCH', `/users/${user}`, { status: 'suspended' }],
  'the deletion of an account': ({ user }) => ['DELETE', `/users/${user}`],
  'a new service account of another': ({ name, user }) => ['POST', '/service-accounts', { name, owner: user }],
  'a change of a service account': async ({ name, user }) => [
    'PATCH',
    `/service-accounts/${await created('/service-accounts', { name, owner: user })}`,
    { name: 'new' },
  ],
  'the deletion of a service account': async ({ name, user }) => [
    'DELETE',
    `/service-accounts/${await created('/service-accounts', { name, owner: user })}`,
  ],
  'a new key of another': ({ name, user }) => ['POST', '/api-keys', { name, userId: user }],
  'a change of a key': async ({ name, user }) => [
    'PATCH',
    `/api-keys/${await created('/api-keys', { name, userId: user })}`,
    { active: false },
  ],
  'the deletion of a key': async ({ name, user }) => [
    'DELETE',
    `/api-keys/${await created('/api-keys', { name, userId: user })}`,
  ],
  'a new workspace': ({ name }) => ['POST', '/workspaces', { apiName: name }],
  'the deletion of a workspace': async ({ name }) => ['DELETE', `/workspaces/${await foreignWorkspace(name)}`],
  'a change of a workspace': async ({ name }) => [
    'PATCH',
    `/workspaces/${await foreignWorkspace(name)}`,
    { displayName: 'new' },
  ],
}

async function created(path: string, body: object): Promise<string> {
  const { status, body: answer } = await client.send('POST', `/api/system${path}`, body)
  expect(status, JSON.stringify(answer)).toBe(201)
  return (answer as { data: { id: string } }).data.id
}

/** One of which whoever administers the instance is no member. */
async function foreignWorkspace(apiName: string): Promise<string> {
  const id = await created('/workspaces', { apiName })
  await database.query({ text: 'delete from service.member where workspace_id = $1::uuid', params: [id] })
  return id
}

async function administer(isAdministrator: boolean): Promise<void> {
  await database.batch([
    { text: 'update service.instance set access_version = access_version + 1', params: [] },
    {
      text: 'update service."user" set is_administrator = $1::boolean where email = $2',
      params: [String(isAdministrator), service.administrator.email],
    },
  ])
}

/** What is recorded, and workspaces whose deletion has begun. */
async function entries(): Promise<number> {
  const text = 'select (select count(*) from service.audit_entry) + (select count(*) from service.deleted_workspace)'
  const [[found] = []] = await database.query({ text, params: [] })
  return Number(found)
}

/** What is answered where the right goes before the statement `before`, and whether it was done by then; false where there are fewer. */
async function answered(request: (made: Made) => Sent | Promise<Sent>, before: number) {
  count += 1
  const [name, user] = [`name${count}`, randomUUID()]
  // The license lets there be a few.
  await database.query({ text: 'delete from service.workspace', params: [] })
  await database.query({
    text: 'insert into service."user" (id, email, email_proven_at) values ($1::uuid, $2, now())',
    params: [user, `${name}@example.com`],
  })
  const [method, path, body] = await request({ name, user })
  const known = await entries()
  let isDone = false
  left = before
  meanwhile = async () => {
    isDone = (await entries()) > known
    await administer(false)
  }
  const { status } = await client.send(method, `/api/system${path}`, body)
  if (meanwhile === undefined) {
    await administer(true)
    return { status, isDone }
  }
  meanwhile = undefined
  expect(status).toBeLessThan(300)
  return false
}

it.each(Object.entries(requests))('does %s, or refuses it, as its sender may when it is done', async (_, request) => {
  const answers: { status: number; isDone: boolean }[] = []
  for (let one = await answered(request, 0); one !== false; one = await answered(request, answers.length)) {
    answers.push(one)
  }

  expect([403, 404]).toContain(answers[0]?.status)
  expect(answers.filter(({ status, isDone }) => isDone !== status < 300)).toEqual([])
  expect(answers.filter(({ status }) => status >= 300 && ![403, 404].includes(status))).toEqual([])
})
