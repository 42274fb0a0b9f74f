/**
 * Licenses for instances under test. An instance without one is on the starter plan, whose hard limits are lower than
 * what most tests need; `generousLicense` has none.
 */
import { randomUUID } from 'node:crypto'
import { newKeyPair, signDocument, type Terms } from '../../../scripts/licensing/documents.ts'

export type LicenseVariables = {
  readonly SERVICE_LICENSE__TOKEN: string
  readonly SERVICE_LICENSE__PUBLIC_KEY: string
}

/** Variables of an offline license without limits, issued under a key of its own. */
export function generousLicense(): Promise<LicenseVariables> {
  return offlineLicense({})
}

/** The same with other terms. */
export async function offlineLicense(terms: Partial<Terms>): Promise<LicenseVariables> {
  const keys = await newKeyPair()
  return {
    SERVICE_LICENSE__TOKEN: await signDocument({ ...unlimited(), ...terms }, keys),
    SERVICE_LICENSE__PUBLIC_KEY: JSON.stringify(keys.publicJwk),
  }
}

/** Terms without limits, for a year from now. */
export function unlimited(): Terms {
  const now = Math.floor(Date.now() / 1_000)
  return {
    jti: randomUUID(),
    sub: 'tests',
    plan: 'generous',
    iat: now,
    exp: now + 365 * 86_400,
    grace: 30 * 86_400,
    offline: true,
    revalidate: 86_400,
    instances: 1,
    entitlements: {
      workspaces: { limit: null, kind: 'hard' },
      service_accounts: { limit: null, kind: 'hard' },
      sso_enabled: { limit: true, kind: 'hard' },
      seats: { limit: null, kind: 'hard' },
      custom_roles: { limit: null, kind: 'hard' },
      custom_permission_rules_enabled: { limit: true, kind: 'hard' },
      custom_policies: { limit: null, kind: 'hard' },
    },
  }
}
