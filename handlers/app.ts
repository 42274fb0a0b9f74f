/** Mounts every HTTP route, in order. http/mount.ts has what runs around each handler. */
import { Hono } from 'hono'
import { ServiceError } from '../src/core/error.ts'
import type { Assets, ConsoleFiles } from '../src/ports/files.ts'
import type { Services } from '../src/services/instance/services.ts'
import { clientAddress } from './http/client-address.ts'
import { createCors } from './http/cors.ts'
import { type App, respond } from './http/mount.ts'
import { type AppContext, headerOf, type Variables } from './http/request.ts'
import { isBelowItems, ServiceRouter } from './http/router.ts'
import { mountAccess } from './routes/access.ts'
import { mountApiKeys } from './routes/api-keys.ts'
import { mountAssets } from './routes/assets.ts'
import { mountAssistant } from './routes/assistant.ts'
import { mountAuditLog } from './routes/audit-log.ts'
import { mountAuth } from './routes/auth.ts'
import { mountConsole, pageHandler } from './routes/console.ts'
import { mountDevices } from './routes/devices.ts'
import { mountInvitations } from './routes/invitations.ts'
import { mountItems } from './routes/items.ts'
import { mountLicense } from './routes/license.ts'
import { mountMcp } from './routes/mcp.ts'
import { mountMembers } from './routes/members.ts'
import { mountMetrics } from './routes/metrics.ts'
import { mountOpenApi } from './routes/openapi.ts'
import { mountPasswords } from './routes/passwords.ts'
import { mountPolicies } from './routes/policies.ts'
import { mountProviderSignIn } from './routes/provider-sign-in.ts'
import { mountProviders } from './routes/providers.ts'
import { mountReference } from './routes/reference.ts'
import { mountRoles } from './routes/roles.ts'
import { mountSchema } from './routes/schema.ts'
import { mountSecrets } from './routes/secrets.ts'
import { mountServiceAccounts } from './routes/service-accounts.ts'
import { mountSources } from './routes/sources.ts'
import { mountStructure } from './routes/structure.ts'
import { mountSystem } from './routes/system.ts'
import { mountUploads } from './routes/uploads.ts'
import { mountUsers } from './routes/users.ts'
import { mountWorkspaces } from './routes/workspaces.ts'

export type AppDeps = {
  readonly services: Services
  /** False after a shutdown signal: readiness then fails. */
  readonly isAccepting: () => boolean
  /** The port that the process listens on; absent if the platform listens. */
  readonly port?: number | undefined
  /** The IP address of the connection's other end, if the platform knows it. */
  readonly peerOf: (c: AppContext) => string | undefined
  /** Absent if the platform compresses answers. */
  readonly compress?: App['compress']
  readonly assets: Assets
  /** Undefined if the console was not built. */
  readonly console?: ConsoleFiles | undefined
  /** The OpenAPI document of the system. */
  readonly systemDocument: () => Promise<string>
  readonly isTraced?: boolean
  /** Renders `/metrics`; absent if metrics are off. */
  readonly metrics?: () => Promise<string>
}

export function createApp(deps: AppDeps) {
  const {
    services,
    isAccepting,
    port,
    peerOf,
    compress,
    assets,
    console: consoleFiles,
    systemDocument,
    isTraced = false,
    metrics,
  } = deps
  const { ports, config } = services
  const hono = new Hono<{ Variables: Variables }>({ router: new ServiceRouter() })
  const trusted = config.SERVICE_HTTP__TRUSTED_PROXIES ?? []
  const addressOf: App['addressOf'] = (c) =>
    clientAddress({ peer: peerOf(c), trusted, header: (name) => headerOf(c, name) })
  const slowFrom = config.SERVICE_LOG__SLOW || Number.POSITIVE_INFINITY
  const app: App = { hono, ports, addressOf, compress, isTraced, slowFrom, cors: createCors({ config }) }

  if (metrics !== undefined) mountMetrics(app, metrics)
  mountConsole(app, consoleFiles)
  mountSystem(app, services, { isAccepting, port })
  mountAuth(app, services)
  mountDevices(app, services, assets)
  mountPasswords(app, services)
  mountApiKeys(app, services)
  mountServiceAccounts(app, services)
  mountProviderSignIn(app, services)
  mountProviders(app, services)
  mountUsers(app, services)
  mountWorkspaces(app, services)
  mountMembers(app, services)
  mountRoles(app, services)
  mountPolicies(app, services)
  mountAccess(app, services)
  mountInvitations(app, services)
  mountAuditLog(app, services)
  mountLicense(app, services)
  mountSchema(app, services)
  mountStructure(app, services)
  mountSecrets(app, services)
  mountAssistant(app, services)
  mountSources(app, services)
  mountItems(app, services)
  mountUploads(app, services)
  mountAssets(app, services)
  mountOpenApi(app, services, systemDocument)
  mountReference(app, assets)
  mountMcp(app, services)

  const nowhere = async (c: AppContext) => {
    if (isBelowItems(c.req.path)) await services.licensing.admit()
    throw new ServiceError('notFound', 'Not found')
  }
  hono.notFound((c) => {
    const page = pageHandler(consoleFiles, ports.tagOf, c)
    return respond(
      app,
      c,
      page === undefined ? { route: 'none', handler: nowhere } : { route: 'page', handler: page, isProbe: true },
    )
  })
  return hono
}
