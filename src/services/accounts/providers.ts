/**
 * Sign-in providers, managed by administrators of the instance (docs/contract.md#sign-in-providers). The client secret
 * is sealed and tied to the URLs that it was entered for: changing one of them requires the secret again.
 */
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import {
  deleteProvider,
  findProvider,
  insertProvider,
  listEnabledProviders,
  type NewProvider,
  type ProviderRow,
  type ProviderServer,
  updateProvider,
} from '../../store/providers.ts'
import { loadRoles, type RoleRow } from '../../store/roles.ts'
import { findWorkspace } from '../../store/workspaces.ts'
import { actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, requireAdministrator } from '../caller/caller.ts'
import { callerNow } from '../caller/callers.ts'
import { type Directory, everything, type LazyBody, notFound } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/held-license.ts'
import type { LoadGrantor } from '../rights/delegation.ts'
import { changeRights } from '../rights/rights-changes.ts'
import { bodyFault, requireAssignable } from '../rights/roles.ts'

export type AutoJoinInput = { readonly workspace: string; readonly roleId: string }

export type ProviderInput = {
  readonly name: string
  readonly server: ProviderServer
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[]
  readonly enabled: boolean
  readonly autoJoin: AutoJoinInput | null
}

/** The members of `server` depend on its kind. */
export type ProviderChange = {
  readonly server: Readonly<Record<string, unknown>>
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly enabled?: boolean | undefined
  readonly autoJoin?: AutoJoinInput | null | undefined
}

/**
 * Answers are JSON texts. Bodies are parsed only after authorization. All except `listEnabled` require an administrator of the
 * instance (403); an unknown name throws 404.
 */
export type Providers = {
  /** The enabled providers, public for signing in. */
  listEnabled(): Promise<readonly { readonly name: string }[]>
  list(caller: Caller, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  read(caller: Caller, name: string, query: LazyBody<ReadQuery>): Promise<string>
  /** Throws 409 for a taken name, and 403 if `autoJoin` grants more than the caller holds. */
  create(caller: Caller, input: LazyBody<ProviderInput>): Promise<string>
  update(caller: Caller, name: string, change: LazyBody<ProviderChange>): Promise<string>
  /** Prevents further sign-ins through the provider; accounts and sessions stay. */
  delete(caller: Caller, name: string): Promise<void>
}

export type ProvidersDeps = {
  readonly ports: Ports
  readonly directory: Directory
  readonly license: LicenseGuard
  readonly loadGrantor: LoadGrantor
}

export function createProviders(deps: ProvidersDeps): Providers {
  const { ports, directory, license, loadGrantor } = deps
  const { database, ids, vault } = ports

  async function findKnown(name: string): Promise<ProviderRow> {
    return (await findProvider(database, name)) ?? notFound('providers')
  }

  /** Checks the role of new members. Throws 422 for an unknown role, 403 unless the caller could assign it. */
  async function requireJoinable(caller: Caller, { workspace: name, roleId }: AutoJoinInput): Promise<void> {
    const workspace = await findWorkspace(database, name)
    if (workspace === undefined) throw bodyFault('autoJoin.workspace', 'does not exist')
    const known = await loadRoles(database, workspace.id, [roleId])
    requireHarmless(known)
    const grantor = await loadGrantor(caller, workspace)
    await requireAssignable(grantor, { path: 'autoJoin.roleId', wanted: [roleId], known, held: [] })
  }

  /** Throws 401 or 403 if the caller is no longer an administrator of the instance. */
  async function requireAdministratorNow(caller: Caller): Promise<void> {
    requireAdministrator(await callerNow(database, caller))
  }

  function record(
    caller: Caller,
    verb: 'create' | 'update' | 'delete',
    { id }: { readonly id: string },
    payload: object,
  ) {
    const event = { actor: actorOf(caller), target: { type: 'provider', id } } as const
    return recordEvent(ids, { ...event, action: `provider.${verb}.v1`, payload: { ...payload } })
  }

  return {
    async listEnabled() {
      return (await listEnabledProviders(database)).map((name) => ({ name }))
    },

    async list(caller, query) {
      requireAdministrator(caller)
      return directory.list('providers', everything, await query())
    },

    async read(caller, name, query) {
      requireAdministrator(caller)
      return directory.read('providers', everything, name, await query())
    },

    async create(caller, sent) {
      requireAdministrator(caller)
      const { clientSecret, autoJoin, ...input } = await sent()
      requireFitting(input.server, input.scopes)
      requireReachable(ports, input.server)
      const id = ids.next()
      const sealedClientSecret = await vault.seal(secretPurpose(id), clientSecret)
      const made: NewProvider = { ...input, id, sealedClientSecret, autoJoinRoleId: autoJoin?.roleId ?? null }
      const { name, enabled, scopes } = input
      await changeRights(ports, id, {
        caller,
        reach: 'instance',
        load: async () => {
          await requireAdministratorNow(caller)
          if (autoJoin) await requireJoinable(caller, autoJoin)
        },
        decide: () => [
          ...license.within(['sso_enabled'], undefined, [insertProvider(made)]),
          record(caller, 'create', made, { name, enabled, scopes, autoJoin }),
        ],
        taken: 'A provider of this name already exists',
      })
      return directory.read('providers', everything, name)
    },

    async update(caller, name, sent) {
      requireAdministrator(caller)
      const { clientSecret, server: addresses, ...change } = await sent()
      const { id } = await findKnown(name)
      const sealed = clientSecret === undefined ? undefined : await vault.seal(secretPurpose(id), clientSecret)
      await changeRights(ports, id, {
        caller,
        reach: 'instance',
        load: async () => {
          await requireAdministratorNow(caller)
          if (change.autoJoin) await requireJoinable(caller, change.autoJoin)
          return findKnown(name)
        },
        decide: (before) => {
          // A different provider with this name was created meanwhile.
          if (before.id !== id) return notFound('providers')
          const server = changedServer(before.server, addresses)
          requireReachable(ports, server)
          requireFitting(server, change.scopes ?? before.scopes)
          const isMoved = JSON.stringify(addressesOf(server)) !== JSON.stringify(addressesOf(before.server))
          if (isMoved && sealed === undefined) {
            throw bodyFault('clientSecret', 'must be given when an endpoint changes')
          }
          const after: NewProvider = {
            id,
            name,
            server,
            clientId: change.clientId ?? before.clientId,
            sealedClientSecret: sealed ?? before.sealedClientSecret,
            scopes: change.scopes ?? before.scopes,
            enabled: change.enabled ?? before.enabled,
            autoJoinRoleId: (change.autoJoin === undefined ? before.autoJoin : change.autoJoin)?.roleId ?? null,
          }
          const payload = { name, ...change, ...addresses, ...(sealed !== undefined && { clientSecret: 'changed' }) }
          return [updateProvider(after), record(caller, 'update', before, payload)]
        },
      })
      return directory.read('providers', everything, name)
    },

    async delete(caller, name) {
      requireAdministrator(caller)
      await changeRights(ports, name, {
        caller,
        reach: 'instance',
        load: async () => {
          await requireAdministratorNow(caller)
          return findKnown(name)
        },
        decide: (provider) => [deleteProvider(provider.id), record(caller, 'delete', provider, { name })],
      })
    },
  }
}

/** The purpose that client secrets are sealed for. */
export function secretPurpose(providerId: string): string {
  return `provider:${providerId}`
}

/** Refuses the role Administrator, which every account at the provider would get. */
function requireHarmless(known: readonly RoleRow[]): void {
  if (!known.some(({ kind }) => kind === 'administrator')) return
  throw bodyFault('autoJoin.roleId', 'is the role Administrator, which cannot be assigned by auto-join')
}

function changedServer(server: ProviderServer, addresses: ProviderChange['server']): ProviderServer {
  const unexpected = Object.keys(addresses).find((name) => !(name in server))
  if (unexpected !== undefined) {
    const sort = server.kind === 'openid' ? 'an OpenID Connect issuer' : 'endpoints of its own'
    throw bodyFault(unexpected, `cannot be given: this provider has ${sort}`)
  }
  return { ...server, ...addresses }
}

function requireReachable({ providerGate }: Ports, server: ProviderServer): void {
  for (const [name, address] of Object.entries(addressesOf(server))) {
    const reason = address === null ? undefined : providerGate.refusal(address)
    if (reason !== undefined) throw bodyFault(name, reason)
  }
}

function addressesOf(server: ProviderServer): Readonly<Record<string, string | null>> {
  if (server.kind === 'openid') return { issuer: server.issuer }
  const { authorizationEndpoint, tokenEndpoint, userinfoEndpoint, emailsEndpoint } = server
  return { authorizationEndpoint, tokenEndpoint, userinfoEndpoint, emailsEndpoint }
}

/**
 * Throws 422 for settings of another kind of server: identity tokens need the scope `openid`, and have the subject
 * `sub`.
 */
function requireFitting({ kind, claims }: ProviderServer, scopes: readonly string[]): void {
  if (kind === 'openid' && !scopes.includes('openid')) throw bodyFault('scopes', 'must include openid')
  if (kind === 'openid' && claims.subject !== 'sub') throw bodyFault('claims.subject', 'is always sub with an issuer')
  if (kind === 'oauth2' && scopes.includes('openid'))
    throw bodyFault('scopes', 'can include openid only with an issuer')
}
