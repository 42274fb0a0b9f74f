/** The kinds of values that variables have: how each is read from the environment, and how it is written for an administrator. */
import * as z from 'zod'
import { jsonIn } from './core/json-object.ts'
import { lazily } from './core/lazily.ts'
import { parseLicenseKey } from './core/license/key.ts'
import { isLoopback } from './core/loopback.ts'
import { type Network, networkText, parseNetwork } from './core/network.ts'
import { type AwsRole, awsRolesSchema } from './core/sql/aws-role.ts'
import { type Hyperdrive, hyperdrivesSchema } from './core/sql/hyperdrive.ts'
import { withoutTrailing } from './core/trailing.ts'

export const flag = lazily(() =>
  z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true'),
)

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

const millisecondsPer: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }

/** Looked at once a minute. */
export const lookInterval = lazily(() =>
  durationSchema().refine((interval) => interval === 0 || interval >= 60_000, 'must be 0 or at least 1m'),
)

export const size = lazily(() =>
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

export const count = lazily(() =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value > 0, 'must be at least 1'),
)

export const port = lazily(() =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be at most 65535'),
)

export const httpUrl = lazily(() => z.url({ protocol: /^https?$/, error: 'must be an http or https address' }))

/** Our own, which everybody sees. */
export const publicUrl = lazily(() => httpUrl())

/** `https://app.example.com/join#{token}` */
export const tokenPage = lazily(() =>
  z
    .string()
    .refine(
      (text) => text.includes('{token}') && /^https?:\/\/./.test(text) && URL.canParse(text),
      'must be an http or https address with {token} in it',
    ),
)

/** `https://app.example.com,https://admin.example.com` */
export const origins = lazily(() => z.string().transform((text, context) => originsIn(text) ?? refuseOrigins(context)))

/** `*` means every origin. */
export const readers = lazily(() =>
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
export const networks = lazily(() =>
  z.string().transform((text, context) => {
    const parts = text.split(',').map((part) => parseNetwork(part.trim()))
    const known = parts.filter((part): part is Network => part !== undefined)
    if (known.length === parts.length) return known
    context.addIssue({ code: 'custom', message: 'must be networks such as 10.0.0.0/8 with commas between' })
    return z.NEVER
  }),
)

/** `image/*,application/pdf` */
export const mediaTypes = lazily(() =>
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

export const fileStore = lazily(() => z.enum(['folder', 's3', 'r2', 'database'], 'must be folder, s3, r2 or database'))

export const bucketName = lazily(() => z.string().regex(/^[\w.-]{1,255}$/, 'must be the name of a bucket'))

/** What comes before the name of a bucket. */
export const s3Endpoint = lazily(() =>
  httpUrl().refine((text) => {
    const { username, password, search, hash } = new URL(text)
    return [username, password, search, hash].every((part) => part === '')
  }, 'must be an http or https address without a user, a query or a fragment'),
)

export const secret = lazily(() =>
  z.string().refine((text) => {
    const [first = '', ...others] = text.split(',')
    return isLong(first) && (others.length === 0 || isLong(others.join(',')))
  }, 'must have at least 32 bytes; where several are given, with commas between, each must'),
)

function isLong(text: string): boolean {
  return new TextEncoder().encode(text).length >= 32
}

export const databaseUrl = lazily(() =>
  z.string().refine((text) => /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text), 'must be a postgres:// address'),
)

export const mailUrl = lazily(() =>
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

export const sender = lazily(() =>
  z.string().refine((text) => {
    const [, address] = /^[^<>\r\n]*<([^<>]+)>$/.exec(text) ?? [text, text]
    return z.email().safeParse(address).success
  }, 'must be an e-mail address, or Name <address>'),
)

export const licenseKey = lazily(() =>
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

export const publicJwk = lazily(() =>
  z.string().refine((text) => publicJwkSchema().safeParse(jsonIn(text)).success, 'must be an Ed25519 public JWK'),
)

/** Reads JSON text that `schema` accepts. */
function jsonList<T>(schema: () => z.ZodType<T>, form: string) {
  return lazily(() =>
    z.string().transform((text, context): T => {
      const result = schema().safeParse(jsonIn(text))
      if (result.success) return result.data
      context.addIssue({ code: 'custom', message: `must be a JSON list of ${form}` })
      return z.NEVER
    }),
  )
}

export const awsRoles = jsonList<readonly AwsRole[]>(awsRolesSchema, '{"roleArn", "externalId"?, "workspaces"?}')

export const hyperdrives = jsonList<readonly Hyperdrive[]>(hyperdrivesSchema, '{"binding", "workspaces"?}')

export const anyText = lazily(() => z.string())

export const someText = lazily(() => z.string().min(1))

export const email = lazily(() => z.email('must be an e-mail address'))

export const password = lazily(() => z.string().min(10, 'must have at least 10 characters'))

const sizes = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024, B: 1 }

/** Writes milliseconds as `15m`. */
export const durationText = (value: number) => (value === 0 ? '0s' : withUnit(value, millisecondsPer))

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

/** A value as it is written; null where there is none, and where it may be a secret. */
export function writtenBy(schema: unknown, value: unknown): string | null {
  return value === undefined ? null : (writers.get(schema)?.(value as never) ?? null)
}
