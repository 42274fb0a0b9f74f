/**
 * The scope of an API key: limits its user's rights. Stored by ids, so that no right passes to a workspace or
 * collection that takes over a name. An absent member limits nothing; a present one is intersected with the user's
 * rights here, and collection by collection in merge.ts (docs/decisions/044).
 */
import * as z from 'zod'
import { type InferOutput, lazily } from '../lazily.ts'
import type { Model } from '../model/model.ts'
import { includes, isWithin, type Network, parseAddress, parseNetwork } from '../network.ts'
import { type Action, actions } from './access.ts'
import { type Entitlement, entitlementSchema } from './entitlement.ts'
import type { PolicyActions } from './policy.ts'
import { hasEntitlement, noRights, type Rights, type ScopedRights, scopeAllows } from './principal.ts'

/** A scope as sent and presented. */
export const scopeSchema = lazily(() => {
  const text = (max: number) =>
    z
      .string()
      .max(max, `must have at most ${max} characters`)
      .refine((value) => !value.includes('\0') && value.isWellFormed(), 'has characters that no database can store')
  const list = <T extends z.ZodType>(of: T) => z.array(of).max(50, 'must have at most 50 entries')
  const once = <T>(values: readonly T[]) => [...new Set(values)]
  return z.strictObject({
    workspaces: list(text(40)).transform(once).optional(),
    entitlements: list(entitlementSchema()).transform(once).optional(),
    collections: z
      .record(text(200), list(z.enum(actions)).transform(once))
      .refine((names) => Object.keys(names).length <= 200, 'must have at most 200 entries')
      .optional(),
    addresses: list(
      text(50).refine(
        (network) => parseNetwork(network) !== undefined,
        'must be an address or a network such as 10.0.0.0/8',
      ),
    ).optional(),
  })
})

export type ScopeInput = InferOutput<typeof scopeSchema>

/** Actions by collection. */
export type ScopedActions = Readonly<Record<string, readonly Action[]>>

export type KeyScope = {
  readonly workspaces?: readonly string[]
  readonly entitlements?: readonly Entitlement[]
  /** By workspace id, then by collection id. */
  readonly collections?: Readonly<Record<string, ScopedActions>>
  readonly addresses?: readonly string[]
}

/** Returns true if the scope limits rights, not only networks. Such a key has no rights outside of workspaces. */
export function limitsRights({ workspaces, entitlements, collections }: KeyScope): boolean {
  return workspaces !== undefined || entitlements !== undefined || collections !== undefined
}

export function includesWorkspace({ workspaces }: KeyScope, workspaceId: string): boolean {
  return workspaces?.includes(workspaceId) ?? true
}

/** Returns `rights` in a workspace limited by `scope`. Callers reuse the object, because it is a cache key. */
export function restrictRights(rights: Rights, scope: KeyScope | undefined, workspaceId: string): Rights {
  if (scope === undefined) return rights
  if (!includesWorkspace(scope, workspaceId)) return noRights
  const { entitlements, collections } = scope
  if (entitlements === undefined && collections === undefined) return rights
  return {
    kind: 'scoped',
    rights,
    entitlements: entitlements === undefined ? undefined : new Set(entitlements),
    collections: collections === undefined ? undefined : actionsIn(collections[workspaceId]),
  }
}

function actionsIn(actions: ScopedActions = {}): ReadonlyMap<string, ReadonlySet<Action>> {
  return new Map(Object.entries(actions).map(([collection, allowed]) => [collection, new Set(allowed)]))
}

/** Converts rights to equivalent policies for the current model, to compare them with other policies. */
export function toPolicies(rights: PolicyRights | ScopedRights, model: Model): PolicyRights {
  if (rights.kind === 'policies') return rights
  const held = rights.rights.kind === 'all' ? everythingOf(model) : toPolicies(rights.rights, model)
  const policies = held.policies.map(({ entitlements, collections }) => ({
    entitlements: entitlements.filter((entitlement) => hasEntitlement(rights, entitlement)),
    collections: Object.fromEntries(
      Object.entries(collections).map(([id, actions]): [string, PolicyActions] => [
        id,
        Object.fromEntries(Object.entries(actions).filter(([action]) => scopeAllows(rights, id, action as Action))),
      ]),
    ),
  }))
  return { ...held, policies, entitlements: new Set(policies.flatMap(({ entitlements }) => entitlements)) }
}

type PolicyRights = Extract<Rights, { kind: 'policies' }>

function everythingOf(model: Model): PolicyRights {
  const whole: PolicyActions = { read: 'all', create: 'all', update: 'all', delete: 'all' }
  const collections = Object.fromEntries([...model.collections.keys()].map((id) => [id, whole]))
  const entitlements = [...entitlementSchema().options]
  return { ...noRights, policies: [{ entitlements, collections }], entitlements: new Set(entitlements) }
}

/** An unknown address is in no network. */
export function allowsAddress({ addresses }: KeyScope, text: string | undefined): boolean {
  if (addresses === undefined) return true
  const address = text === undefined ? undefined : parseAddress(text)
  return address !== undefined && networksOf(addresses).some((network) => isWithin(address, network))
}

function networksOf(addresses: readonly string[]): readonly Network[] {
  return addresses.flatMap((text) => parseNetwork(text) ?? [])
}

/** Returns the first member in which `wanted` exceeds `own`; undefined if none does. */
export function firstExcess(wanted: KeyScope, own: KeyScope): keyof KeyScope | undefined {
  if (!isPart(wanted.workspaces, own.workspaces)) return 'workspaces'
  if (!isPart(wanted.entitlements, own.entitlements)) return 'entitlements'
  if (!areParts(wanted.collections, own.collections)) return 'collections'
  return areInside(wanted.addresses, own.addresses) ? undefined : 'addresses'
}

function areInside(wanted: KeyScope['addresses'], own: KeyScope['addresses']): boolean {
  if (own === undefined) return true
  const networks = networksOf(own)
  return wanted !== undefined && networksOf(wanted).every((part) => networks.some((network) => includes(network, part)))
}

function isPart<T>(wanted: readonly T[] | undefined, own: readonly T[] | undefined): boolean {
  if (own === undefined) return true
  return wanted?.every((value) => own.includes(value)) ?? false
}

function areParts(wanted: KeyScope['collections'], own: KeyScope['collections']): boolean {
  if (own === undefined) return true
  if (wanted === undefined) return false
  return Object.entries(wanted).every(([workspaceId, collections]) =>
    Object.entries(collections).every(([id, actions]) =>
      actions.every((action) => own[workspaceId]?.[id]?.includes(action) === true),
    ),
  )
}
