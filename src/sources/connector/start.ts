/**
 * Starts a connector (docs/contract.md#permission-handshake): load under its grant, preflight, comparison of the
 * required permissions, setup, handlers. A failure is both an event of the activity state machine and the error of the
 * request that needed the start.
 */
import { type ActivityEvent, couldNotStart } from '../../core/connector/activity.ts'
import { endedFault, invalidResponse, loadFault, startFault } from '../../core/connector/fault.ts'
import { grantMismatch } from '../../core/connector/handshake.ts'
import { mergePermissions, type Permission, sameTargets, targetsOf } from '../../core/connector/permission.ts'
import { asynchronousPreflight, missingHandlers, parsePreflight } from '../../core/connector/protocol.ts'
import { invalidAnswer } from '../../core/connector/schema.ts'
import { ServiceError } from '../../core/error.ts'
import type { ConnectorHost, ConnectorReply, ConnectorSession, InstalledConnector } from '../../ports/connectors.ts'
import type { SourceRef, SourceSetting } from '../provider.ts'

export type Started =
  | { readonly kind: 'started'; readonly session: ConnectorSession; readonly handlers: ReadonlySet<string> }
  | Failure

export type Failure = {
  readonly kind: 'failed'
  /** Undefined if only this request fails. */
  readonly event: ActivityEvent | undefined
  /** For connection tests, and for the first request to a source whose start fails. */
  readonly error: ServiceError
  /** True if requests to a source, including the first one, learn only that the source is deactivated. */
  readonly isSilent: boolean
}

export type SessionDeps = {
  readonly host: ConnectorHost
  readonly installed: InstalledConnector
  readonly setting: SourceSetting
  readonly place: SourceRef
}

/** Opens a session that has not been called yet. */
export function openSession(deps: SessionDeps): ConnectorSession {
  const { host, installed, setting, place } = deps
  const { id, code } = installed
  const { config, permissions } = setting
  const { workspaceId: workspace, id: sourceId } = place
  return host.open({ id: `${id} ${sourceId}`, workspace, code, config, grant: targetsOf(permissions) })
}

/** Runs the whole start; closes the session if it fails. */
export async function startConnector(
  session: ConnectorSession,
  { permissions }: InstalledConnector,
  setting: SourceSetting,
): Promise<Started> {
  let started: Started | undefined
  try {
    started = await attempt(session, permissions, setting)
    return started
  } finally {
    if (started?.kind !== 'started') await session.close()
  }
}

async function attempt(
  session: ConnectorSession,
  manifest: readonly Permission[],
  setting: SourceSetting,
): Promise<Started> {
  const required = await requiredBy(session, manifest)
  if ('kind' in required) return required
  if (!sameTargets(setting.permissions, required)) {
    return failure({ kind: 'mismatch', required }, grantMismatch(required))
  }
  const reply = await session.call('setup')
  if (reply.kind === 'handlers' || reply.kind === 'missing') {
    const names = reply.kind === 'handlers' ? reply.names : null
    const missing = missingHandlers(names)
    if (missing === undefined) return { kind: 'started', session, handlers: new Set(names) }
    return failure({ kind: 'noHandlers' }, couldNotStart(missing))
  }
  return failedStart(reply, 'setup')
}

/** Returns the permissions of the manifest and of preflight, merged. Preflight is optional. */
export async function requiredBy(
  session: ConnectorSession,
  manifest: readonly Permission[],
): Promise<readonly Permission[] | Failure> {
  const reply = await session.call('preflight')
  if (reply.kind === 'missing') return mergePermissions(manifest)
  if (reply.kind === 'promise') return failure({ kind: 'badPreflight' }, couldNotStart(asynchronousPreflight()))
  if (reply.kind !== 'value') return failedStart(reply, 'preflight')
  try {
    const answer = parsePreflight(reply.value)
    if (answer.kind === 'permissions') return mergePermissions(manifest, answer.permissions)
    return { ...failure({ kind: 'badPreflight' }, couldNotStart(answer.error)), isSilent: true }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return failure({ kind: 'badPreflight' }, couldNotStart(error))
  }
}

function failure(event: ActivityEvent | undefined, error: ServiceError): Failure {
  return { kind: 'failed', event, error, isSilent: false }
}

function failedStart(reply: ConnectorReply, from: 'preflight' | 'setup'): Failure {
  switch (reply.kind) {
    case 'error': {
      const thrown = { message: reply.message, code: reply.code, denied: reply.denied }
      return failure({ kind: 'threw', from, thrown }, couldNotStart(startFault(thrown)))
    }
    case 'unloadable':
      return { ...failure({ kind: 'unloadable' }, couldNotStart(loadFault(reply))), isSilent: true }
    case 'ended':
      return failure(undefined, couldNotStart(endedFault(reply.reason)))
    case 'oversized':
      return failure(undefined, couldNotStart(invalidAnswer(from, `an answer that ${reply.excess}`)))
    default:
      return failure(undefined, couldNotStart(invalidResponse(`${from} returned no value`)))
  }
}
