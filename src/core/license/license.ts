/**
 * The license (docs/contract.md#licensing): its term and its entitlements. Parses the payload of a verified document
 * into a `License` or a fault. Also holds the plan of an instance without a license.
 */
import * as z from 'zod'
import type { WordedCode } from '../error-codes.ts'
import { lazily } from '../lazily.ts'

/** Milliseconds since the epoch. */
type Instant = number

/** Every entitlement: the unit it is counted by, and the error code of a write that would exceed it. */
export const entitlements = {
  workspaces: { scope: 'organization', measure: 'count', code: '6001' },
  service_accounts: { scope: 'organization', measure: 'count', code: '6002' },
  sso_enabled: { scope: 'organization', measure: 'flag', code: '6003' },
  seats: { scope: 'workspace', measure: 'count', code: '6004' },
  custom_roles: { scope: 'workspace', measure: 'count', code: '6005' },
  custom_permission_rules_enabled: { scope: 'workspace', measure: 'flag', code: '6006' },
  custom_policies: { scope: 'workspace', measure: 'count', code: '6007' },
} as const satisfies Readonly<
  Record<string, { scope: 'organization' | 'workspace'; measure: 'count' | 'flag'; code: WordedCode }>
>

export type LicenseEntitlement = keyof typeof entitlements
export const entitlementNames = Object.keys(entitlements) as readonly LicenseEntitlement[]

/** `limit` is the maximum, or whether the feature may be used; null is unlimited. */
export type LicenseLimit = { readonly limit: number | boolean | null; readonly kind: 'hard' | 'soft' }
export type LicenseLimits = { readonly [Name in LicenseEntitlement]: LicenseLimit }

export type License = {
  readonly id: string
  readonly customer: string
  readonly plan: string
  readonly issuedAt: Instant
  readonly expiresAt: Instant
  /** Milliseconds after `expiresAt` in which everything still works. */
  readonly grace: number
  /** Milliseconds between two validations. */
  readonly revalidate: number
  readonly isOffline: boolean
  readonly instances: number
  readonly limits: LicenseLimits
}

/** The plan of an instance without a license: enough for a team, single sign-on included. */
export const starterLimits: LicenseLimits = {
  workspaces: { limit: 10, kind: 'hard' },
  service_accounts: { limit: 25, kind: 'hard' },
  sso_enabled: { limit: true, kind: 'hard' },
  seats: { limit: 25, kind: 'hard' },
  custom_roles: { limit: 25, kind: 'hard' },
  custom_permission_rules_enabled: { limit: true, kind: 'hard' },
  custom_policies: { limit: 100, kind: 'hard' },
}

export const PRODUCT = 'service'

const documentSchema = lazily(() => {
  const kind = z.enum(['hard', 'soft'])
  const limitOf = {
    count: z.object({ limit: z.number().int().min(0).nullable(), kind }),
    flag: z.object({ limit: z.boolean(), kind }),
  } as const
  // The end of the grace period, their sum, is the last that a date can be; a Worker is woken within 160 years.
  const seconds = z.number().int().min(0).max(4e12)
  const text = z.string().min(1).max(500)
  return z.object({
    jti: text,
    sub: text,
    plan: text,
    iat: seconds,
    exp: seconds,
    grace: seconds,
    offline: z.boolean(),
    revalidate: seconds.max(1e9),
    instances: z.number().int().min(1),
    entitlements: z.object(
      Object.fromEntries(entitlementNames.map((name) => [name, limitOf[entitlements[name].measure].optional()])),
    ),
  })
})

export type LicenseResult =
  | { readonly kind: 'license'; readonly license: License }
  | { readonly kind: 'fault'; readonly message: string }

/**
 * An entitlement missing from the document has the starter plan's limit, so that a license gives no less than none
 * unless it says so. Unknown members and entitlements belong to later releases and are ignored.
 */
export function parseLicense(payload: unknown): LicenseResult {
  if (productOf(payload) !== PRODUCT) return { kind: 'fault', message: 'is issued for another product' }
  const result = documentSchema().safeParse(payload)
  if (!result.success) {
    const place = result.error.issues[0]?.path.join('.') ?? ''
    return { kind: 'fault', message: `is malformed${place === '' ? '' : ` at ${place}`}` }
  }
  const { jti, sub, plan, iat, exp, grace, offline, revalidate, instances, entitlements: stated } = result.data
  return {
    kind: 'license',
    license: {
      id: jti,
      customer: sub,
      plan,
      issuedAt: iat * 1_000,
      expiresAt: exp * 1_000,
      grace: grace * 1_000,
      revalidate: revalidate * 1_000,
      isOffline: offline,
      instances,
      limits: { ...starterLimits, ...onlyGiven(stated as Partial<LicenseLimits>) },
    },
  }
}

function productOf(payload: unknown): unknown {
  return typeof payload === 'object' && payload !== null && 'product' in payload ? payload.product : PRODUCT
}

function onlyGiven(stated: Partial<LicenseLimits>): Partial<LicenseLimits> {
  return Object.fromEntries(Object.entries(stated).filter(([, limit]) => limit !== undefined))
}
