/**
 * docs/contract.md#errors: a workspace that is deleted while a request runs is unknown (404) to that request, whichever statement of
 * it comes behind the deletion.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { deleteWorkspace } from '../../src/store/workspaces.ts'
import { type Client, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { effort } from '../support/run/effort.ts'
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
  service = await openInProcess({
    database: interrupted,
    databaseUrl: server.url,
    variables: { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true' },
  })
  client = await signIn(service.administrator, 'http://localhost', service.request)
})

afterAll(async () => {
  await service?.close()
  await database?.close()
  await server?.close()
})

/** Of the statements that a request may be interrupted before, the quick tier tries every third. */
const STRIDE = effort() === 'full' ? 1 : 3

const noAudit = { text: 'select 1', params: [] }
const email = 'somebody@example.com'
const policy = { name: 'reads', content: { collections: { notes: { read: 'all' } } } }
const test = { name: 'test', as: 'anonymous', collection: 'notes', action: 'read', expect: { allowed: false } }
const view = { name: 'view', query: {} }

type Made = Workspace & { readonly collectionId: string; readonly policyId: string; readonly plan: object }
type Asked = readonly [method: string, path: string, body?: (made: Made) => unknown]

const requests: Record<string, Asked> = {
  'the model as a file': ['POST', '/schema/apply', ({ plan }) => plan],
  'a migration': ['POST', '/schema/migrate', (made) => ({ operations: [plainCollection(made, 'books')] })],
  'an import': ['POST', '/schema/introspect/SOURCE'],
  'a source': [
    'POST',
    '/sources/data',
    () => ({ apiName: 'other', provider: 'postgres', config: { connectionString: server.url } }),
  ],
  'a policy': ['POST', '/policies', () => ({ ...policy, name: 'new' })],
  'a change of a policy': ['PATCH', '/policies/POLICY', () => ({ name: 'new' })],
  'a role': ['POST', '/roles', ({ policyId }) => ({ name: 'role', policies: [policyId] })],
  'an invitation': ['POST', '/invitations', () => ({ email, workspace_roles: [] })],
  'an access test': ['POST', '/access/tests', () => ({ ...test, name: 'new' })],
  'a view': ['POST', '/items/ServiceView', ({ collectionId }) => [{ ...view, collectionId }]],
  'a secret': ['PUT', '/secrets/secret', () => ({ value: 'kept' })],
  'an item': ['POST', '/items/notes', () => [{ id: 1 }]],
  'a list': ['GET', '/items/notes'],
  'a file': ['POST', '/assets?fileName=file', () => ({ bytes: true })],
  'settings of the assistant': ['PATCH', '/ai/settings', () => ({ limits: { requests: 1 } })],
}

async function workspace(): Promise<Made> {
  count += 1
  const made = await client.workspace(`shop${count}`)
  const at = `/api/${made.apiName}`
  await migrate(client, made, plainCollection(made, 'notes'))
  const collections = await client.send('GET', `${at}/items/ServiceCollection?filter[apiName][_eq]=notes`)
  const [{ id: collectionId }] = (collections.body as { data: [{ id: string }] }).data
  const created = await client.send('POST', `${at}/policies`, policy)
  const { id: policyId } = (created.body as { data: { id: string } }).data
  await client.send('POST', `${at}/access/tests`, test)
  const { body } = await client.send('GET', `${at}/schema/model`)
  const file = body as { readonly collections: object }
  const model = { ...file, collections: { ...file.collections, letters: { fields: { id: 'int32' } } } }
  const planned = await client.send('POST', `${at}/schema/plan`, { model })
  const { plan } = (planned.body as { data: { plan: string } }).data
  return { ...made, collectionId, policyId, plan: { model, plan } }
}

/** What is answered where the workspace goes before the statement `before`; false where there are fewer. */
async function answered([method, path, body]: Asked, before: number): Promise<number | false> {
  const made = await workspace()
  const remove = () => deleteWorkspace(database, { ...made, displayName: null }, noAudit)
  left = before
  meanwhile = remove
  const at = path.replace('SOURCE', made.sourceId).replace('POLICY', made.policyId)
  const { status } = await client.send(method, `/api/${made.apiName}${at}`, body?.(made))
  if (meanwhile === undefined) return status
  meanwhile = undefined
  await remove()
  expect(status).toBeLessThan(300)
  return false
}

it.each(Object.entries(requests))('answers %s with 404, or as done', async (_, asked) => {
  const statuses: number[] = []
  const next = () => answered(asked, statuses.length * STRIDE)
  for (let status = await next(); status !== false; status = await next()) statuses.push(status)
  const done = statuses.findIndex((status) => status < 300)
  const refused = done < 0 ? statuses : statuses.slice(0, done)

  expect(statuses[0]).toBe(404)
  expect(refused).toEqual(refused.map(() => 404))
  expect(statuses.slice(refused.length).filter((status) => status >= 300)).toEqual([])
})
