/**
 * Parses the environment into `Config`. Every variable is listed here once with its default; docs/configuration.md is
 * generated from this list. Errors name the variable and never contain its value.
 */
import * as z from 'zod'
import { type InferOutput, lazily } from './core/lazily.ts'
import { parseLicenseKey } from './core/license/key.ts'
import { isLoopback } from './core/loopback.ts'
import { type Network, networkText, parseNetwork } from './core/network.ts'
import { type AwsRole, awsRolesSchema } from './core/sql/aws-role.ts'
import { type Hyperdrive, hyperdrivesSchema } from './core/sql/hyperdrive.ts'
import { withoutTrailing } from './core/trailing.ts'

const flag = lazily(() => z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true'))

/** Parses `900s`, `15m` or `30d` into milliseconds. */
export const durationSchema = lazily(() =>
  z.string().transform((text, context) => {
    if (text === '0') return 0
    const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
    if (amount !== undefined && unit !== undefined) return Number(amount) * (millisecondsPer[unit] ?? 0)
    context.addIssue({ code: 'custom', message: 'must be a duration such as 900s, 15m, 12h or 30d' })
    return z.NEVER
  }),
)

const millisecondsPer: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Looked at once a minute. */
const lookInterval = lazily(() =>
  durationSchema().refine((interval) => interval === 0 || interval >= 60_000, 'must be 0 or at least 1m'),
)

const size = lazily(() =>
  z.string().transform((text, context) => {
    const [, amount, unit] = /^(\d{1,12})\s*(B|KB|KiB|MB|MiB|GB|GiB)?$/.exec(text) ?? []
    if (amount !== undefined) return Number(amount) * (bytesPer[unit ?? 'B'] ?? 1)
    context.addIssue({
      code: 'custom',
      message: 'must be a number of bytes, or one with a unit such as 512KiB or 4MiB',
    })
    return z.NEVER
  }),
)

const bytesPer: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
}

const count = lazily(() =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value > 0, 'must be at least 1'),
)

const port = lazily(() =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be at most 65535'),
)

const httpUrl = lazily(() => z.url({ protocol: /^https?$/, error: 'must be an http or https address' }))

/** Our own, which everybody sees. */
const publicUrl = lazily(() => httpUrl())

/** `https://app.example.com/join#{token}` */
const tokenPage = lazily(() =>
  z
    .string()
    .refine(
      (text) => text.includes('{token}') && /^https?:\/\/./.test(text) && URL.canParse(text),
      'must be an http or https address with {token} in it',
    ),
)

/** `https://app.example.com,https://admin.example.com` */
const origins = lazily(() => z.string().transform((text, context) => originsIn(text) ?? refuseOrigins(context)))

/** `*` means every origin. */
const readers = lazily(() =>
  z.string().transform((text, context) => (text === '*' ? [text] : (originsIn(text) ?? refuseOrigins(context)))),
)

function originsIn(text: string): readonly string[] | undefined {
  const parts = text.split(',').map((part) => part.trim())
  const isValid = (part: string) =>
    /^https?:\/\/[^*]+$/.test(part) && URL.canParse(part) && new URL(part).origin === part
  return parts.every(isValid) ? parts : undefined
}

function refuseOrigins(context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom', message: 'must be origins such as https://app.example.com with commas between' })
  return z.NEVER
}

/** `10.0.0.0/8,2001:db8::/32` */
const networks = lazily(() =>
  z.string().transform((text, context) => {
    const parts = text.split(',').map((part) => parseNetwork(part.trim()))
    const known = parts.filter((part): part is Network => part !== undefined)
    if (known.length === parts.length) return known
    context.addIssue({ code: 'custom', message: 'must be networks such as 10.0.0.0/8 with commas between' })
    return z.NEVER
  }),
)

/** `image/*,application/pdf` */
const mediaTypes = lazily(() =>
  z.string().transform((text, context) => {
    const types = text.split(',').map((type) => type.trim().toLowerCase())
    if (types.every((type) => /^[\w!#$&^.+-]+\/(\*|[\w!#$&^.+-]+)$/.test(type))) return types
    context.addIssue({
      code: 'custom',
      message: 'must be media types such as application/pdf or image/* with commas between',
    })
    return z.NEVER
  }),
)

const fileStore = lazily(() => z.enum(['folder', 's3', 'r2', 'database'], 'must be folder, s3, r2 or database'))

const bucketName = lazily(() => z.string().regex(/^[\w.-]{1,255}$/, 'must be the name of a bucket'))

/** What comes before the name of a bucket. */
const s3Endpoint = lazily(() =>
  httpUrl().refine((text) => {
    const { username, password, search, hash } = new URL(text)
    return [username, password, search, hash].every((part) => part === '')
  }, 'must be an http or https address without a user, a query or a fragment'),
)

const secret = lazily(() =>
  z.string().refine((text) => {
    const [first = '', ...others] = text.split(',')
    return isLong(first) && (others.length === 0 || isLong(others.join(',')))
  }, 'must have at least 32 bytes; where several are given, with commas between, each must'),
)

function isLong(text: string): boolean {
  return new TextEncoder().encode(text).length >= 32
}

const databaseUrl = lazily(() =>
  z.string().refine((text) => /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text), 'must be a postgres:// address'),
)

const mailUrl = lazily(() =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && mayMail(new URL(text)),
      'must be an smtp, smtps or https address, http only on this machine, or log:',
    ),
)

function mayMail({ protocol, hostname, href }: URL): boolean {
  if (protocol === 'http:') return isLoopback(hostname)
  return href === 'log:' || (['smtp:', 'smtps:', 'https:'].includes(protocol) && hostname !== '')
}

const sender = lazily(() =>
  z.string().refine((text) => {
    const [, address] = /^[^<>\r\n]*<([^<>]+)>$/.exec(text) ?? [text, text]
    return z.email().safeParse(address).success
  }, 'must be an e-mail address, or Name <address>'),
)

const licenseKey = lazily(() =>
  z.string().transform((text, context) => {
    const reading = parseLicenseKey(text)
    if (reading.kind === 'key') return reading.key
    context.addIssue({ code: 'custom', message: reading.message })
    return z.NEVER
  }),
)

const publicJwkSchema = lazily(() =>
  z.looseObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string().regex(/^[\w-]{43}$/),
    d: z.undefined().optional(),
  }),
)

const publicJwk = lazily(() => z.string().refine(isPublicJwk, 'must be an Ed25519 public JWK'))

function isPublicJwk(text: string): boolean {
  try {
    return publicJwkSchema().safeParse(JSON.parse(text)).success
  } catch {
    return false
  }
}

/** Reads JSON text that `schema` accepts. */
function jsonList<T>(schema: () => z.ZodType<T>, form: string) {
  return lazily(() =>
    z.string().transform((text, context): T => {
      const result = schema().safeParse(parsed(text))
      if (result.success) return result.data
      context.addIssue({ code: 'custom', message: `must be a JSON list of ${form}` })
      return z.NEVER
    }),
  )
}

const awsRoles = jsonList<readonly AwsRole[]>(awsRolesSchema, '{"roleArn", "externalId"?, "workspaces"?}')

const hyperdrives = jsonList<readonly Hyperdrive[]>(hyperdrivesSchema, '{"binding", "workspaces"?}')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const anyText = lazily(() => z.string())

const someText = lazily(() => z.string().min(1))

const email = lazily(() => z.email('must be an e-mail address'))

const password = lazily(() => z.string().min(10, 'must have at least 10 characters'))

/** Schema and default of every variable. scripts/variable-descriptions.ts describes them for the generated page. */
export const variables = {
  PORT: [port, 8787],
  SERVICE_HOST: [someText, '127.0.0.1'],
  SERVICE_BASE_URL: [publicUrl, undefined],
  SERVICE_HTTP__TRUSTED_PROXIES: [networks, undefined],
  SERVICE_DATABASE_URL: [databaseUrl, undefined],
  SERVICE_DATA_DIR: [someText, '.data'],
  SERVICE_SECRET: [secret, undefined],
  SERVICE_AUTH__SIGNING_KEY: [anyText, undefined],
  SERVICE_AUTH__REDIRECT_ORIGINS: [origins, undefined],
  SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS: [flag, false],
  SERVICE_ACCESS_TOKEN_TTL: [durationSchema, 15 * 60_000],
  SERVICE_REFRESH_TOKEN_TTL: [durationSchema, 7 * 86_400_000],
  SERVICE_AUTH__LOGINS_PER_MINUTE: [count, 300],
  SERVICE_AUTH__LOGINS_AT_ONCE: [count, 16],
  SERVICE_ADMIN__EMAIL: [email, undefined],
  SERVICE_ADMIN__PASSWORD: [password, undefined],
  SERVICE_SETUP_TOKEN: [someText, undefined],
  SERVICE_MAIL__URL: [mailUrl, undefined],
  SERVICE_MAIL__FROM: [sender, undefined],
  SERVICE_INVITATION_URL: [tokenPage, undefined],
  SERVICE_RESET_URL: [tokenPage, undefined],
  SERVICE_AUDIT__RETENTION: [durationSchema, 365 * 86_400_000],
  SERVICE_HISTORY__RETENTION: [durationSchema, 90 * 86_400_000],
  SERVICE_ASSISTANT__RETENTION: [durationSchema, 90 * 86_400_000],
  SERVICE_CLUSTER__SHUTDOWN_DRAIN_DELAY: [durationSchema, 0],
  SERVICE_TELEMETRY__ENABLED: [flag, true],
  SERVICE_TELEMETRY__URL: [httpUrl, undefined],
  SERVICE_INSTANCE_OWNER_SYNC_ENABLED: [flag, true],
  SERVICE_CORS__ENABLED: [flag, false],
  SERVICE_CORS__ORIGIN: [readers, undefined],
  SERVICE_METRICS__ENABLED: [flag, false],
  SERVICE_DEMO: [flag, true],
  SERVICE_SOURCES__CACHE_TTL: [durationSchema, 30_000],
  SERVICE_QUERY_LIMIT_DEFAULT: [count, 100],
  SERVICE_QUERY_LIMIT_MAX: [count, 10_000],
  SERVICE_QUERY__MAX_ROWS: [count, 1_000_000],
  SERVICE_QUERY__TIMEOUT: [durationSchema, 30_000],
  SERVICE_LOG__SLOW: [durationSchema, 1_000],
  SERVICE_IDEMPOTENCY__TTL: [durationSchema, 86_400_000],
  SERVICE_ITEMS__CREATE_LIMIT: [count, 1_000],
  SERVICE_SCHEMA__BODY_LIMIT: [size, 1024 ** 2],
  SERVICE_SCHEMA__DRIFT_INTERVAL: [lookInterval, 15 * 60_000],
  SERVICE_ITEMS__BODY_LIMIT: [size, 4 * 1024 ** 2],
  SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: [flag, false],
  SERVICE_SOURCES__AWS_ROLES: [awsRoles, []],
  SERVICE_SOURCES__HYPERDRIVES: [hyperdrives, []],
  SERVICE_FILES__STORE: [fileStore, undefined],
  SERVICE_FILES__PATH: [someText, undefined],
  SERVICE_FILES__S3__ENDPOINT: [s3Endpoint, undefined],
  SERVICE_FILES__S3__BUCKET: [bucketName, undefined],
  SERVICE_FILES__S3__REGION: [someText, 'us-east-1'],
  SERVICE_FILES__S3__ACCESS_KEY_ID: [someText, undefined],
  SERVICE_FILES__S3__SECRET_ACCESS_KEY: [someText, undefined],
  SERVICE_FILES__MAX_SIZE: [size, 5 * 1024 ** 3],
  SERVICE_FILES__QUOTA: [size, undefined],
  SERVICE_FILES__TYPES: [mediaTypes, undefined],
  SERVICE_FILES__DELETE_AFTER: [durationSchema, 86_400_000],
  SERVICE_FILES__UPLOAD_TTL: [durationSchema, 86_400_000],
  SERVICE_FILES__CLEAN_INTERVAL: [lookInterval, 3_600_000],
  SERVICE_EXTENSIONS__PATH: [someText, 'extensions'],
  SERVICE_EXTENSIONS__AUTO_RELOAD: [flag, false],
  SERVICE_EXTENSIONS__TIME_LIMIT: [durationSchema, 30_000],
  SERVICE_EXTENSIONS__CPU_LIMIT: [durationSchema, 5_000],
  SERVICE_EXTENSIONS__MEMORY_LIMIT: [count, 64],
  SERVICE_EXTENSIONS__IDLE_TIME: [durationSchema, 5 * 60_000],
  SERVICE_EXTENSIONS__MAX_PROCESSES: [count, 32],
  SERVICE_EXTENSIONS__MAX_PROCESSES_PER_WORKSPACE: [count, 8],
  SERVICE_LICENSE__KEY: [licenseKey, undefined],
  SERVICE_LICENSE__TOKEN: [anyText, undefined],
  SERVICE_LICENSE__URL: [httpUrl, undefined],
  SERVICE_LICENSE__PUBLIC_KEY: [publicJwk, undefined],
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

const durations = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }
const sizes = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 }

/** Writes milliseconds as `15m`. */
export const durationText = (value: number) => (value === 0 ? '0s' : withUnit(value, durations))

/** Writes bytes as `4MiB`. */
export const sizeText = (value: number) => withUnit(value, sizes)

function withUnit(value: number, units: Readonly<Record<string, number>>): string {
  const [unit = '', amount = 1] = Object.entries(units).find(([, amount]) => value % amount === 0) ?? []
  return `${value / amount}${unit}`
}

const listText = (values: readonly string[]) => values.join(',')

/** Paths, queries and users of addresses may be secrets. */
const originText = (address: string) => new URL(address).origin

function publicText(address: string): string {
  const { origin, pathname } = new URL(address)
  return withoutTrailing(origin + pathname, '/')
}

/** How values are written that are no secret, by their schema. Those of other schemas are told to nobody. */
const writers: ReadonlyMap<unknown, (value: never) => string> = new Map<unknown, (value: never) => string>([
  ...[flag, count, port, fileStore, bucketName, email, sender].map((schema) => [schema, String] as const),
  ...[durationSchema, lookInterval].map((schema) => [schema, durationText] as const),
  ...[origins, readers, mediaTypes].map((schema) => [schema, listText] as const),
  ...[httpUrl, tokenPage, s3Endpoint].map((schema) => [schema, originText] as const),
  [publicUrl, publicText],
  [size, sizeText],
  [networks, (values: readonly Network[]) => listText(values.map(networkText))],
])

/**
 * Every variable, for whoever administers the instance: no value that may be a secret. `port` is the one that the process listens on;
 * undefined where its platform listens for it, whatever PORT says.
 */
export function settingsOf(config: Config, port: number | undefined): readonly Setting[] {
  return (Object.entries(variables) as [VariableName, Variables[VariableName]][]).map(([name, [schema, preset]]) => {
    const value = name === 'PORT' ? port : config[name]
    const write = value === undefined ? undefined : writers.get(schema)
    return { name, isSet: config[name] !== preset, value: write?.(value as never) ?? null }
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
