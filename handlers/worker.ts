/**
 * Entry point on Cloudflare Workers. The first request of an isolate opens the instance; if that fails, every path but
 * `live` answers 503, and the next request tries again.
 */
import { readConfig } from '../src/config.ts'
import { ServiceError } from '../src/core/error.ts'
import {
  openCloudflareAssets,
  openCloudflareConsole,
  openCloudflareTexts,
  SYSTEM_DOCUMENT_FILE,
} from '../src/platform/cloudflare/assets.ts'
import { createCloudflareBackground } from '../src/platform/cloudflare/background.ts'
import { openCloudflareConnectors } from '../src/platform/cloudflare/connectors.ts'
import { openCloudflareFiles } from '../src/platform/cloudflare/files.ts'
import { openCloudflareImages } from '../src/platform/cloudflare/image-scaler.ts'
import { openNeonLazily } from '../src/platform/cloudflare/lazy-drivers.ts'
import { createCloudflareAlarm, licenseObject, type WakingObject } from '../src/platform/cloudflare/license-object.ts'
import { asRequest } from '../src/platform/cloudflare/request-scope.ts'
import { createCloudflareSqlDatabases } from '../src/platform/cloudflare/sql-databases.ts'
import { cloudflareTagOf } from '../src/platform/cloudflare/tags.ts'
import { createTransliterate } from '../src/platform/cloudflare/transliterate.ts'
import type { WorkspaceObject } from '../src/platform/cloudflare/workspace-object.ts'
import { createCloudflareWorkspaceState } from '../src/platform/cloudflare/workspace-state.ts'
import { runsAgain } from '../src/platform/drivers/run-again.ts'
import { timeOrderedIds } from '../src/platform/ids.ts'
import { createLicensingClient } from '../src/platform/licensing-client.ts'
import { observeOnConsole } from '../src/platform/log-lines.ts'
import { openMailer } from '../src/platform/mailer.ts'
import { scryptPasswords } from '../src/platform/password.ts'
import { type Hashing, inTurn } from '../src/platform/password-turns.ts'
import { openProviderGate } from '../src/platform/provider-gate.ts'
import { createTelemetryClient } from '../src/platform/telemetry-client.ts'
import { openVault } from '../src/platform/vault.ts'
import { type Clock, type Instant, pause } from '../src/ports/clock.ts'
import type { Ports } from '../src/ports/ports.ts'
import { type Services, startServices } from '../src/services/instance/services.ts'
import { createApp } from './app.ts'
import { toResponse } from './http/answer.ts'
import { createBodyRoom } from './http/body-room.ts'
import type { AppContext } from './http/request.ts'
import { closedAnswer } from './routes/system.ts'

export { ConnectorGate } from '../src/platform/cloudflare/gate.ts'
export { WorkspaceObject } from '../src/platform/cloudflare/workspace-object.ts'

export type Env = {
  readonly WORKSPACES: DurableObjectNamespace<WorkspaceObject>
  readonly LICENSE: DurableObjectNamespace<WakingObject>
  /** Id of the deployed version; a local run has a new one with every start. */
  readonly VERSION?: { readonly id: string }
  readonly LOADER: WorkerLoader
  /** Local runs only: the client address of all requests; empty if clients on other machines can connect. */
  readonly LOCAL_PEER?: string
  readonly ASSETS?: Fetcher
  /** Bucket for the bytes of files, if there is one. */
  readonly FILES?: R2Bucket
  /** Scales images, if there is such a binding. */
  readonly IMAGES?: ImagesBinding
  readonly [variable: string]: unknown
}

type Opened = { readonly app: ReturnType<typeof createApp>; readonly services: Services }

/** A failed start with a permanent cause; further requests fail with it until `until`. */
type Refusal = { readonly cause: ServiceError; readonly until: Instant }
const REFUSAL_AGE = 5_000

/** Milliseconds between two password hashes, which block everything else in an isolate. */
const REST = 100

/** Maximum bytes of all bodies that arrive at an isolate, which has 128 MiB in total. */
const BODY_ROOM = 48 * 1024 ** 2
/** Maximum weight of the parsed bodies of an isolate. */
const PARSED_ROOM = 64 * 1024 ** 2

export type WorkerDeps = { readonly clock?: Clock; readonly passwords?: Hashing }

/** Creates the Worker's handlers; the clock and password hashing can be replaced. */
export function createWorker(deps: WorkerDeps = {}) {
  const { clock = { now: () => Date.now() }, passwords = scryptPasswords } = deps
  // One instance per isolate. Only completed values are stored: on Workers no request may wait for the I/O of another.
  let opened: Opened | undefined
  const bodies = createBodyRoom({ most: BODY_ROOM, waits: false })
  const parsed = createBodyRoom({ most: PARSED_ROOM, largest: PARSED_ROOM / 2, waits: false })
  let refusal: Refusal | undefined

  async function instance(env: Env): Promise<Opened> {
    if (opened !== undefined) return opened
    if (refusal !== undefined && clock.now() < refusal.until) throw refusal.cause
    try {
      opened = await open(env, { clock, passwords })
      return opened
    } catch (cause) {
      if (cause instanceof ServiceError) refusal = { cause, until: clock.now() + REFUSAL_AGE }
      observeOnConsole({ kind: 'fault', error: cause })
      throw cause
    }
  }

  const handler = {
    async fetch(request, env, context) {
      let app: Opened['app']
      try {
        app = (await instance(env)).app
      } catch (cause) {
        return toResponse(closedAnswer(new URL(request.url).pathname, refusedStart(cause)), {
          requestId: timeOrderedIds.next(),
        })
      }
      return asRequest(async () => ofKnownLength(await app.fetch(request, { ...env, bodies, parsed }, context)))
    },

    /**
     * Migrates the schema of the system database even without requests, deletes expired data, posts telemetry, and looks
     * for changes of schemas.
     */
    async scheduled(_controller, env) {
      const { services } = await instance(env)
      await services.prune()
      await services.telemetry.report()
      await services.drift.run()
    },
  } satisfies ExportedHandler<Env>

  const wake = async (env: Env) => (await instance(env)).services.licensing.wake()
  return { handler, LicenseObject: licenseObject(wake, clock) }
}

const worker = createWorker()
export const { LicenseObject } = worker
export default worker.handler

/** Cloudflare sends `Content-Length` only for a FixedLengthStream. */
function ofKnownLength(response: Response): Response {
  const length = response.headers.get('Content-Length')
  if (response.body === null || length === null) return response
  return new Response(response.body.pipeThrough(new FixedLengthStream(Number(length))), response)
}

async function open(env: Env, { clock, passwords }: Required<WorkerDeps>): Promise<Opened> {
  const variables = Object.entries(env).filter((scope): scope is [string, string] => typeof scope[1] === 'string')
  const reading = readConfig(Object.fromEntries(variables))
  if (reading.kind === 'invalid') throw new ServiceError('failed', reading.faults.join('; '))
  for (const name of reading.unknown) observeOnConsole({ kind: 'warning', message: `${name} is not a known variable` })
  const { SERVICE_DATABASE_URL: databaseUrl, SERVICE_SECRET: secret } = reading.config
  const { SERVICE_QUERY__TIMEOUT: timeLimit } = reading.config
  if (databaseUrl === undefined) throw new Error('SERVICE_DATABASE_URL must be set')
  if (secret === undefined) throw new Error('SERVICE_SECRET must be set')

  const texts = openCloudflareTexts(env.ASSETS)
  const database = runsAgain(openNeonLazily({ connectionString: databaseUrl, timeLimit }))
  const ports: Ports = {
    database,
    connectors: await openCloudflareConnectors({ bindings: env, config: reading.config, observe: observeOnConsole }),
    databases: createCloudflareSqlDatabases({
      allowPrivate: reading.config.SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS,
      timeLimit,
      bindings: env,
    }),
    workspaces: createCloudflareWorkspaceState({ namespace: env.WORKSPACES, clock }),
    clock,
    ids: timeOrderedIds,
    tagOf: cloudflareTagOf,
    passwords: inTurn(passwords, {
      atOnce: 1,
      rest: REST,
      ofOrigin: reading.config.SERVICE_AUTH__LOGINS_AT_ONCE,
    }),
    vault: openVault(secret),
    providerGate: openProviderGate({ allowPrivate: reading.config.SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS }),
    observe: observeOnConsole,
    mailer: openMailer({ settings: reading.config, observe: observeOnConsole, openSmtp: undefined }),
    background: createCloudflareBackground(observeOnConsole),
    files: openCloudflareFiles({ config: reading.config, bindings: env, database, observe: observeOnConsole }),
    images: openCloudflareImages(env.IMAGES),
    telemetry: createTelemetryClient({ platform: 'workers' }),
    transliterate: createTransliterate(texts),
    licensing: {
      client: createLicensingClient({ pause }),
      alarm: createCloudflareAlarm({ namespace: env.LICENSE, clock }),
      pause,
      startId: env.VERSION?.id ?? timeOrderedIds.next(),
    },
  }
  const services = await startServices(ports, reading.config)
  return {
    app: createApp({
      services,
      isAccepting: () => true,
      // Set only in a local run.
      ...(env.PORT !== undefined && { port: reading.config.PORT }),
      peerOf: peerIn(env),
      assets: openCloudflareAssets(env.ASSETS),
      console: openCloudflareConsole(texts),
      systemDocument: () => texts(SYSTEM_DOCUMENT_FILE),
    }),
    services,
  }
}

/**
 * Cloudflare sets a header that clients cannot forge. In a local run clients can forge it, so the binding has the address or
 * empty text.
 */
function peerIn({ LOCAL_PEER: local }: Env): (c: AppContext) => string | undefined {
  if (local === undefined) return (c) => c.req.header('CF-Connecting-IP')
  return () => (local === '' ? undefined : local)
}

/** The public reason of a failed start; details are in the log. */
function refusedStart(cause: unknown): string {
  return cause instanceof ServiceError ? cause.message : 'the instance could not be opened, see its log'
}
