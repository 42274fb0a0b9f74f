/**
 * Parses the configuration of a built-in data source (docs/contract.md#data-sources) into an address and credentials.
 * Four forms: a connection string, its parts, its parts with tokens of a cloud provider, or a Hyperdrive binding of a
 * Worker. Errors name the path and never repeat a value, since values include passwords.
 */

import * as z from 'zod'
import { nested, type ServiceError } from '../error.ts'
import { unknownMember } from '../known-members.ts'
import { type InferOutput, lazily } from '../lazily.ts'
import { isLoopback, machineOf } from '../loopback.ts'
import { lineFault, shortName } from '../message-text.ts'
import type { SqlFault } from './fault.ts'

export const sqlProviders = ['postgres', 'mysql', 'mariadb', 'neon', 'planetscale'] as const
export type SqlProvider = (typeof sqlProviders)[number]

/** The protocol family and transport of each provider. */
const protocols = {
  postgres: { family: 'postgres', transport: 'tcp' },
  mysql: { family: 'mysql', transport: 'tcp' },
  mariadb: { family: 'mysql', transport: 'tcp' },
  neon: { family: 'postgres', transport: 'http' },
  planetscale: { family: 'mysql', transport: 'http' },
} as const satisfies Readonly<Record<SqlProvider, { family: 'postgres' | 'mysql'; transport: 'tcp' | 'http' }>>

type ReachedBy<Transport> = {
  [Provider in SqlProvider]: (typeof protocols)[Provider]['transport'] extends Transport ? Provider : never
}[SqlProvider]

/** Providers that are reached over TCP. */
export type TcpProvider = ReachedBy<'tcp'>

export type AwsIam = {
  readonly region: string
  /** Undefined if the keys of the process environment are used. */
  readonly keys: { readonly id: string; readonly secret: string } | undefined
  readonly roleArn: string | undefined
}

export type SqlAddress = {
  readonly provider: SqlProvider
  readonly host: string
  readonly port: number
  /** Undefined only for servers whose databases are schemas: then all databases that the user can see. */
  readonly database: string | undefined
  readonly user: string
  readonly auth: { readonly kind: 'password'; readonly password: string } | ({ readonly kind: 'awsIam' } & AwsIam)
  /** `verify` checks the server's certificate and name, against `ca` if given. */
  readonly tls: { readonly kind: 'off' } | { readonly kind: 'verify'; readonly ca: string | undefined }
}

/** The name of a Hyperdrive binding, which holds address and credentials. */
export type HyperdriveTarget = { readonly provider: TcpProvider; readonly hyperdrive: string }

export type SqlTarget = SqlAddress | HyperdriveTarget

/** Throws ServiceError `invalid` with the path in the body. */
export function parseSqlTarget(provider: SqlProvider, config: unknown): SqlTarget {
  if (!hasMember(config, 'hyperdrive')) return parseSqlAddress(provider, config)
  if (isOverHttp(provider)) throw configFault('hyperdrive', `is not supported by ${provider}`)
  return { provider, ...read(hyperdriveForm(), config) }
}

/** Like `parseSqlTarget`, for the forms that name a host. */
export function parseSqlAddress(provider: SqlProvider, config: unknown): SqlAddress {
  const parts = hasMember(config, 'connectionString')
    ? readString(provider, read(stringForm(), config).connectionString)
    : read(partsForm(), config)
  return addressOf(provider, parts)
}

/** Identifies the database of a target. */
export type SqlPlace = {
  /** The same text for the same database, or for the same server if databases are schemas. */
  readonly address: string
  /** The default schema of tables; undefined if the connection decides. */
  readonly schema: string | undefined
}

/** Identifies a target's database; different names of the same machine give the same address. */
export function targetPlace(target: SqlTarget): SqlPlace {
  if ('hyperdrive' in target) return { address: JSON.stringify(target.hyperdrive), schema: undefined }
  const { provider, host, port, database } = target
  const machine = machineOf(host)
  if (isMysql(provider)) return { address: JSON.stringify([machine, port]), schema: database }
  return { address: JSON.stringify([machine, port, database]), schema: undefined }
}

function hasMember(config: unknown, name: string): boolean {
  return typeof config === 'object' && config !== null && name in config
}

function read<Form extends z.ZodType>(form: Form, config: unknown): z.output<Form> {
  const result = form.safeParse(config)
  if (!result.success) {
    const { issues } = result.error
    // Unknown members first: a misspelled member explains a missing one.
    throw configFault(...faultOf(issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0], form))
  }
  return result.data
}

/** A fault of the configuration's member `path`; of the whole configuration if empty. */
export function configFault(path: string, reason: string): ServiceError {
  return nested('invalid', ['Failed to read the JSON body', path === '' ? 'config' : `config.${path}`, reason])
}

const text = (max: number) =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    .refine((value) => lineFault(value) === undefined, 'must be text without control characters')

const certificate = lazily(() =>
  z
    .string('must be a string')
    .max(256 * 1024, 'is too long')
    .refine((value) => value.includes('-----BEGIN CERTIFICATE-----'), 'must be certificates in PEM form'),
)

const hyperdriveForm = lazily(() => z.strictObject({ hyperdrive: text(128) }))

const stringForm = lazily(() => z.strictObject({ connectionString: text(4_000) }))

const partsForm = lazily(() =>
  z
    .strictObject({
      host: text(253).refine(isHost, 'must be the name or the address of a host'),
      port: z.int('must be an integer').min(1, 'must be at least 1').max(65_535, 'must be at most 65535').optional(),
      database: text(128).optional(),
      user: text(256),
      password: text(4_000).optional(),
      tls: z
        .union(
          [z.boolean(), z.strictObject({ ca: certificate() })],
          'must be true, false or an object with the member ca',
        )
        .optional(),
      auth: z
        .strictObject({
          kind: z.literal('aws-iam', 'must be aws-iam'),
          region: z
            .string('must be a string')
            .regex(/^[a-z]{2}(-[a-z]+)+-\d{1,2}$/, 'must be a region such as eu-west-1'),
          accessKeyId: text(128).optional(),
          secretAccessKey: text(256).optional(),
          roleArn: z
            .string('must be a string')
            .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/, 'must be the ARN of a role')
            .optional(),
        })
        .optional(),
    })
    .superRefine(({ password, auth, tls }, context) => {
      const fault = (path: readonly string[], message: string) =>
        context.addIssue({ code: 'custom', path: [...path], message })
      if (auth === undefined && password === undefined) fault(['password'], 'must be given')
      if (auth === undefined) return
      if (password !== undefined) fault(['password'], 'must not be given together with auth')
      if (tls === false) fault(['tls'], 'must not be false together with auth')
      if ((auth.accessKeyId === undefined) !== (auth.secretAccessKey === undefined)) {
        fault(['auth'], 'accessKeyId and secretAccessKey must be given together')
      }
    }),
)

type Parts = InferOutput<typeof partsForm>

/** Refuses texts that are not a host, and characters that would end the host within a URL. */
function isHost(value: string): boolean {
  if (!/^([\p{L}\p{N}._-]+|\[?[\da-f:.]+\]?)$/iu.test(value)) return false
  return URL.canParse(value.includes(':') && !value.startsWith('[') ? `http://[${value}]` : `http://${value}`)
}

function faultOf(issue: z.core.$ZodIssue | undefined, form: z.ZodType): [place: string, reason: string] {
  const path = (issue?.path ?? []).map(String).join('.')
  if (issue?.code === 'unrecognized_keys') {
    const reason = unknownMember(form, issue)
    return [path, reason.includes('allowed: host') ? `${reason}, or connectionString alone` : reason]
  }
  if (issue?.code === 'invalid_type' && issue.input === undefined && path !== '') return [path, 'must be given']
  return [path, path === '' ? 'must be an object' : (issue?.message ?? 'is wrong')]
}

function isMysql(provider: SqlProvider): boolean {
  return protocols[provider].family === 'mysql'
}

/**
 * True if a failed statement was certainly not sent: the address was refused, or the database was unreachable. Over HTTP an
 * unreachable database proves nothing, because the answer may have been lost.
 */
export function isUnsent({ state }: Pick<SqlFault, 'state'>, provider: string): boolean {
  if (state === '08004') return true
  return state === '08000' && sqlProviders.some((known) => known === provider && !isOverHttp(known))
}

function isOverHttp(provider: SqlProvider): provider is ReachedBy<'http'> {
  return protocols[provider].transport === 'http'
}

function addressOf(provider: SqlProvider, { host, port, database, user, password, tls, auth }: Parts): SqlAddress {
  if (auth !== undefined && isOverHttp(provider)) throw configFault('auth', `is not supported by ${provider}`)
  if (database === undefined && !isMysql(provider)) throw configFault('database', 'must be given')
  // Without TLS by default only on the same machine.
  const wanted = tls ?? (auth !== undefined || !isLoopback(host))
  const ca = typeof wanted === 'object' ? wanted.ca : undefined
  return {
    provider,
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: port ?? (isMysql(provider) ? 3306 : 5432),
    database,
    user,
    auth:
      auth === undefined
        ? { kind: 'password', password: password ?? '' }
        : { kind: 'awsIam', region: auth.region, keys: keysOf(auth), roleArn: auth.roleArn },
    tls: wanted === false ? { kind: 'off' } : { kind: 'verify', ca },
  }
}

function keysOf({ accessKeyId, secretAccessKey }: NonNullable<Parts['auth']>): AwsIam['keys'] {
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  return { id: accessKeyId, secret: secretAccessKey }
}

const PLACE = 'connectionString'

function readString(provider: SqlProvider, connectionString: string): Parts {
  const url = URL.canParse(connectionString) ? new URL(connectionString) : undefined
  const schemes = isMysql(provider) ? ['mysql:', 'mariadb:'] : ['postgres:', 'postgresql:']
  if (url === undefined || !schemes.includes(url.protocol)) {
    throw configFault(PLACE, `must be an address that begins with ${schemes[0]}//`)
  }
  const required = (part: string, name: string) => {
    if (part === '') throw configFault(PLACE, `must name the ${name}`)
    return decoded(part)
  }
  const parts = {
    host: required(url.hostname, 'host'),
    ...(url.port !== '' && { port: Number(url.port) }),
    ...((url.pathname.length > 1 || !isMysql(provider)) && { database: required(url.pathname.slice(1), 'database') }),
    user: required(url.username, 'user'),
    password: required(url.password, 'password'),
  }
  const tls = tlsOf(url.searchParams)
  const result = partsForm().safeParse(tls === undefined ? parts : { ...parts, tls })
  if (!result.success) throw configFault(PLACE, 'is not a usable address')
  return result.data
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw configFault(PLACE, 'has a broken escape')
  }
}

/** Parses the parameters of connection strings from common hosting providers for their TLS setting. */
function tlsOf(parameters: URLSearchParams): boolean | undefined {
  let tls: boolean | undefined
  for (const [name, value] of parameters) {
    const reading = readings.get(name)?.(value)
    if (reading === undefined)
      throw configFault(PLACE, `has the parameter ${shortName(name)}, which is not supported so`)
    if (reading !== 'nothing') tls = reading === 'on'
  }
  return tls
}

type Reading = 'on' | 'off' | 'nothing' | undefined

const mode = (value: string): Reading => {
  if (/^(disabled?|false)$/i.test(value)) return 'off'
  return /^(require|required|verify[-_](ca|full|identity)|true|strict)$/i.test(value) ? 'on' : undefined
}

/** Excludes modes that accept any certificate. */
const readings = new Map<string, (value: string) => Reading>([
  ['sslmode', mode],
  ['ssl-mode', mode],
  ['sslaccept', mode],
  ['tls', mode],
  ['ssl', (value) => (/"rejectUnauthorized"\s*:\s*true/.test(value) ? 'on' : mode(value))],
  ['channel_binding', () => 'nothing'],
  ['application_name', () => 'nothing'],
])
