/**
 * The connector behind one data source, for as long as this process has the source open: starts it for the first
 * request and again when its extension was reloaded, and calls it. Requests during a start get an error that says so.
 * The effect of each event on the source is decided by `core/connector/activity.ts`.
 */
import {
  type Activity,
  type ActivityEvent,
  active,
  activityAfter,
  couldNotStart,
  deactivatedAnswer,
  type Handler,
  restarting,
} from '../../core/connector/activity.ts'
import { endedFault, handlerFault, invalidResponse, loadFault, missingMethod } from '../../core/connector/fault.ts'
import {
  type ConnectorSchema,
  capabilitiesOf,
  capabilitiesText,
  invalidAnswer,
  parseIntrospection,
  type SourceCapabilities,
} from '../../core/connector/schema.ts'
import { ServiceError } from '../../core/error.ts'
import type { Clock } from '../../ports/clock.ts'
import type {
  ConnectorCatalog,
  ConnectorHost,
  ConnectorReply,
  ConnectorSession,
  InstalledConnector,
} from '../../ports/connectors.ts'
import { queryFailed } from '../assertion-error.ts'
import type { SourceRef, SourceSetting } from '../provider.ts'
import { type ConnectorCaller, type ConnectorSessions, createConnectorSessions } from './sessions.ts'
import { openSession, startConnector } from './start.ts'

export type ConnectorRuntime = {
  /**
   * Calls the handler for `caller` and returns its answer as parsed by `read`; errors of the call are thrown under `Query failed`.
   */
  call<T>(method: 'query', request: unknown, options: CallOptions<T>): Promise<T>
  /** Restarts the connector, whatever state the source is in, and reads its schema. */
  introspect(): Promise<{ readonly schema: ConnectorSchema; readonly revision: string }>
  close(): Promise<void>
}

type CallOptions<T> = { readonly read: (value: unknown) => T; readonly caller: ConnectorCaller }

export type ConnectorRuntimeDeps = {
  readonly host: ConnectorHost
  readonly clock: Clock
  readonly catalog: ConnectorCatalog
  readonly provider: string
  readonly place: SourceRef
  readonly setting: SourceSetting
  /** Returns the capabilities that the model was imported with; undefined before the first import. */
  readonly imported: () => Promise<{ readonly capabilities: SourceCapabilities; readonly revision: string } | undefined>
}

type Running = { readonly first: ConnectorSession; readonly sessions: ConnectorSessions }

/** Creates the runtime of one data source; nothing starts before the first call. */
export function createConnectorRuntime(deps: ConnectorRuntimeDeps): ConnectorRuntime {
  const { host, clock, catalog, provider, place, setting } = deps
  let activity: Activity = active
  let running: Running | undefined
  let isStarting = false
  /** The extension revision that `activity` applies to. */
  let revision: string | undefined

  async function stop(): Promise<void> {
    const ended = running
    running = undefined
    await ended?.sessions.close()
  }

  function applyEvent(event: ActivityEvent): void {
    activity = activityAfter(activity, event)
  }

  /** Returns the installed extension; a new revision resets the activity and stops the connector. */
  async function current(): Promise<InstalledConnector> {
    const installed = catalog.installed().find(({ id }) => id === provider)
    if (installed?.revision !== revision) {
      revision = installed?.revision
      applyEvent({ kind: 'renewed' })
      await stop()
    }
    if (installed === undefined) {
      applyEvent({ kind: 'uninstalled' })
      await stop()
      throw new ServiceError('unavailable', 'Data source is deactivated')
    }
    return installed
  }

  async function ready(): Promise<ConnectorSessions> {
    if (isStarting) throw restarting()
    const installed = await current()
    if (activity.kind === 'deactivated') throw deactivatedAnswer(activity.because)
    if (running !== undefined) return running.sessions
    // Another request may have begun a start while the previous connector was being stopped.
    if (isStarting) throw restarting()
    return (await start(installed, 'compared')).sessions
  }

  /** `compared`: the capabilities must equal those that the model was imported with. */
  async function start(installed: InstalledConnector, how: 'compared' | 'imported'): Promise<Running> {
    isStarting = true
    try {
      const open = () => openSession({ host, installed, setting, place })
      const session = open()
      const started = await startConnector(session, installed, setting)
      if (started.kind === 'failed') {
        const { event, error, isSilent } = started
        if (event !== undefined) applyEvent(event)
        throw isSilent && activity.kind === 'deactivated' ? deactivatedAnswer(activity.because) : error
      }
      if (how === 'compared' && (await hasOtherCapabilities(session, installed))) {
        await session.close()
        applyEvent({ kind: 'capabilitiesChanged' })
        throw new ServiceError('unavailable', 'Data source is deactivated')
      }
      running = { first: session, sessions: createConnectorSessions({ shared: session, open, clock }) }
      return running
    } finally {
      isStarting = false
    }
  }

  /** Only a new revision can change the declaration. A connector that cannot answer now is assumed unchanged. */
  async function hasOtherCapabilities(session: ConnectorSession, installed: InstalledConnector): Promise<boolean> {
    const imported = await deps.imported()
    if (imported === undefined || imported.revision === installed.revision) return false
    const reply = await session.call('introspect')
    if (reply.kind !== 'value') return false
    try {
      const now = capabilitiesOf(parseIntrospection(reply.value))
      return capabilitiesText(now) !== capabilitiesText(imported.capabilities)
    } catch (error) {
      if (error instanceof ServiceError) return false
      throw error
    }
  }

  return {
    async call(method, request, { read, caller }) {
      const reply = await (await ready()).call(method, request, caller)
      try {
        return read(answerOf(reply, method))
      } catch (error) {
        throw error instanceof ServiceError ? queryFailed(error) : error
      }
    },

    async introspect() {
      if (isStarting) throw restarting()
      const installed = await current()
      applyEvent({ kind: 'renewed' })
      await stop()
      const { first } = await start(installed, 'imported')
      const schema = parseIntrospection(answerOf(await first.call('introspect'), 'introspect'))
      return { schema, revision: installed.revision }
    },

    close: stop,
  }
}

/** Returns the answer of a handler; throws for every other reply. */
export function answerOf(reply: ConnectorReply, method: Handler): unknown {
  switch (reply.kind) {
    case 'value':
      return reply.value
    case 'error':
      throw handlerFault(reply)
    case 'missing':
      throw missingMethod()
    case 'ended':
      throw endedFault(reply.reason)
    case 'oversized':
      throw invalidAnswer(method, `an answer that ${reply.excess}`)
    case 'unloadable':
      throw couldNotStart(loadFault(reply))
    case 'promise':
    case 'handlers':
      throw invalidResponse(`${method} returned no value`)
    default:
      return reply satisfies never
  }
}
