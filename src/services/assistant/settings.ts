/**
 * The assistant's settings for a workspace (docs/contract.md#assistant): provider, models, data that may be sent, and limits.
 * The key is sealed together with its address and never returned.
 */

import { requireEntitlement } from '../../core/access/principal.ts'
import type { AssistantConnector, DataLevel } from '../../core/assistant/choices.ts'
import { auditChanges } from '../../core/audit-changes.ts'
import { nested, ServiceError } from '../../core/error.ts'
import { parseJson } from '../../core/exact-json.ts'
import { withoutTrailing } from '../../core/trailing.ts'
import type { Ports } from '../../ports/ports.ts'
import {
  loadAssistantSettings,
  loadUsage,
  loadUsageByWorkspace,
  saveAssistantSettings,
  type UsageLimits,
} from '../../store/assistant.ts'
import { isOutOfDate } from '../../store/failed-batch.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import { type Caller, isAdministratorIn, requireAdministrator } from '../caller/caller.ts'
import { callerNow, type RequestScope, rightsNow } from '../caller/callers.ts'
import type { LazyBody } from '../caller/directory.ts'

type Provider = {
  readonly connector: AssistantConnector | null
  readonly connectorOptions: { readonly address?: string | undefined }
}

/** Null if nothing is chosen. */
export type AssistantSettings = Provider & {
  readonly chatModel: string | null
  readonly fastModel: string | null
  readonly chatReasoningEnabled: boolean
  readonly chatReasoningLevel: string | null
  readonly dataLevel: DataLevel
  /** Limits per day. */
  readonly limits: UsageLimits
}

/** Members that are present replace the current ones. */
export type SettingsChange = {
  readonly [Member in keyof Omit<AssistantSettings, 'limits'>]?: AssistantSettings[Member] | undefined
} & {
  readonly limits?: { readonly [Name in keyof UsageLimits]?: UsageLimits[Name] | undefined } | undefined
  readonly connectorCredentials?: { readonly apiKey: string } | null | undefined
}

export type ShownSettings = AssistantSettings & {
  readonly hasCredentials: boolean
  /** True if the caller may choose the provider, and that rows are sent. */
  readonly mayChooseProvider: boolean
  readonly usage: readonly object[]
}

/** The settings with the key opened. */
export type OpenedSettings = AssistantSettings & {
  readonly connector: AssistantConnector
  readonly chatModel: string
  readonly address: string
  readonly key: string | undefined
}

export type AssistantSettingsService = {
  /** Returns the settings with the usage of the last 30 days. Throws 403 without workspaceSettings:read. */
  read(scope: RequestScope): Promise<ShownSettings>
  /**
   * Throws 403 without workspaceSettings:edit, and for a change that only an Administrator may make. Throws 422 for a refused
   * address, and if an address or a key is sent without the other.
   */
  change(scope: RequestScope, sent: LazyBody<SettingsChange>): Promise<ShownSettings>
  /** Undefined if no provider or model is chosen. */
  open(workspaceId: string): Promise<OpenedSettings | undefined>
  isReady(workspaceId: string): Promise<boolean>
  /** Returns each workspace's usage of the last 30 days as JSON text. Throws 403 unless the caller administers the instance. */
  usage(caller: Caller): Promise<string>
}

const addresses: Readonly<Record<AssistantConnector, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
}

const defaults: AssistantSettings = {
  connector: null,
  connectorOptions: {},
  chatModel: null,
  fastModel: null,
  chatReasoningEnabled: false,
  chatReasoningLevel: null,
  dataLevel: 'model',
  limits: { requestsPerUser: 200, tokensPerUser: 2_000_000, requests: 2_000, tokens: 20_000_000 },
}

const SHOWN_DAYS = 30
const DAY = 86_400_000
/** Concurrent changes can delay an attempt; in each round at least one succeeds. */
const MAX_ATTEMPTS = 100

export type AssistantSettingsDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids' | 'providerGate' | 'vault'>
}

export function createAssistantSettings(deps: AssistantSettingsDeps): AssistantSettingsService {
  const { clock, database, ids, providerGate, vault } = deps.ports

  const firstDay = () => dayOf(clock.now() - (SHOWN_DAYS - 1) * DAY)

  async function load(workspaceId: string): Promise<{ settings: AssistantSettings; sealedKey: string | null }> {
    const row = await loadAssistantSettings(database, workspaceId)
    return { settings: { ...defaults, ...row?.settings }, sealedKey: row?.sealedKey ?? null }
  }

  /** Seals the key with its address: a concurrent change may set another address, which must not get this key. */
  async function sealedFor(
    workspaceId: string,
    key: string,
    { connector, connectorOptions }: SettingsChange,
  ): Promise<string> {
    const missing = connector ? 'connectorOptions' : 'connector'
    if (!connector || connectorOptions === undefined) {
      throw nested('invalid', ['Invalid settings', missing, 'must be sent with connectorCredentials'])
    }
    const address = addressOf({ connector, connectorOptions })
    return vault.seal(keyPurpose(workspaceId), JSON.stringify({ key, address }))
  }

  async function shown({ workspace }: RequestScope, mayChooseProvider: boolean): Promise<ShownSettings> {
    const { settings, sealedKey } = await load(workspace.id)
    const usage = parseJson(await loadUsage(database, workspace.id, firstDay())) as readonly object[]
    return { ...settings, hasCredentials: sealedKey !== null, mayChooseProvider, usage }
  }

  return {
    async read(scope) {
      requireEntitlement(scope.rights, 'workspaceSettings:read')
      return shown(scope, isAdministratorIn(scope.caller, scope.rights))
    },

    async change(scope, sent) {
      const { workspace } = scope
      requireEntitlement(scope.rights, 'workspaceSettings:edit')
      const { connectorCredentials, ...change } = await sent()
      const sealed = connectorCredentials && (await sealedFor(workspace.id, connectorCredentials.apiKey, change))
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const rights = await rightsNow(database, scope.caller, workspace.id)
        requireEntitlement(rights, 'workspaceSettings:edit')
        // The provider sees what users may read, so only an administrator may choose the provider.
        const mayChoose = isAdministratorIn(await callerNow(database, scope.caller), rights)
        const row = await loadAssistantSettings(database, workspace.id)
        const before: AssistantSettings = { ...defaults, ...row?.settings }
        const formerKey = row?.sealedKey ?? null
        const settings = changed(before, change)
        if (!mayChoose && (typeof sealed === 'string' || showsMore(before, settings))) throw notTheirs()
        const address = addressOf(settings)
        const refusal = address === undefined ? undefined : providerGate.refusal(address)
        if (refusal !== undefined) throw nested('invalid', ['Invalid settings', 'connectorOptions.address', refusal])
        const hasMoved = address !== addressOf(before)
        if (hasMoved && formerKey !== null && sealed === undefined) {
          throw nested('invalid', [
            'Invalid settings',
            'connectorCredentials',
            'must be sent again with another address',
          ])
        }
        const sealedKey = sealed === undefined ? formerKey : sealed
        const payload = { ...auditChanges(before, settings), isKeyChanged: sealed !== undefined }
        try {
          await database.batch([
            saveAssistantSettings(workspace.id, row, { settings, sealedKey }),
            recordWorkspaceEvent(ids, scope, { action: 'assistant.settings.v1', payload }),
          ])
          return await shown(scope, mayChoose)
        } catch (cause) {
          if (!isOutOfDate(cause)) throw cause
        }
      }
      throw new ServiceError('unavailable', 'Too many concurrent changes of these settings; try again')
    },

    async open(workspaceId) {
      const { settings, sealedKey } = await load(workspaceId)
      const { connector, chatModel } = settings
      const address = addressOf(settings)
      if (connector === null || chatModel === null || address === undefined) return undefined
      const key = sealedKey === null ? undefined : await opened(workspaceId, sealedKey, address)
      return { ...settings, connector, chatModel, address, key }
    },

    async usage(caller) {
      requireAdministrator(caller)
      return loadUsageByWorkspace(database, firstDay())
    },

    async isReady(workspaceId) {
      const { connector, chatModel } = (await load(workspaceId)).settings
      return connector !== null && chatModel !== null
    },
  }

  /** Throws 422 if the key was sealed for another address, which no valid change of settings produces. */
  async function opened(workspaceId: string, sealed: string, address: string): Promise<string> {
    const { key, address: of } = parseJson(await vault.open(keyPurpose(workspaceId), sealed)) as Record<string, string>
    if (of !== address || key === undefined)
      throw new ServiceError('invalid', 'The key of the assistant is of another address')
    return key
  }
}

function notTheirs(): ServiceError {
  return new ServiceError(
    'forbidden',
    'Only Administrators of the workspace or of the instance choose where conversations are sent, and that rows are',
  )
}

/** True if conversations go to another address, now or once the assistant is switched on, or if rows are sent now. */
function showsMore(before: AssistantSettings, after: AssistantSettings): boolean {
  const { address } = after.connectorOptions
  const isMoved =
    after.connector === null
      ? address !== undefined && address !== before.connectorOptions.address
      : after.connector !== before.connector || addressOf(after) !== addressOf(before)
  return isMoved || (after.dataLevel === 'rows' && before.dataLevel !== 'rows')
}

/** Absent members of `change` keep their values. */
function changed(before: AssistantSettings, { limits, ...change }: SettingsChange): AssistantSettings {
  const given = (members: object) => Object.fromEntries(Object.entries(members).filter(([, one]) => one !== undefined))
  return { ...before, ...given(change), limits: { ...before.limits, ...given(limits ?? {}) } }
}

/** The purpose for which a key is sealed; the sealed text contains its address. */
export function keyPurpose(workspaceId: string): string {
  return `assistant:${workspaceId}`
}

/** Returns the address without a trailing slash. */
function addressOf({ connector, connectorOptions }: Provider): string | undefined {
  if (connector === null) return undefined
  return withoutTrailing(connectorOptions.address ?? addresses[connector], '/')
}

/** The day of a time, in UTC. */
export function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}
