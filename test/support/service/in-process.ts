/**
 * The service as a Node process wires it, in the process of a test or a benchmark: over a driver, and by a clock, of its own.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { createApp } from '../../../handlers/app.ts'
import { renderSystemDocument } from '../../../handlers/openapi/routes.ts'
import { readConfig } from '../../../src/config.ts'
import { checkedFiles } from '../../../src/platform/files/checked.ts'
import { openFileTable } from '../../../src/platform/files/table.ts'
import { timeOrderedIds } from '../../../src/platform/ids.ts'
import { openNodeAssets } from '../../../src/platform/node/assets.ts'
import { createNodeLicensing } from '../../../src/platform/node/licensing.ts'
import { createNodeSqlDatabases } from '../../../src/platform/node/network/sql-databases.ts'
import { nodeTagOf } from '../../../src/platform/node/tags.ts'
import { loadTransliterate } from '../../../src/platform/node/transliterate.ts'
import { createNodeWorkspaceState } from '../../../src/platform/node/workspace-state.ts'
import { openProviderGate } from '../../../src/platform/provider-gate.ts'
import { createTelemetryClient } from '../../../src/platform/telemetry-client.ts'
import { openVault } from '../../../src/platform/vault.ts'
import type { Mail } from '../../../src/ports/accounts.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { SqlDriver } from '../../../src/ports/database.ts'
import type { ImageScaler } from '../../../src/ports/files.ts'
import type { Observe } from '../../../src/ports/observe.ts'
import { type Services, startServices } from '../../../src/services/instance/services.ts'
import { noConnectors } from './no-connectors.ts'
import { quickHashing } from './quick-hashing.ts'

export type InProcess = {
  readonly administrator: { readonly email: string; readonly password: string }
  /** `fetch` that ends at the service, whatever the host of the address. */
  readonly request: (url: string, init?: RequestInit, env?: object) => Promise<Response>
  readonly services: Services
  /** What was sent. */
  readonly mails: readonly Mail[]
  /** Closes what was opened here; the database belongs to whoever brought it. */
  readonly close: () => Promise<void>
}

export type InProcessOptions = {
  /** What the service asks; may note what it is given. */
  readonly database: SqlDriver
  readonly databaseUrl: string
  readonly clock?: Clock
  readonly variables?: Readonly<Record<string, string>>
  readonly observe?: Observe
  /** Without it no image is scaled. */
  readonly images?: ImageScaler
}

export async function openInProcess(options: InProcessOptions): Promise<InProcess> {
  const { database, databaseUrl, clock = { now: () => Date.now() }, variables = {}, observe = () => {} } = options
  const { images = { scale: async () => undefined } } = options
  const {
    SERVICE_SECRET: secret = randomBytes(32).toString('base64url'),
    SERVICE_ADMIN__EMAIL: email = 'admin@example.com',
    SERVICE_ADMIN__PASSWORD: password = randomBytes(12).toString('base64url'),
  } = variables
  const reading = readConfig({
    SERVICE_SECRET: secret,
    SERVICE_ADMIN__EMAIL: email,
    SERVICE_ADMIN__PASSWORD: password,
    ...variables,
  })
  if (reading.kind === 'invalid') throw new Error(reading.faults.join())
  const { config } = reading
  const workspaces = createNodeWorkspaceState({ database, connect: () => new pg.Client(databaseUrl), clock })
  const mails: Mail[] = []
  const ports = {
    database,
    connectors: noConnectors,
    databases: createNodeSqlDatabases({ allowPrivate: config.SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS, environment: {} }),
    workspaces,
    clock,
    ids: timeOrderedIds,
    tagOf: nodeTagOf,
    passwords: quickHashing,
    vault: openVault(secret),
    telemetry: createTelemetryClient({ platform: 'node' }),
    transliterate: loadTransliterate,
    providerGate: openProviderGate({ allowPrivate: false }),
    observe,
    mailer: { send: async (mail: Mail) => void mails.push(mail) },
    background: () => {},
    images,
    files: checkedFiles({ store: openFileTable(database), observe }),
    licensing: createNodeLicensing({ clock }).ports,
  }
  const services = await startServices(ports, config)
  const app = createApp({
    services,
    isAccepting: () => true,
    peerOf: () => undefined,
    assets: openNodeAssets(),
    systemDocument: async () => renderSystemDocument(),
  })
  return {
    administrator: { email, password },
    request: async (url, init, env) => app.fetch(new Request(url, init), env),
    services,
    mails,
    async close() {
      await services.openSources.close()
      await workspaces.close()
    },
  }
}
