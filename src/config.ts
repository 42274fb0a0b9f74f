/**
 * Parses the environment into `Config`. Every variable is listed here once with its default; docs/configuration.md is
 * generated from this list. Errors name the variable and never contain its value.
 */
import type * as z from 'zod'
import * as values from './config-values.ts'
import type { InferOutput } from './core/lazily.ts'
import { isLoopback } from './core/loopback.ts'

/** Schema and default of every variable. scripts/variable-descriptions.ts describes them for the generated page. */
export const variables = {
  PORT: [values.port, 8787],
  SERVICE_HOST: [values.someText, '127.0.0.1'],
  SERVICE_BASE_URL: [values.publicUrl, undefined],
  SERVICE_HTTP__TRUSTED_PROXIES: [values.networks, undefined],
  SERVICE_DATABASE_URL: [values.databaseUrl, undefined],
  SERVICE_DATA_DIR: [values.someText, '.data'],
  SERVICE_SECRET: [values.secret, undefined],
  SERVICE_AUTH__SIGNING_KEY: [values.anyText, undefined],
  SERVICE_AUTH__REDIRECT_ORIGINS: [values.origins, undefined],
  SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS: [values.flag, false],
  SERVICE_ACCESS_TOKEN_TTL: [values.durationSchema, 15 * 60_000],
  SERVICE_REFRESH_TOKEN_TTL: [values.durationSchema, 7 * 86_400_000],
  SERVICE_AUTH__LOGINS_PER_MINUTE: [values.count, 300],
  SERVICE_AUTH__LOGINS_AT_ONCE: [values.count, 16],
  SERVICE_ADMIN__EMAIL: [values.email, undefined],
  SERVICE_ADMIN__PASSWORD: [values.password, undefined],
  SERVICE_SETUP_TOKEN: [values.someText, undefined],
  SERVICE_MAIL__URL: [values.mailUrl, undefined],
  SERVICE_MAIL__FROM: [values.sender, undefined],
  SERVICE_INVITATION_URL: [values.tokenPage, undefined],
  SERVICE_RESET_URL: [values.tokenPage, undefined],
  SERVICE_AUDIT__RETENTION: [values.durationSchema, 365 * 86_400_000],
  SERVICE_HISTORY__RETENTION: [values.durationSchema, 90 * 86_400_000],
  SERVICE_ASSISTANT__RETENTION: [values.durationSchema, 90 * 86_400_000],
  SERVICE_CLUSTER__SHUTDOWN_DRAIN_DELAY: [values.durationSchema, 0],
  SERVICE_TELEMETRY__ENABLED: [values.flag, true],
  SERVICE_TELEMETRY__URL: [values.httpUrl, undefined],
  SERVICE_INSTANCE_OWNER_SYNC_ENABLED: [values.flag, true],
  SERVICE_CORS__ENABLED: [values.flag, false],
  SERVICE_CORS__ORIGIN: [values.readers, undefined],
  SERVICE_METRICS__ENABLED: [values.flag, false],
  SERVICE_DEMO: [values.flag, true],
  SERVICE_SOURCES__CACHE_TTL: [values.durationSchema, 30_000],
  SERVICE_QUERY_LIMIT_DEFAULT: [values.count, 100],
  SERVICE_QUERY_LIMIT_MAX: [values.count, 10_000],
  SERVICE_QUERY__MAX_ROWS: [values.count, 1_000_000],
  SERVICE_QUERY__TIMEOUT: [values.durationSchema, 30_000],
  SERVICE_LOG__SLOW: [values.durationSchema, 1_000],
  SERVICE_IDEMPOTENCY__TTL: [values.durationSchema, 86_400_000],
  SERVICE_ITEMS__CREATE_LIMIT: [values.count, 1_000],
  SERVICE_SCHEMA__BODY_LIMIT: [values.size, 1024 ** 2],
  SERVICE_SCHEMA__DRIFT_INTERVAL: [values.lookInterval, 15 * 60_000],
  SERVICE_ITEMS__BODY_LIMIT: [values.size, 4 * 1024 ** 2],
  SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: [values.flag, false],
  SERVICE_SOURCES__AWS_ROLES: [values.awsRoles, []],
  SERVICE_SOURCES__HYPERDRIVES: [values.hyperdrives, []],
  SERVICE_FILES__STORE: [values.fileStore, undefined],
  SERVICE_FILES__PATH: [values.someText, undefined],
  SERVICE_FILES__S3__ENDPOINT: [values.s3Endpoint, undefined],
  SERVICE_FILES__S3__BUCKET: [values.bucketName, undefined],
  SERVICE_FILES__S3__REGION: [values.someText, 'us-east-1'],
  SERVICE_FILES__S3__ACCESS_KEY_ID: [values.someText, undefined],
  SERVICE_FILES__S3__SECRET_ACCESS_KEY: [values.someText, undefined],
  SERVICE_FILES__MAX_SIZE: [values.size, 5 * 1024 ** 3],
  SERVICE_FILES__QUOTA: [values.size, undefined],
  SERVICE_FILES__TYPES: [values.mediaTypes, undefined],
  SERVICE_FILES__DELETE_AFTER: [values.durationSchema, 86_400_000],
  SERVICE_FILES__UPLOAD_TTL: [values.durationSchema, 86_400_000],
  SERVICE_FILES__CLEAN_INTERVAL: [values.lookInterval, 3_600_000],
  SERVICE_EXTENSIONS__PATH: [values.someText, 'extensions'],
  SERVICE_EXTENSIONS__AUTO_RELOAD: [values.flag, false],
  SERVICE_EXTENSIONS__TIME_LIMIT: [values.durationSchema, 30_000],
  SERVICE_EXTENSIONS__CPU_LIMIT: [values.durationSchema, 5_000],
  SERVICE_EXTENSIONS__MEMORY_LIMIT: [values.count, 64],
  SERVICE_EXTENSIONS__IDLE_TIME: [values.durationSchema, 5 * 60_000],
  SERVICE_EXTENSIONS__MAX_PROCESSES: [values.count, 32],
  SERVICE_EXTENSIONS__MAX_PROCESSES_PER_WORKSPACE: [values.count, 8],
  SERVICE_LICENSE__KEY: [values.licenseKey, undefined],
  SERVICE_LICENSE__TOKEN: [values.anyText, undefined],
  SERVICE_LICENSE__URL: [values.httpUrl, undefined],
  SERVICE_LICENSE__PUBLIC_KEY: [values.publicJwk, undefined],
} as const satisfies Readonly<Record<string, readonly [() => z.ZodType, preset: unknown]>>

type Variables = typeof variables
export type VariableName = keyof Variables

export type Config = { readonly [Name in VariableName]: InferOutput<Variables[Name][0]> | Variables[Name][1] }

export type Setting = {
  readonly name: VariableName
  /** Whether it is set to something else than its default. */
  readonly isSet: boolean
  /** As it is written; null where there is none, and where it may be a secret. */
  readonly value: string | null
}

/**
 * Every variable, for whoever administers the instance: no value that may be a secret. `port` is the one that the process listens on;
 * undefined where its platform listens for it, whatever PORT says.
 */
export function settingsOf(config: Config, port: number | undefined): readonly Setting[] {
  return (Object.entries(variables) as [VariableName, Variables[VariableName]][]).map(([name, [schema, preset]]) => {
    const value = name === 'PORT' ? port : config[name]
    return { name, isSet: config[name] !== preset, value: values.writtenBy(schema, value) }
  })
}

export type Environment = Readonly<Record<string, string | undefined>>

export type ConfigResult =
  | { readonly kind: 'valid'; readonly config: Config; readonly unknown: readonly string[] }
  | { readonly kind: 'invalid'; readonly faults: readonly string[] }

/** Parses all variables; an empty text counts as unset. `unknown` lists SERVICE_ variables that do not exist. */
export function readConfig(environment: Environment): ConfigResult {
  const config: Partial<Record<VariableName, unknown>> = {}
  const faults: string[] = []
  for (const [name, [schema, preset]] of Object.entries(variables) as [VariableName, Variables[VariableName]][]) {
    const text = environment[name]
    if (text === undefined || text === '') {
      // Most variables are unset, so their schemas are never created.
      config[name] = preset
      continue
    }
    const result = schema().safeParse(text)
    if (result.success) config[name] = result.data
    else faults.push(`${name} ${result.error.issues[0]?.message ?? 'is wrong'}`)
  }
  if (faults.length === 0) faults.push(...contradictions(config as Config))
  if (faults.length > 0) return { kind: 'invalid', faults }
  return { kind: 'valid', config: config as Config, unknown: unknownVariables(environment) }
}

function contradictions(config: Config): readonly string[] {
  const faults: string[] = []
  if ((config.SERVICE_ADMIN__EMAIL === undefined) !== (config.SERVICE_ADMIN__PASSWORD === undefined)) {
    faults.push('SERVICE_ADMIN__EMAIL and SERVICE_ADMIN__PASSWORD must be set together')
  }
  if (config.SERVICE_CORS__ENABLED && config.SERVICE_CORS__ORIGIN === undefined) {
    faults.push('SERVICE_CORS__ORIGIN must be set where SERVICE_CORS__ENABLED is true')
  }
  if (config.SERVICE_QUERY_LIMIT_DEFAULT > config.SERVICE_QUERY_LIMIT_MAX) {
    faults.push('SERVICE_QUERY_LIMIT_DEFAULT must not exceed SERVICE_QUERY_LIMIT_MAX')
  }
  if (config.SERVICE_QUERY_LIMIT_DEFAULT > config.SERVICE_QUERY__MAX_ROWS) {
    faults.push('SERVICE_QUERY_LIMIT_DEFAULT must not exceed SERVICE_QUERY__MAX_ROWS')
  }
  const { SERVICE_MAIL__URL: mail, SERVICE_BASE_URL: base } = config
  if (mail?.startsWith('log:') && base !== undefined && !isLoopback(new URL(base).hostname)) {
    faults.push('SERVICE_MAIL__URL may be log: only where SERVICE_BASE_URL is unset or on this machine')
  }
  return [...faults, ...fileContradictions(config), ...licenseContradictions(config)]
}

/** What reaches a bucket of S3 besides the region. */
const s3Variables = [
  'SERVICE_FILES__S3__ENDPOINT',
  'SERVICE_FILES__S3__BUCKET',
  'SERVICE_FILES__S3__ACCESS_KEY_ID',
  'SERVICE_FILES__S3__SECRET_ACCESS_KEY',
] as const

/** Bytes must not go to another place because the store was forgotten. */
function fileContradictions(config: Config): readonly string[] {
  const isS3 = config.SERVICE_FILES__STORE === 's3'
  return s3Variables
    .filter((name) => (config[name] !== undefined) !== isS3)
    .map((name) =>
      isS3
        ? `${name} must be set where SERVICE_FILES__STORE is s3`
        : `SERVICE_FILES__STORE must be s3 where ${name} is set`,
    )
}

function licenseContradictions(config: Config): readonly string[] {
  const { SERVICE_LICENSE__KEY: key, SERVICE_LICENSE__TOKEN: token } = config
  if (key !== undefined && token !== undefined) {
    return ['SERVICE_LICENSE__KEY and SERVICE_LICENSE__TOKEN must not both be set: a license is online or offline']
  }
  const faults: string[] = []
  const name = key === undefined ? 'SERVICE_LICENSE__TOKEN' : 'SERVICE_LICENSE__KEY'
  if ((key ?? token) !== undefined && config.SERVICE_LICENSE__PUBLIC_KEY === undefined) {
    faults.push(`SERVICE_LICENSE__PUBLIC_KEY must be set with ${name}`)
  }
  if (key !== undefined && config.SERVICE_LICENSE__URL === undefined) {
    faults.push('SERVICE_LICENSE__URL must be set with SERVICE_LICENSE__KEY')
  }
  return faults
}

function unknownVariables(environment: Environment): readonly string[] {
  return Object.keys(environment).filter(
    (name) => name.startsWith('SERVICE_') && !name.startsWith('SERVICE_TEST_') && !(name in variables),
  )
}
