/**
 * Service accounts and API keys in the hands of those who delegate: what they make of them, acting as themselves or by what
 * they have made before.
 */
import fc from 'fast-check'
import type { Act, Draw, Inventory } from './delegation-acts.ts'
import { type DelegationWorld, people } from './delegation-world.ts'
import { type Name, names } from './library.ts'

const accounts = '/api/system/service-accounts'
const keys = '/api/system/api-keys'

export type Scope = {
  readonly workspaces?: readonly string[]
  readonly entitlements?: readonly string[]
  readonly collections?: Readonly<Partial<Record<Name, readonly string[]>>>
}

/** An API key, with its own scope and those of all keys that it was made with. */
export type Key = { readonly id: string; readonly userId: string; readonly scopes: readonly Scope[] }

/** What there is by now, by id: accounts with their owners, and keys. */
export type Estate = { readonly owners: Map<string, string>; readonly keys: Key[] }

/** Somebody who acts: by a key of the beginning, or by one of those that were made. */
export type Actor = { readonly userId: string; readonly by: string; readonly scopes: readonly Scope[] }

export function drawActor(draw: Draw, estate: Estate): Actor {
  const made = estate.keys.map(({ id, userId, scopes }): Actor => ({ userId, by: id, scopes }))
  const [manager, creature] = [people.manager, people.creature].map((id): Actor => ({ userId: id, by: id, scopes: [] }))
  const from = draw(fc.integer({ min: 0, max: 9 }))
  if (from > 6 && made.length > 0) return draw(fc.constantFrom(...made))
  return (from === 0 ? creature : manager) as Actor
}

const wishes = fc.oneof(
  { weight: 3, arbitrary: fc.constant('makeAccount' as const) },
  { weight: 3, arbitrary: fc.constant('changeAccount' as const) },
  { weight: 1, arbitrary: fc.constant('handOn' as const) },
  { weight: 1, arbitrary: fc.constant('seize' as const) },
  { weight: 5, arbitrary: fc.constant('makeKey' as const) },
  { weight: 2, arbitrary: fc.constant('changeOwn' as const) },
)

/** Something about accounts or keys; `asFounder` where it is an administrator of the instance who does it. */
export function drawAccountAct(
  draw: Draw,
  { roles }: Inventory,
  estate: Estate,
  actor: Actor,
): Act & { readonly asFounder?: true } {
  const granted = () => draw(fc.subarray([...roles], { maxLength: 2 })).map((roleId) => ({ workspace: 'shop', roleId }))
  const known = [...estate.owners.keys()]
  const make: Act = { method: 'POST', path: accounts, body: { name: draw(fc.uuid()), roles: granted() } }
  const [wish, account] = [draw(wishes), known.length === 0 ? undefined : draw(fc.constantFrom(...known))]
  switch (wish) {
    case 'makeKey': {
      const scope = draw(fc.option(anyScope, { nil: undefined, freq: 1 }))
      const userId = draw(fc.constantFrom(undefined, ...known, people.administrator, people.creature))
      return { method: 'POST', path: keys, body: { name: 'made', ...(scope && { scope }), ...(userId && { userId }) } }
    }
    case 'changeOwn': {
      const target = estate.owners.get(actor.userId) ?? actor.userId
      const body = { roles: draw(fc.subarray([...roles], { maxLength: 3 })) }
      return { method: 'PATCH', path: `/api/shop/members/${draw(fc.constantFrom(target, actor.userId))}`, body }
    }
    case 'makeAccount':
      return make
  }
  if (account === undefined) return make
  const path = `${accounts}/${account}`
  const owner = draw(fc.constantFrom(people.creature, people.manager, people.stranger))
  if (wish === 'changeAccount') return { method: 'PATCH', path, body: { roles: granted() } }
  return { method: 'PATCH', path, body: { owner }, ...(wish === 'handOn' && { asFounder: true }) }
}

/** Keeps count of what an act has made or changed. */
export async function noteEstate(
  world: DelegationWorld,
  estate: Estate,
  actor: Actor,
  { act, text }: { readonly act: Act; readonly text: string },
): Promise<void> {
  if (act.path === keys && act.method === 'POST') {
    const { id, key, userId } = (JSON.parse(text) as { data: { id: string; key: string; userId?: string } }).data
    const { scope, userId: wished = actor.userId } = act.body as { scope?: Scope; userId?: string }
    world.remember(id, key)
    estate.keys.push({ id, userId: userId ?? wished, scopes: [...actor.scopes, ...(scope ? [scope] : [])] })
  }
  if (!act.path.startsWith(accounts)) return
  const { id } = (JSON.parse(text) as { data: { id: string } }).data
  const { owner } = act.body as { owner?: string }
  estate.owners.set(id, owner ?? estate.owners.get(id) ?? actor.userId)
  // Its keys go with every change of owner.
  if (act.method === 'POST' || owner !== undefined) await world.addKey(id)
}

/** Whether the scopes leave the reading of a collection. */
export function leavesReading(scopes: readonly Scope[], name: Name): boolean {
  return scopes.every(
    ({ workspaces, collections }) =>
      (workspaces?.includes('shop') ?? true) &&
      (collections === undefined || collections[name]?.includes('read') === true),
  )
}

const anyActions = fc.subarray(['read', 'create', 'update', 'delete'])
const anyScope = fc.record(
  {
    workspaces: fc.constantFrom<string[]>(['shop'], ['shop'], []),
    entitlements: fc.subarray(['workspaceMembers:read', 'workspaceMembers:edit', 'dataModel:read']),
    collections: fc
      .subarray([...names], { minLength: 1 })
      .chain((some) => fc.record(Object.fromEntries(some.map((name) => [name, anyActions])))),
  },
  { requiredKeys: [] },
)
