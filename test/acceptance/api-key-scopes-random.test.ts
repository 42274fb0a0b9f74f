/**
 * Random rights × random scopes over HTTP: a key with a scope is let in exactly where the same key without it is, and the
 * scope allows it too. The scope is judged here by its names alone.
 */
import { expect, it } from 'vitest'
import { createDice } from '../fuzz/support/dice.ts'
import { casesOr } from '../support/run/cases.ts'
import { people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

const keys = '/api/system/api-keys'
const shape = { articles: { title: 'string' }, secrets: { title: 'string' } }
const shops = [await world.workspace('random', shape), await world.workspace('random', shape)]
const collections = Object.keys(shape)
const actions = ['read', 'create', 'update', 'delete'] as const
const entitlements = [
  'dataModel:read',
  'dataModel:edit',
  'workspaceMembers:read',
  'auditLog:read',
  'openApiSchema:read',
  'extension:read',
  'workspace:read',
  'ai:mcp',
] as const

type Action = (typeof actions)[number]
type Scope = {
  readonly workspaces?: readonly string[]
  readonly entitlements?: readonly string[]
  readonly collections?: Readonly<Record<string, readonly Action[]>>
}

/** One request, and what a scope has to leave for it. */
type Probe = {
  readonly send: (client: Client, shop: Workspace) => Promise<Response>
  readonly needs: string | { readonly collection: string; readonly action: Action }
}

const probes: readonly Probe[] = [
  ...collections.flatMap((collection): Probe[] => {
    const at = (shop: Workspace) => `/api/${shop.name}/items/${collection}`
    const needs = (action: Action) => ({ collection, action })
    return [
      { needs: needs('read'), send: (client, shop) => client.get(`${at(shop)}?limit=1`) },
      { needs: needs('create'), send: (client, shop) => client.post(at(shop), [{ title: 'Lamp' }]) },
      { needs: needs('update'), send: (client, shop) => client.patch(at(shop), { title: 'Lamp' }) },
      { needs: needs('delete'), send: (client, shop) => client.delete(at(shop)) },
    ]
  }),
  entitled('dataModel:read', (client, base) => client.get(`${base}/schema`)),
  entitled('dataModel:edit', (client, base) => client.post(`${base}/schema/migrate?dryRun=true`, { operations: [] })),
  entitled('workspaceMembers:read', (client, base) => client.get(`${base}/members?limit=1`)),
  entitled('workspaceMembers:read', (client, base) => client.get(`${base}/policies?limit=1`)),
  entitled('auditLog:read', (client, base) => client.get(`${base}/audit-log?limit=1`)),
  entitled('openApiSchema:read', (client, base) => client.get(`${base}/openapi`)),
  entitled('extension:read', (client, base) => client.get(`${base}/connectors/data`)),
  entitled('workspace:read', (client, base) => client.get(`${base}/license`)),
  entitled('ai:mcp', (client, base) =>
    client.send('POST', `${base}/mcp`, {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      headers: { Accept: 'application/json, text/event-stream' },
    }),
  ),
]

const ROUNDS = casesOr(8, { share: 1 / 4 })
const random = randomOf(44)

it(`lets a key in exactly where its user and its scope both do, ${ROUNDS} times over`, async () => {
  const made = await world.administrator.post('/api/system/service-accounts', { name: 'random' })
  const { data } = (await made.json()) as { data: { id: string } }
  const counts = { both: 0, neither: 0, rights: 0, scope: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const roles = []
    for (const shop of shops) roles.push({ workspace: shop.name, roleId: await randomRole(shop) })
    await world.administrator.patch(`/api/system/service-accounts/${data.id}`, { roles })
    const scope = randomScope()
    const [whole, part] = [await keyOf(data.id, undefined), await keyOf(data.id, scope)]
    for (const shop of shops) {
      for (const { send, needs } of probes) {
        const [byRights, byKey] = [isLetIn(await send(whole, shop)), isLetIn(await send(part, shop))]
        const byScope = leaves(scope, shop.name, needs)
        expect([scope, shop.name, needs, byKey]).toEqual([scope, shop.name, needs, byRights && byScope])
        counts[byRights ? (byScope ? 'both' : 'rights') : byScope ? 'scope' : 'neither'] += 1
      }
    }
  }
  // Every combination was met.
  expect(Object.values(counts).every((count) => count > 0)).toBe(true)
})

function entitled(needs: string, send: (client: Client, base: string) => Promise<Response>): Probe {
  return { needs, send: (client, shop) => send(client, `/api/${shop.name}`) }
}

/** Whatever else is wrong with a request, it is not forbidden. */
function isLetIn({ status }: Response): boolean {
  return status !== 403
}

function leaves(scope: Scope, workspace: string, needs: Probe['needs']): boolean {
  if (scope.workspaces?.includes(workspace) === false) return false
  if (typeof needs === 'string') return scope.entitlements?.includes(needs) ?? true
  return scope.collections === undefined || scope.collections[needs.collection]?.includes(needs.action) === true
}

async function randomRole(shop: Workspace): Promise<string> {
  if (random() < 0.2) return people.administratorRole(shop)
  const held = collections.map((name) => [name, Object.fromEntries(some(actions).map((action) => [action, 'all']))])
  return people.roleWith(shop, { entitlements: some(entitlements), collections: Object.fromEntries(held) })
}

/** At least one member limits something. */
function randomScope(): Scope {
  const names = shops.map(({ name }) => name)
  const hasCollections = random() < 0.5
  const scope: Scope = {
    // Whoever makes the key acts in all workspaces of this server, too many to look the names of collections up in.
    ...(random() < 0.4 ? { workspaces: some(names) } : hasCollections && { workspaces: names }),
    ...(random() < 0.5 && { entitlements: some(entitlements) }),
    ...(hasCollections && {
      collections: Object.fromEntries(some(collections).map((name) => [name, some(actions)])),
    }),
  }
  return Object.keys(scope).length === 0 ? randomScope() : scope
}

function some<T>(values: readonly T[]): T[] {
  return values.filter(() => random() < 0.6)
}

async function keyOf(userId: string, scope: Scope | undefined): Promise<Client> {
  const response = await world.administrator.post(keys, { name: 'random', userId, ...(scope && { scope }) })
  const text = await response.text()
  if (response.status !== 201)
    throw new Error(`${keys} answered ${response.status} to ${JSON.stringify(scope)}: ${text}`)
  return world.bearer((JSON.parse(text) as { data: { key: string } }).data.key)
}

function randomOf(seed: number): () => number {
  const dice = createDice(seed)
  return () => dice.below(1_000_000) / 1_000_000
}
