/**
 * The data of the licensing service: issued licenses by key, and their activations. Stored as one JSON file; each
 * change is written beside it and then renamed, so that a crash leaves a complete file.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { completeKey, KEY_SYMBOLS, parseLicenseKey } from '../../src/core/license/key.ts'
import { entitlementNames } from '../../src/core/license/license.ts'
import { type KeyPair, newKeyPair, signDocument, type Terms } from './documents.ts'

const limitSchema = z.strictObject({
  limit: z.union([z.number().int().min(0), z.boolean(), z.null()]),
  kind: z.enum(['hard', 'soft']).default('hard'),
})

/** An order; durations in seconds. */
export const orderSchema = z.strictObject({
  customer: z.string().min(1).default('A customer'),
  plan: z.string().min(1).default('team'),
  term: z
    .number()
    .int()
    .min(0)
    .default(365 * 86_400),
  grace: z
    .number()
    .int()
    .min(0)
    .default(14 * 86_400),
  revalidate: z.number().int().min(0).default(86_400),
  instances: z.number().int().min(1).default(1),
  entitlements: z.partialRecord(z.enum(entitlementNames as [string, ...string[]]), limitSchema).default({}),
})

export type Order = z.input<typeof orderSchema>

const licenseSchema = z.object({
  key: z.string(),
  state: z.enum(['valid', 'suspended', 'canceled']),
  /** The claims of the document; licenses by key have no offline use. */
  terms: z.custom<Terms>(),
  activations: z.array(
    z.object({ id: z.string(), environmentId: z.string(), baseUrl: z.string().nullable(), at: z.number() }),
  ),
})

export type IssuedLicense = z.infer<typeof licenseSchema>

export type Registry = {
  readonly keys: KeyPair
  issue(order: Order): IssuedLicense
  /** Issues an offline license, which is not stored: the token is the only copy. */
  issueToken(order: Order): Promise<string>
  list(): readonly IssuedLicense[]
  find(key: string): IssuedLicense | undefined
  /** Finds the license of an activation. */
  findActivated(activationId: string): IssuedLicense | undefined
  /** Stores the result of `change`. Returns undefined for an unknown key. */
  change(key: string, change: (license: IssuedLicense) => IssuedLicense): IssuedLicense | undefined
  document(license: IssuedLicense): Promise<string>
}

/** `now` returns milliseconds. The signing keys are created on first use of the directory. */
export async function openRegistry(directory: string, now: () => number): Promise<Registry> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const keys = await signingKeys(join(directory, 'signing-key.json'))
  const file = join(directory, 'licenses.json')
  const licenses = new Map<string, IssuedLicense>()
  if (existsSync(file)) {
    const stored = z.array(licenseSchema).parse(JSON.parse(readFileSync(file, 'utf8')))
    for (const license of stored) licenses.set(license.key, license)
  }

  function save(license: IssuedLicense): IssuedLicense {
    licenses.set(license.key, license)
    writeFileSync(`${file}.new`, JSON.stringify([...licenses.values()], null, 2), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return license
  }

  function terms(order: Order, offline: boolean): Terms {
    const { customer, plan, term, grace, revalidate, instances, entitlements } = orderSchema.parse(order)
    const iat = Math.floor(now() / 1_000)
    return {
      jti: randomUUID(),
      sub: customer,
      plan,
      iat,
      exp: iat + term,
      grace,
      offline,
      revalidate,
      instances,
      entitlements,
    }
  }

  const find = (key: string) => {
    const reading = parseLicenseKey(key)
    return reading.kind === 'key' ? licenses.get(reading.key) : undefined
  }

  return {
    keys,
    issue: (order) => save({ key: newKey(), state: 'valid', terms: terms(order, false), activations: [] }),
    issueToken: (order) => signDocument(terms(order, true), keys),
    list: () => [...licenses.values()],
    find,
    findActivated: (activationId) =>
      [...licenses.values()].find(({ activations }) => activations.some(({ id }) => id === activationId)),
    change(key, change) {
      const license = find(key)
      return license && save(change(license))
    },
    document: ({ terms }) => signDocument(terms, keys),
  }
}

async function signingKeys(file: string): Promise<KeyPair> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as KeyPair
  const keys = await newKeyPair()
  writeFileSync(file, JSON.stringify(keys, null, 2), { mode: 0o600 })
  return keys
}

function newKey(): string {
  return completeKey(`M${Array.from({ length: 23 }, () => KEY_SYMBOLS[randomInt(32)]).join('')}`)
}
