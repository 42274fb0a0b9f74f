/**
 * Installed data connectors as providers of data sources. A connection test, preview or permission query runs a
 * separate connector, so that its failure affects nothing else; an opened source keeps its connector running.
 */
import { type Permission, permissionsSchema } from '../../core/connector/permission.ts'
import { parseConnectionTest, parseQueryAnswer } from '../../core/connector/protocol.ts'
import { unsupported } from '../../core/connector/push-down.ts'
import {
  type Capabilities,
  capabilitiesOf,
  capabilitiesText,
  parseIntrospection,
  qualifiedName,
  toSourceSchema,
} from '../../core/connector/schema.ts'
import type { Collection } from '../../core/model/model.ts'
import { type Age, type Clock, startAge } from '../../ports/clock.ts'
import type { ConnectorCatalog, ConnectorHost, ConnectorSession, InstalledConnector } from '../../ports/connectors.ts'
import type { SqlDriver } from '../../ports/database.ts'
import type { Ids, TagOf } from '../../ports/ports.ts'
import { type ImportedCapabilities, loadCapabilities, saveCapabilities } from '../../store/capabilities.ts'
import { createAnswerCache } from '../answer-cache.ts'
import { cancelable } from '../cancelable.ts'
import type { ConnectionTest, OpenedSource, Provider, SourceRef, SourceSetting } from '../provider.ts'
import type { Ask } from './read.ts'
import { answerOf, createConnectorRuntime } from './runtime.ts'
import { openConnectorSource } from './source.ts'
import { openSession, requiredBy, startConnector } from './start.ts'

export type ConnectorProvidersDeps = {
  readonly host: ConnectorHost
  readonly catalog: ConnectorCatalog
  /** The system database. */
  readonly database: SqlDriver
  readonly clock: Clock
  readonly ids: Ids
  readonly tagOf: TagOf
  /** Milliseconds for which answers are cached. */
  readonly timeToLive: number
}

/** Returns the providers of the currently installed extensions, which may change. */
export function createConnectorProviders(deps: ConnectorProvidersDeps): () => readonly Provider[] {
  return () => deps.catalog.installed().map((installed) => createConnectorProvider(installed, deps))
}

function createConnectorProvider(installed: InstalledConnector, deps: ConnectorProvidersDeps): Provider {
  const permissions = permissionsSchema().parse(installed.permissions)
  const normal = { ...installed, permissions }

  /** Runs `work` with a separate connector, which ends afterwards. */
  async function withSession<T>(
    { setting, workspaceId }: ConnectionTest,
    work: (session: ConnectorSession) => Promise<T>,
  ): Promise<T> {
    const session = openSession({
      host: deps.host,
      installed: normal,
      setting,
      place: { workspaceId, id: deps.ids.next() },
    })
    try {
      return await work(session)
    } finally {
      await session.close()
    }
  }

  /** Like `withSession`, with the connector started. */
  function started<T>(
    test: ConnectionTest,
    work: (session: ConnectorSession, handlers: ReadonlySet<string>) => Promise<T>,
  ): Promise<T> {
    return withSession(test, async (session) => {
      const start = await startConnector(session, normal, test.setting)
      if (start.kind === 'failed') throw start.error
      return work(session, start.handlers)
    })
  }

  const declared = (test: ConnectionTest) =>
    started(test, async (session) => parseIntrospection(answerOf(await session.call('introspect'), 'introspect')))

  return {
    id: installed.id,
    name: installed.name,
    origin: 'extension',
    availability: { kind: 'available' },
    presets: [],
    permissions,

    requiredPermissions: (test) =>
      withSession(test, async (session): Promise<readonly Permission[]> => {
        const required = await requiredBy(session, permissions)
        if ('kind' in required) throw required.error
        return required
      }),

    test: (test) =>
      started(test, async (session, handlers) => {
        if (!handlers.has('testConnection')) return 'none'
        const fault = parseConnectionTest(answerOf(await session.call('testConnection'), 'testConnection'))
        if (fault !== undefined) throw fault
        return 'passed'
      }),

    preview: declared,

    open: async (setting, place) => ({
      ...openConnector(installed.id, deps, { setting, place }),
      look: async () => toSourceSchema(await declared({ setting, workspaceId: place.workspaceId })),
    }),
  }
}

/** Milliseconds: other isolates see a new model within two seconds, and then need its declared capabilities. */
const CAPABILITIES_MAX_AGE = 2_000

type SessionOpening = { readonly setting: SourceSetting; readonly place: SourceRef }

function openConnector(
  provider: string,
  deps: ConnectorProvidersDeps,
  { setting, place }: SessionOpening,
): Omit<OpenedSource, 'look'> {
  const { host, catalog, database, clock, tagOf, timeToLive } = deps
  const at = { workspaceId: place.workspaceId, sourceId: place.id }
  const cache = createAnswerCache({ clock, timeToLive })
  const imported = () => loadCapabilities(database, at)
  const runtime = createConnectorRuntime({
    host,
    clock,
    catalog: normalized(catalog),
    provider,
    place,
    setting,
    imported,
  })
  let known: { readonly imported: ImportedCapabilities | undefined; readonly age: Age } | undefined

  async function capabilities(collection: Collection): Promise<Capabilities> {
    if (known === undefined || known.age() >= CAPABILITIES_MAX_AGE) {
      known = { imported: await imported(), age: startAge(clock) }
    }
    const found = known.imported?.capabilities.get(qualifiedName(collection.schema, collection.dbName))
    if (found === undefined) throw unsupported(collection, 'is not declared by its data source')
    return found
  }

  const ask: Ask = async (request, fields, options) => {
    const isRead = request.operation === 'readMany' || request.operation === 'readOne'
    // An answer that was checked against a key is cached separately from a list's answer to the same request.
    const key = JSON.stringify([request, options?.key !== undefined])
    const kept = isRead && options?.freshness !== 'fresh' ? cache.get(key) : undefined
    if (kept !== undefined) return kept
    const keep = cache.keeping(key)
    try {
      const call = runtime.call('query', request, {
        read: (value) => parseQueryAnswer(request, fields, value, options?.key),
        caller: { account: options?.account, isRead },
      })
      const answer = await (isRead ? cancelable(call, options) : call)
      if (isRead) keep(answer)
      return answer
    } finally {
      // Also after an error: the write may have succeeded although its answer was invalid.
      if (!isRead) cache.clear()
    }
  }

  return {
    source: openConnectorSource({ ask, capabilities, tagOf }),
    database: undefined,
    digest: undefined,
    async introspect() {
      const { schema, revision } = await runtime.introspect()
      const fresh: ImportedCapabilities = { capabilities: capabilitiesOf(schema), revision }
      cache.clear()
      known = undefined
      const stored = await imported()
      const isSame =
        stored?.revision === revision && capabilitiesText(stored.capabilities) === capabilitiesText(fresh.capabilities)
      return {
        schema: toSourceSchema(schema),
        digest: undefined,
        statements: isSame ? [] : [saveCapabilities(at, fresh)],
      }
    },
    close: () => runtime.close(),
  }
}

/** Normalizes the permissions of manifests, which may spell a target in several ways. */
function normalized(catalog: ConnectorCatalog): ConnectorCatalog {
  return {
    installed: () =>
      catalog
        .installed()
        .map((installed) => ({ ...installed, permissions: permissionsSchema().parse(installed.permissions) })),
    broken: () => catalog.broken(),
  }
}
