/**
 * Entry point on Node: the app behind Node's HTTP server. scripts/start-node.ts starts it, and also opens the embedded database
 * if SERVICE_DATABASE_URL is unset.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { type Config, type Environment, readConfig } from '../src/config.ts'
import { ServiceError } from '../src/core/error.ts'
import { GuardedClient } from '../src/platform/drivers/postgres/client.ts'
import { openPostgres } from '../src/platform/drivers/postgres/driver.ts'
import { runsAgain } from '../src/platform/drivers/run-again.ts'
import { createSharedSlots } from '../src/platform/drivers/shared-slots.ts'
import { timeOrderedIds } from '../src/platform/ids.ts'
import { openMailer } from '../src/platform/mailer.ts'
import { repeatEvery, type Ticker } from '../src/platform/node/alarm.ts'
import { openNodeAssets } from '../src/platform/node/assets.ts'
import { createNodeBackground } from '../src/platform/node/background.ts'
import { openNodeConnectors } from '../src/platform/node/connectors/connectors.ts'
import { openNodeConsole } from '../src/platform/node/console.ts'
import { openNodeFiles } from '../src/platform/node/files.ts'
import { type AnswerRoom, createAnswerRoom } from '../src/platform/node/http/answer-room.ts'
import { bodyOf } from '../src/platform/node/http/body-stream.ts'
import { createPieceRate } from '../src/platform/node/http/file-pieces.ts'
import { type HttpServer, openHttpServer } from '../src/platform/node/http/http-server.ts'
import { createRequestSlots, type RequestSlotsDeps } from '../src/platform/node/http/request-slots.ts'
import { openNodeImages } from '../src/platform/node/image-scaler.ts'
import { createNodeLicensing } from '../src/platform/node/licensing.ts'
import { createNetwork, operatorFetch } from '../src/platform/node/network/network.ts'
import { createNodeSqlDatabases } from '../src/platform/node/network/sql-databases.ts'
import { createBufferedLog } from '../src/platform/node/observing/buffered-log.ts'
import { openObserving } from '../src/platform/node/observing/observing.ts'
import { openSmtpMailer } from '../src/platform/node/smtp-mailer.ts'
import { nodeTagOf } from '../src/platform/node/tags.ts'
import { loadTransliterate } from '../src/platform/node/transliterate.ts'
import { createNodeWorkspaceState } from '../src/platform/node/workspace-state.ts'
import { scryptPasswords } from '../src/platform/password.ts'
import { type Hashing, inTurn } from '../src/platform/password-turns.ts'
import { openProviderGate } from '../src/platform/provider-gate.ts'
import { createTelemetryClient } from '../src/platform/telemetry-client.ts'
import { openVault } from '../src/platform/vault.ts'
import type { ProviderGate } from '../src/ports/accounts.ts'
import type { Clock } from '../src/ports/clock.ts'
import type { Observe } from '../src/ports/observe.ts'
import type { Ports } from '../src/ports/ports.ts'
import { VERSION } from '../src/services/instance/release.ts'
import { startServices } from '../src/services/instance/services.ts'
import { createApp } from './app.ts'
import { failure, toResponse } from './http/answer.ts'
import { createBodyRoom } from './http/body-room.ts'
import type { AppContext, Pacing, AnswerRoom as RoomForAnswer } from './http/request.ts'
import { closedAnswer } from './routes/system.ts'

export type NodeOptions = {
  readonly environment: Environment
  /** Connects to the embedded database; used if SERVICE_DATABASE_URL is unset. */
  readonly embedded?: () => Duplex
  /** Folder of the built console; undefined without a console. */
  readonly consoleFolder?: string | undefined
  readonly observe?: Observe
  readonly clock?: Clock
  readonly passwords?: Hashing
  /** Runs due jobs at intervals. */
  readonly ticker?: Ticker
  /** Milliseconds until requests in flight are aborted when the server closes. */
  readonly shutdownLimit?: number
  /** Maximum bytes of unread answers; 256 MiB by default. */
  readonly answerRoom?: number
  /** Maximum bytes of arriving bodies; by default 128 MiB, or 32 of the largest bodies of items. */
  readonly bodyRoom?: number
  /** Maximum weight of parsed bodies in bytes; 64 MiB by default. A single body counts as at most half of it. */
  readonly parsedRoom?: number
  /** Concurrent requests of one account: by default 20 per collection, 60 in total, and 400 more that wait. */
  readonly requestSlots?: RequestSlotsDeps
}

export type NodeServer = {
  readonly url: string
  /**
   * Fails readiness at once and serves requests for SERVICE_CLUSTER__SHUTDOWN_DRAIN_DELAY; then accepts no new
   * connections, waits for requests in flight, and closes every database connection.
   */
  close(): Promise<void>
}

/**
 * Maximum bytes of the request line and all headers; must fit the longest query string with every character escaped.
 */
const MAX_HEADERS = 256 * 1024

/** Milliseconds between two deletions of expired data. */
const PRUNE_INTERVAL = 15 * 60_000

/** Milliseconds between two checks whether the daily telemetry is due. */
const REPORT_INTERVAL = 15 * 60_000

/** Milliseconds between two checks whether looks at schemas are due. */
const DRIFT_CHECK = 60_000

/** Milliseconds until requests in flight are aborted (docs/contract.md#shutdown). */
const SHUTDOWN_LIMIT = 30_000

/** Maximum concurrent hashes: half of the threads that Node has for files, compression and ciphers. */
const HASHES = 2

/** Bytes. */
const BODY_ROOM = 128 * 1024 * 1024

/** Bytes. */
const PARSED_ROOM = 64 * 1024 * 1024

const REQUEST_SLOTS = { ofCollection: 20, ofAccount: 60, waiting: 400 }

/** Long answers that are encoded concurrently, one per account. They are computed already, so they wait as long as it takes. */
const LONG_ANSWERS = { most: 2, ofShare: 1, patience: 10 * 60_000 }

/** Resolves once requests are served. Throws an Error whose message tells the operator what to change. */
export async function startNode({
  environment,
  embedded,
  consoleFolder,
  observe = createBufferedLog(),
  clock = { now: () => Date.now() },
  passwords = scryptPasswords,
  ticker,
  shutdownLimit = SHUTDOWN_LIMIT,
  answerRoom,
  bodyRoom,
  parsedRoom = PARSED_ROOM,
  requestSlots = REQUEST_SLOTS,
}: NodeOptions): Promise<NodeServer> {
  const config = requireConfig(environment, observe)
  const http = await openHttpServer({
    host: config.SERVICE_HOST,
    port: config.PORT,
    maxHeaderSize: MAX_HEADERS,
    listener: getRequestListener(answerWhileStarting, { autoCleanupIncoming: false }),
    onClientError: refuse,
  })
  try {
    return await serve(http, {
      config,
      environment,
      embedded,
      consoleFolder,
      log: observe,
      clock,
      passwords,
      ticker,
      shutdownLimit,
      answerRoom,
      bodyRoom,
      parsedRoom,
      requestSlots,
    })
  } catch (cause) {
    await http.drain({ delay: 0, limit: 0 })
    throw cause
  }
}

type Serving = Pick<NodeOptions, 'environment' | 'embedded' | 'consoleFolder' | 'ticker'> & {
  readonly requestSlots: NonNullable<NodeOptions['requestSlots']>
  readonly config: Config
  readonly log: Observe
  readonly clock: Clock
  readonly passwords: Hashing
  readonly shutdownLimit: number
  readonly answerRoom: number | undefined
  readonly bodyRoom: number | undefined
  readonly parsedRoom: number
}

async function serve(http: HttpServer, serving: Serving): Promise<NodeServer> {
  const { config, environment, embedded, consoleFolder, log, clock, passwords, ticker } = serving
  const { shutdownLimit, answerRoom, bodyRoom, parsedRoom, requestSlots } = serving
  const { observe, metrics, isTraced, ...observing } = await openObserving({
    log,
    config,
    environment,
    version: VERSION,
  })
  const licensing = createNodeLicensing({ clock, ticker })
  const turns = { atOnce: HASHES, rest: 0, ofOrigin: config.SERVICE_AUTH__LOGINS_AT_ONCE }
  const given = { observe, clock, passwords: inTurn(passwords, turns), licensing: licensing.ports }
  const { ports, close } = await openPorts(config, { environment, embedded, given })
  let isAccepting = true
  try {
    const services = await startServices(ports, config)
    await services.prune()
    const answers = createAnswerRoom({ most: answerRoom })
    const bodies = createBodyRoom({ most: bodyRoom ?? Math.max(BODY_ROOM, 32 * config.SERVICE_ITEMS__BODY_LIMIT) })
    const parsed = createBodyRoom({ most: parsedRoom, largest: parsedRoom / 2 })
    const encodings = createSharedSlots(LONG_ANSWERS)
    const pacing: Pacing = {
      ...createRequestSlots(requestSlots),
      takeEncoding: (caller) => encodings.take(caller),
      beforePiece: createPieceRate(),
    }
    const { fetch } = createApp({
      services,
      isAccepting: () => isAccepting,
      port: http.port,
      peerOf,
      compress,
      assets: openNodeAssets(),
      console: consoleFolder === undefined ? undefined : openNodeConsole(consoleFolder),
      systemDocument: async () => (await import('./openapi/routes.ts')).renderSystemDocument(),
      isTraced,
      ...(metrics !== undefined && { metrics }),
    })
    http.serve(
      getRequestListener(
        (request, env) =>
          fetch(request, {
            ...env,
            header: headerLookup(env),
            body: bodyOf(env.incoming as IncomingMessage),
            isDisconnected: leaving(env),
            room: roomFor(env, answers),
            bodies,
            parsed,
            pacing,
          }),
        {
          errorHandler,
          // The server itself discards unread bodies, with longer timeouts.
          autoCleanupIncoming: false,
        },
      ),
    )
    licensing.alarm.start(() => services.licensing.wake(), faultReporter(observe))
    const stopReporting = (ticker ?? repeatEvery)(REPORT_INTERVAL, () => services.telemetry.report())
    const stopLooking = (ticker ?? repeatEvery)(DRIFT_CHECK, () => services.drift.run())
    const pruning = setInterval(() => void services.prune().catch(faultReporter(observe)), PRUNE_INTERVAL)
    return {
      url: http.url,
      async close() {
        isAccepting = false
        clearInterval(pruning)
        // Ends license validation, telemetry and looks at schemas in parallel with the requests, not before them.
        const asking = Promise.all([licensing.alarm.stop(), stopReporting(), stopLooking()])
        await http.drain({ delay: config.SERVICE_CLUSTER__SHUTDOWN_DRAIN_DELAY, limit: shutdownLimit })
        await asking
        await services.openSources.close()
        await close()
        await observing.close()
      },
    }
  } catch (cause) {
    await close()
    throw cause
  }
}

function answerWhileStarting(request: Request): Response {
  const answer = closedAnswer(new URL(request.url).pathname, 'the instance is starting')
  return toResponse(answer, { requestId: timeOrderedIds.next() })
}

/** Favors speed over size, because all requests share a single thread. */
const gzipped = promisify<string | Uint8Array, Uint8Array<ArrayBuffer>>((text, done) =>
  gzip(text, { level: constants.Z_BEST_SPEED }, done),
)

/** Compressed documents, cached as long as their UTF-8 bytes. */
const packed = new WeakMap<Uint8Array, Promise<Uint8Array<ArrayBuffer>>>()

async function compress(text: string | Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof text === 'string') return gzipped(text)
  const known = packed.get(text) ?? gzipped(text)
  packed.set(text, known)
  return known
}

/** The remote address of the socket. */
function peerOf(c: AppContext): string | undefined {
  return getConnInfo(c).remote.address
}

/** Looks up one header in Node's request without building `Headers`. */
function headerLookup({ incoming }: HttpBindings | Http2Bindings): (name: string) => string | undefined {
  const { rawHeaders } = incoming
  return (name) => {
    let found: string | undefined
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const other = rawHeaders[index] ?? ''
      if (other.length !== name.length || other.toLowerCase() !== name) continue
      const value = rawHeaders[index + 1] ?? ''
      found = found === undefined ? value : `${found}${name === 'cookie' ? '; ' : ', '}${value}`
    }
    return found
  }
}

/** Opens a gate that also checks the addresses to which a provider's host name resolves. */
function openNodeProviderGate({ SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS: allowPrivate }: Config): ProviderGate {
  return openProviderGate({ allowPrivate, wayOut: createNetwork({ allowPrivate }).fetch })
}

/** Counts the answer to a request. */
function roomFor({ outgoing }: HttpBindings | Http2Bindings, answers: AnswerRoom): RoomForAnswer {
  return {
    hold: (bytes) => answers.hold(outgoing, bytes),
    makeRoom: () => answers.makeRoomFor(outgoing),
  }
}

/** Returns a function that returns whether the request's connection is closed. */
function leaving({ outgoing }: HttpBindings | Http2Bindings): () => boolean {
  return () => outgoing.destroyed && !outgoing.writableFinished
}

function faultReporter(observe: Observe): (error: unknown) => void {
  return (error) => observe({ kind: 'fault', error })
}

function requireConfig(environment: Environment, observe: Observe): Config {
  const reading = readConfig(environment)
  if (reading.kind === 'invalid') throw new Error(reading.faults.join('\n'))
  for (const name of reading.unknown) observe({ kind: 'warning', message: `${name} is not a known variable` })
  return reading.config
}

type Surroundings = Pick<NodeOptions, 'environment' | 'embedded'> & {
  readonly given: Pick<Ports, 'observe' | 'clock' | 'passwords' | 'licensing'>
}

async function openPorts(config: Config, { environment, embedded, given }: Surroundings) {
  const { SERVICE_DATABASE_URL: connectionString, SERVICE_SECRET: secret, SERVICE_QUERY__TIMEOUT: timeLimit } = config
  if (secret === undefined) throw new Error('SERVICE_SECRET must be set')
  if (connectionString === undefined && embedded === undefined) throw new Error('SERVICE_DATABASE_URL must be set')
  const database = runsAgain(
    connectionString === undefined
      ? openPostgres({ stream: embedded, max: 4, timeLimit })
      : openPostgres({ connectionString, timeLimit }),
  )
  const workspaces = createNodeWorkspaceState({
    database,
    connect: connectionString === undefined ? undefined : () => new GuardedClient({ connectionString }),
    clock: given.clock,
  })
  const connectors = await openNodeConnectors({ config, observe: given.observe })
  const { background, settled } = createNodeBackground(given.observe)
  const ports: Ports = {
    ...given,
    database,
    connectors,
    databases: createNodeSqlDatabases({
      allowPrivate: config.SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS,
      awsRoles: config.SERVICE_SOURCES__AWS_ROLES,
      timeLimit,
      environment,
    }),
    workspaces,
    ids: timeOrderedIds,
    tagOf: nodeTagOf,
    vault: openVault(secret),
    telemetry: createTelemetryClient({ platform: 'node', wayOut: operatorFetch }),
    transliterate: loadTransliterate,
    providerGate: openNodeProviderGate(config),
    mailer: openMailer({ settings: config, observe: given.observe, openSmtp: openSmtpMailer, wayOut: operatorFetch }),
    background,
    files: openNodeFiles({ config, database, observe: given.observe }),
    images: openNodeImages(),
  }
  return {
    ports,
    async close() {
      await settled()
      await connectors.close()
      await workspaces.close()
      await database.close()
    },
  }
}

/** Errors outside of the app: requests that could not be parsed, such as an invalid URL. */
function errorHandler(error: unknown): Response {
  return toResponse(failure(error instanceof RequestError ? notHttp : error), { requestId: timeOrderedIds.next() })
}

const notHttp = new ServiceError('badRequest', 'Invalid request')

/** Answers malformed HTTP with an error body and closes the connection. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, body } = failure(notHttp)
  const head = [`HTTP/1.1 ${status} Bad Request`, 'Connection: close', 'Content-Type: application/json']
  socket.end(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body ?? '')}\r\n\r\n${body}`)
}
