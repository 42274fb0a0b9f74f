/**
 * Converts the names in the scope of an API key to ids and back (docs/decisions/044). A collection name means the
 * collections of that name in the key's workspaces when the key is created. A collection that neither the creator nor
 * the key's user can use is treated like an unknown one.
 */

import { type Action, actions } from '../../core/access/access.ts'
import { viewerOf } from '../../core/access/merge.ts'
import {
  firstExcess,
  type KeyScope,
  limitsRights,
  type ScopedActions,
  type ScopeInput,
} from '../../core/access/scope.ts'
import { ServiceError } from '../../core/error.ts'
import { parseJson } from '../../core/exact-json.ts'
import { shortName } from '../../core/message-text.ts'
import type { Collection, Model } from '../../core/model/model.ts'
import { networkText, parseNetwork } from '../../core/network.ts'
import type { Ports } from '../../ports/ports.ts'
import { workspacesOf } from '../../store/members.ts'
import { loadPrincipalState } from '../../store/principal-state.ts'
import { findWorkspaces, loadModelVersion, type WorkspaceRow } from '../../store/workspaces.ts'
import { type Caller, requireUser } from '../caller/caller.ts'
import { rightsOfPrincipal } from '../caller/callers.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { bodyFault } from './roles.ts'

export type KeyScopes = {
  /**
   * Resolves the requested scope of a key of `userId`, within the scope of the caller's own key; undefined means unlimited.
   * Throws 422 for unknown names, 403 for a scope that exceeds the caller's key.
   */
  resolve(caller: Caller, userId: string, input: ScopeInput | undefined): Promise<KeyScope | undefined>
  /** Returns the JSON text of one API key or a list, with current names in scopes. */
  show(text: string): Promise<string>
}

/** Maximum number of models that are read to resolve a collection name. */
const MAX_WORKSPACES = 50

export type KeyScopesDeps = {
  readonly ports: Pick<Ports, 'database'>
  readonly models: ModelCache
}

export function createKeyScopes(deps: KeyScopesDeps): KeyScopes {
  const { ports, models } = deps
  const { database } = ports

  async function modelOf(workspace: WorkspaceRow): Promise<Model | undefined> {
    const version = await loadModelVersion(database, workspace.id)
    return version === undefined ? undefined : models.load(workspace, version)
  }

  async function idsOf(names: readonly string[]): Promise<readonly string[]> {
    const found = new Map((await findWorkspaces(database, { names })).map(({ apiName, id }) => [apiName, id]))
    return names.map((name, index) => found.get(name) ?? unknown(`scope.workspaces[${index}]`, 'does not exist'))
  }

  /** Returns the workspaces in which collection names are resolved. */
  async function within(caller: Caller, userId: string, named: readonly string[] | undefined) {
    const scoped = named ?? (caller.kind === 'user' ? caller.scope?.workspaces : undefined)
    const ids = scoped ?? [
      ...(await workspacesOf(database, userId)),
      ...(await workspacesOf(database, requireUser(caller))),
    ]
    if (new Set(ids).size > MAX_WORKSPACES) {
      throw bodyFault(
        'scope.workspaces',
        `must be given: there are more than ${MAX_WORKSPACES} to look collections up in`,
      )
    }
    return findWorkspaces(database, { ids })
  }

  /** Returns the collections of a workspace, by name, that the caller or the key's user can see. */
  async function knownIn(caller: Caller, userId: string, workspace: WorkspaceRow) {
    const model = await modelOf(workspace)
    if (model === undefined || caller.kind !== 'user') return () => undefined
    const own = { ...caller.credential, userId: caller.userId }
    const states = [
      await loadPrincipalState(database, own, workspace.id),
      await loadPrincipalState(database, { kind: 'user', userId }, workspace.id),
    ]
    const viewers = states.flatMap((state) => {
      const rights = state === undefined ? 'suspended' : rightsOfPrincipal(state)
      return rights === 'suspended' ? [] : [viewerOf(rights, model)]
    })
    const isKnown = (collection: Collection) =>
      viewers.some(
        ({ seesModel, accessTo }) =>
          seesModel || actions.some((action) => accessTo(collection, action).kind === 'granted'),
      )
    return (name: string) => {
      const collection = model.byName.get(name)
      return collection !== undefined && isKnown(collection) ? collection.id : undefined
    }
  }

  async function collectionsOf(
    caller: Caller,
    userId: string,
    input: { readonly collections: ScopedActions; readonly workspaces: readonly string[] | undefined },
  ): Promise<KeyScope['collections']> {
    const found: Record<string, Record<string, readonly Action[]>> = {}
    const missing = new Set(Object.keys(input.collections))
    // Without names there is nothing to look up in any workspace.
    if (missing.size === 0) return found
    for (const workspace of await within(caller, userId, input.workspaces)) {
      const idOf = await knownIn(caller, userId, workspace)
      const here: Record<string, readonly Action[]> = {}
      for (const [name, allowed] of Object.entries(input.collections)) {
        const id = idOf(name)
        if (id === undefined) continue
        here[id] = allowed
        missing.delete(name)
      }
      if (Object.keys(here).length > 0) found[workspace.id] = here
    }
    const [first] = missing
    if (first !== undefined)
      unknown(`scope.collections.${shortName(first)}`, 'is not a collection in the scope of the key')
    return found
  }

  return {
    async resolve(caller, userId, input = {}) {
      const own = caller.kind === 'user' ? caller.scope : undefined
      const workspaces = input.workspaces && (await idsOf(input.workspaces))
      const collections =
        input.collections && (await collectionsOf(caller, userId, { collections: input.collections, workspaces }))
      const addresses = input.addresses?.map(canonical)
      const scope: KeyScope = {
        ...own,
        ...(workspaces && { workspaces }),
        ...(input.entitlements && { entitlements: input.entitlements }),
        ...(collections && { collections }),
        ...(addresses && { addresses }),
      }
      const excess = own && firstExcess(scope, own)
      if (excess !== undefined) {
        throw new ServiceError('forbidden', `A key cannot create a key with a wider scope than its own.${excess}`)
      }
      return limitsRights(scope) || scope.addresses !== undefined ? scope : undefined
    },

    async show(text) {
      if (!text.includes('"scope"')) return text
      const value = parseJson(text) as Shown | readonly Shown[]
      const rows = isList(value) ? value : [value]
      const scopes = rows.flatMap(({ scope }) => scope ?? [])
      if (scopes.length === 0) return text
      const ids = scopes.flatMap(({ workspaces = [], collections = {} }) => [
        ...workspaces,
        ...Object.keys(collections),
      ])
      const known = new Map((await findWorkspaces(database, { ids })).map((workspace) => [workspace.id, workspace]))
      const read = new Map<string, Model | undefined>()
      for (const id of new Set(scopes.flatMap(({ collections = {} }) => Object.keys(collections)))) {
        const workspace = known.get(id)
        read.set(id, workspace && (await modelOf(workspace)))
      }
      const named = (row: Shown) => (row.scope ? { ...row, scope: shown(row.scope, known, read) } : row)
      return JSON.stringify(isList(value) ? value.map(named) : named(value))
    },
  }
}

type Shown = { readonly scope?: KeyScope | null }

/** Omits deleted collections. If all are deleted, the list stays, empty, because the scope then covers nothing. */
function shown(
  { workspaces, collections, ...scope }: KeyScope,
  known: ReadonlyMap<string, WorkspaceRow>,
  models: ReadonlyMap<string, Model | undefined>,
): ScopeInput {
  const byName = new Map<string, Set<Action>>()
  for (const [workspaceId, allowed] of Object.entries(collections ?? {})) {
    if (workspaces?.includes(workspaceId) === false) continue
    for (const [id, actions] of Object.entries(allowed)) {
      const name = models.get(workspaceId)?.collections.get(id)?.apiName
      if (name !== undefined) byName.set(name, new Set([...(byName.get(name) ?? []), ...actions]))
    }
  }
  return {
    ...(workspaces && { workspaces: workspaces.flatMap((id) => known.get(id)?.apiName ?? []) }),
    ...(scope.entitlements && { entitlements: [...scope.entitlements] }),
    ...(collections && { collections: Object.fromEntries([...byName].map(([name, set]) => [name, [...set]])) }),
    ...(scope.addresses && { addresses: [...scope.addresses] }),
  }
}

function canonical(text: string): string {
  const network = parseNetwork(text)
  if (network === undefined) throw new Error('the network was checked when it was read')
  return networkText(network)
}

function unknown(path: string, reason: string): never {
  throw bodyFault(path, reason)
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}
