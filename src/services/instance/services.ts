/** All services that handlers may call, wired from ports and configuration; both entry points call `startServices`. */
import type { Config } from '../../config.ts'
import { lazily } from '../../core/lazily.ts'
import { postgresIntrospection } from '../../core/sql/postgres/introspect.ts'
import { systemDialect } from '../../core/sql/postgres/system-dialect.ts'
import type { Ports } from '../../ports/ports.ts'
import { createConnectorProviders } from '../../sources/connector/provider.ts'
import { ofShare } from '../../sources/of-share.ts'
import type { OpenedSource, SourceDatabase } from '../../sources/provider.ts'
import { createSqlProviders } from '../../sources/sql-provider.ts'
import { openSqlSource } from '../../sources/sql-source.ts'
import { deleteChangesBefore } from '../../store/changes.ts'
import { deleteExpiredEntries } from '../../store/ledger.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { type ApiKeys, createApiKeys } from '../accounts/api-keys.ts'
import { createDeviceSignIn, type DeviceSignIn } from '../accounts/device-sign-in.ts'
import { createInvitations, type Invitations } from '../accounts/invitations.ts'
import { createMembers, type Members } from '../accounts/members.ts'
import { createOwnSessions, type OwnSessions } from '../accounts/own-sessions.ts'
import { createPasswords, type Passwords } from '../accounts/passwords.ts'
import { createProviderSignIn, type ProviderSignIn } from '../accounts/provider-sign-in.ts'
import { createProviders, type Providers } from '../accounts/providers.ts'
import { createServiceAccounts, type ServiceAccounts } from '../accounts/service-accounts.ts'
import { createSessions, type Sessions } from '../accounts/sessions.ts'
import { createSignInLinks, type SignInLinks } from '../accounts/sign-in-links.ts'
import { createUsers, type Users } from '../accounts/users.ts'
import { type AssetFiles, createAssetFiles } from '../assets/assets.ts'
import { createContents } from '../assets/contents.ts'
import { createPresets } from '../assets/presets.ts'
import { createUploads, type Uploads } from '../assets/uploads.ts'
import type { Assistant } from '../assistant/assistant.ts'
import { type AuditLog, createAuditLog } from '../caller/audit.ts'
import { type Callers, createCallers } from '../caller/callers.ts'
import { createDirectory } from '../caller/directory.ts'
import { createThrottle } from '../caller/throttle.ts'
import { openTokens, type Tokens } from '../caller/tokens.ts'
import { createWorkQueue } from '../caller/work-queue.ts'
import { createItems, type Items } from '../data/items.ts'
import { type Agents, createAgents } from '../documents/agents.ts'
import { createCalled } from '../documents/called.ts'
import { createDeclarations } from '../documents/declarations.ts'
import { createExplanations, type Explanations } from '../documents/explanations.ts'
import { createJudgeTest } from '../documents/judged-tests.ts'
import { createManifests, type Manifests } from '../documents/manifest.ts'
import { createOpenApi, type OpenApi } from '../documents/openapi.ts'
import { createOwnAccess, type OwnAccess } from '../documents/own-access.ts'
import { type Licensing, openLicensing } from '../license/licensing.ts'
import { createDrift, type Drift } from '../model/drift.ts'
import { createIntrospection, type Introspection } from '../model/introspection.ts'
import { createMigrationWork } from '../model/migration-work.ts'
import { createMigrations, type Migrations } from '../model/migrations.ts'
import { createModelCache } from '../model/model-cache.ts'
import { createModelChanges } from '../model/model-changes.ts'
import { createOpenSources, type OpenSources } from '../model/open-sources.ts'
import { createSecrets, type Secrets } from '../model/secrets.ts'
import { createSourceSettings } from '../model/source-settings.ts'
import { createSources, type Sources } from '../model/sources.ts'
import { type AccessTests, createAccessTests } from '../rights/access-tests.ts'
import { type ActAs, createActAs } from '../rights/act-as.ts'
import { createIsStillGiven, createLoadGrantor } from '../rights/delegation.ts'
import { createRightsPreview, type RightsPreview } from '../rights/effects.ts'
import { createModelFiles, type ModelFiles } from '../rights/model-files.ts'
import { createPolicies, type Policies } from '../rights/policies.ts'
import { createRoles, type Roles } from '../rights/roles.ts'
import { installInstance } from './lifecycle.ts'
import { createMailTest, type MailTest } from './mail-test.ts'
import { VERSION } from './release.ts'
import { createTelemetry, type Telemetry } from './telemetry.ts'
import { createWorkspaces, type Workspaces } from './workspaces.ts'

export type Services = {
  readonly ports: Ports
  readonly config: Config
  readonly licensing: Licensing
  readonly callers: Callers
  readonly sessions: Sessions
  readonly deviceSignIn: DeviceSignIn
  readonly tokens: Pick<Tokens, 'published'>
  readonly passwords: Passwords
  readonly signInLinks: SignInLinks
  readonly apiKeys: ApiKeys
  readonly serviceAccounts: ServiceAccounts
  readonly workspaces: Workspaces
  readonly users: Users
  readonly ownSessions: OwnSessions
  readonly mailTest: MailTest
  readonly members: Members
  readonly roles: Roles
  readonly policies: Policies
  readonly rightsPreview: RightsPreview
  readonly accessTests: AccessTests
  readonly invitations: Invitations
  readonly providers: Providers
  readonly providerSignIn: ProviderSignIn
  readonly auditLog: AuditLog
  readonly migrations: Migrations
  readonly introspection: Introspection
  readonly drift: Drift
  readonly modelFiles: ModelFiles
  readonly sources: Sources
  readonly openSources: Pick<OpenSources, 'close'>
  readonly secrets: Secrets
  /** Loaded on the first request. */
  readonly assistant: () => Promise<Assistant>
  readonly manifests: Manifests
  readonly ownAccess: OwnAccess
  readonly explanations: Explanations
  readonly actAs: ActAs
  readonly items: Items
  readonly assetFiles: AssetFiles
  readonly uploads: Uploads
  /** Deletes expired data: audit entries, counters of attempts, mailed tokens, idempotency keys. */
  prune(): Promise<void>
  readonly openApi: OpenApi
  readonly telemetry: Telemetry
  readonly agents: Agents
}

/** Milliseconds for queries of a catalog; statements that callers wait for have no limit. */
const CATALOG_LIMIT = 30_000

/** Limits for work on large models and schemas, which may take a hundred megabytes for tens of thousands of fields. */
const QUEUE = { mostLarge: 2, mostOfAccount: 16, patience: 30_000 }

/** Migrates the system database and opens the instance. Throws the reason why it cannot start. */
export async function startServices(ports: Ports, config: Config): Promise<Services> {
  await installInstance(ports, config)
  const licensing = await openLicensing({ ports, config })
  const tokens = await openTokens({ ports, configured: config.SERVICE_AUTH__SIGNING_KEY })
  const models = createModelCache(ports)
  const changes = createModelChanges({ ports, models })
  const systemOf = ({ id }: Pick<WorkspaceRow, 'id'>): SourceDatabase => ({
    driver: ofShare(ports.database, id),
    dialect: systemDialect,
    catalog: postgresIntrospection,
  })
  const directory = createDirectory({ sourceOf: (share) => openSqlSource(systemOf({ id: share })), config })
  const throttle = createThrottle({ ports, config })
  const sessions = createSessions({ ports, config, tokens, throttle })
  const deviceSignIn = createDeviceSignIn({ ports, sessions, throttle })
  const passwords = createPasswords({ ports, config, throttle })
  const auditLog = createAuditLog({ ports, config, directory })
  const timeLimit = config.SERVICE_QUERY__TIMEOUT || CATALOG_LIMIT
  const builtIn = createSqlProviders({ ...ports, timeLimit })
  const installed = createConnectorProviders({
    ...ports.connectors,
    database: ports.database,
    clock: ports.clock,
    ids: ports.ids,
    tagOf: ports.tagOf,
    timeToLive: config.SERVICE_SOURCES__CACHE_TTL,
  })
  const providers = () => [...builtIn, ...installed()]
  const settings = createSourceSettings({
    ports,
    providers,
    awsRoles: config.SERVICE_SOURCES__AWS_ROLES,
    hyperdrives: config.SERVICE_SOURCES__HYPERDRIVES,
  })
  const openSources = createOpenSources({
    ports,
    settings,
    openSystem: (workspace) => openedSystem(systemOf(workspace)),
  })
  // Separate queues, so that slow sources delay only work of the same kind.
  const queues = {
    documents: createWorkQueue(QUEUE),
    changes: createWorkQueue(QUEUE),
    imports: createWorkQueue(QUEUE),
    looks: createWorkQueue(QUEUE),
  }
  const sources = createSources({ ports, models: changes, settings, openSources, queue: queues.imports, providers })
  const assistant = lazily(async () => (await import('../assistant/assistant.ts')).createAssistant({ ports }))
  const secrets = createSecrets({ ports, models: changes, sources, openSources })
  const forget = (workspaceId: string) => {
    models.forget(workspaceId)
    ports.background(openSources.forget(workspaceId))
  }
  const work = createMigrationWork({ ports, openSources })
  const declarations = createDeclarations(ports)
  const loadGrantor = createLoadGrantor({ ports, models })
  const isStillGiven = createIsStillGiven({ ports, models })
  const introspection = createIntrospection({
    ports,
    models: changes,
    systemOf,
    openSources,
    queues,
    timeLimit,
    brokenTests: (scope, change) => accessTests.brokenBy(scope, change),
    version: VERSION,
  })
  const called = createCalled({ ports })
  const drift = createDrift({ ports, config, models, introspection })
  const items = createItems({
    ports,
    config,
    models,
    openSource: openSources.sourceOf,
    look: introspection.look,
    onMissing: (workspace, sourceId) => ports.background(drift.look(workspace, sourceId)),
  })
  const accessTests = createAccessTests({ ports, models, judgeTest: createJudgeTest({ declarations, items }) })
  const migrations = createMigrations({
    ports,
    models: changes,
    work,
    queue: queues.changes,
    brokenTests: accessTests.brokenBy,
  })
  const delegating = { ports, directory, license: licensing, loadGrantor, accessTests }
  const modelFiles = createModelFiles({
    ...delegating,
    models,
    changes,
    work,
    introspection,
    queues,
  })
  const contents = createContents({ ports, config })
  const assetFiles = createAssetFiles({ ports, contents, items, presets: createPresets({ ports, contents }), throttle })
  return {
    ports,
    config,
    licensing,
    callers: createCallers({ ports, tokens, forget }),
    sessions,
    deviceSignIn,
    tokens,
    apiKeys: createApiKeys({ ports, tokens, directory, models }),
    serviceAccounts: createServiceAccounts(delegating),
    passwords,
    signInLinks: createSignInLinks({ ports, sessions, throttle }),
    workspaces: createWorkspaces({ ports, directory, license: licensing, forget }),
    users: createUsers({ ports, directory }),
    ownSessions: createOwnSessions({ ports }),
    mailTest: createMailTest({ ports, config, throttle }),
    members: createMembers(delegating),
    roles: createRoles(delegating),
    policies: createPolicies({ ...delegating, models }),
    rightsPreview: createRightsPreview({ ...delegating, models, queue: queues.changes }),
    accessTests,
    invitations: createInvitations({ ...delegating, isStillGiven, config, throttle }),
    auditLog,
    providers: createProviders(delegating),
    providerSignIn: createProviderSignIn({ ports, sessions, throttle, license: licensing, isStillGiven }),
    migrations,
    introspection,
    drift,
    modelFiles,
    sources,
    openSources,
    secrets,
    assistant,
    manifests: createManifests({ called, models, declarations, queue: queues.documents, version: VERSION }),
    ownAccess: createOwnAccess({ models, declarations, queue: queues.documents }),
    explanations: createExplanations({ ports, models, declarations, items }),
    actAs: createActAs({ ports }),
    items,
    assetFiles,
    uploads: createUploads({ ports, config, contents, items }),
    telemetry: createTelemetry({ ports, config }),
    openApi: createOpenApi({ called, models, declarations, queue: queues.documents, version: VERSION }),
    agents: createAgents({ items, assetFiles, migrations, modelFiles, models, declarations, licensing }),
    async prune() {
      await auditLog.prune()
      await throttle.prune()
      await sessions.prune()
      await deviceSignIn.prune()
      await passwords.prune()
      await deleteExpiredEntries(ports.database, ports.clock.now())
      await deleteChangesBefore(ports.database, ports.clock.now() - config.SERVICE_HISTORY__RETENTION)
      await (await assistant()).prune(config.SERVICE_ASSISTANT__RETENTION)
      await assetFiles.prune()
    },
  }
}

/** `close` does nothing, because the entry point owns the system database. */
function openedSystem(database: SourceDatabase): OpenedSource {
  const unread = () => Promise.reject(new Error('of the system database a workspace reads only its own schemas'))
  return {
    source: openSqlSource(database),
    database: async () => database,
    introspect: unread,
    look: unread,
    digest: unread,
    close: async () => {},
  }
}
