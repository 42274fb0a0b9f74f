/**
 * `/api/system/providers` (docs/contract.md#sign-in-providers): sign-in providers, for administrators of the instance.
 */
import * as z from 'zod'
import { lazily } from '../../src/core/lazily.ts'
import { workspaceNameSchema } from '../../src/core/model/api-name.ts'
import type { ProviderChange, ProviderInput } from '../../src/services/accounts/providers.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { identify } from '../http/context.ts'
import type { App } from '../http/mount.ts'
import { byName, mountResource } from '../http/resource.ts'

/** Part of redirect URLs registered with the provider. `local` is reserved for signing in by password. */
const providerNameSchema = lazily(() =>
  z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be 1 to 40 lower-case letters, digits and dashes, and start with a letter')
    .refine((name) => name !== 'local', 'is a reserved name'),
)

/** The characters that the standard allows in client ids, secrets and names. */
const printable = (max: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')

const addressSchema = lazily(() =>
  z
    .string()
    .max(1_000, 'must have at most 1000 characters')
    .refine((text) => URL.canParse(text) && !text.includes('#') && text.trim() === text, 'must be an address'),
)

const issuerSchema = lazily(() =>
  addressSchema().refine((text) => !text.includes('?'), 'must be an address without a query'),
)
const scopeSchema = lazily(() => printable(200).regex(/^[^ "\\]*$/, 'must be one scope'))
const scopesSchema = lazily(() => z.array(scopeSchema()).max(50, 'must have at most 50 entries'))
const claimSchema = lazily(() => printable(100))
const claims = { subject: 'sub', email: 'email', emailVerified: 'email_verified' }
const claimsSchema = lazily(() =>
  z.strictObject({
    subject: claimSchema().default(claims.subject),
    email: claimSchema().default(claims.email),
    emailVerified: claimSchema().default(claims.emailVerified),
  }),
)

const endpoints = lazily(() => ({
  authorizationEndpoint: addressSchema().optional(),
  tokenEndpoint: addressSchema().optional(),
  userinfoEndpoint: addressSchema().optional(),
  emailsEndpoint: addressSchema().nullable().optional(),
  claims: claimsSchema().optional(),
  clientAuthentication: z.enum(['basic', 'post'], "must be 'basic' or 'post'").optional(),
}))

const common = lazily(() => ({
  clientId: printable(500),
  clientSecret: printable(2_000),
  scopes: scopesSchema(),
  enabled: z.boolean(),
  autoJoin: z
    .strictObject({ workspace: workspaceNameSchema(), roleId: z.uuid('must be a UUID').toLowerCase() })
    .nullable(),
}))

export const createBody = lazily(() =>
  z
    .strictObject({
      name: providerNameSchema(),
      issuer: issuerSchema().optional(),
      ...endpoints(),
      ...common(),
      scopes: scopesSchema().optional(),
      enabled: common().enabled.default(true),
      autoJoin: common().autoJoin.default(null),
    })
    .transform((body, context): ProviderInput => {
      const { name, clientId, clientSecret, enabled, autoJoin, issuer, scopes, ...sent } = body
      const rest = { name, clientId, clientSecret, enabled, autoJoin }
      const fault = (place: string, message: string) => {
        context.addIssue({ code: 'custom', path: [place], message })
        return z.NEVER
      }
      if (issuer !== undefined) {
        const { claims: named = claims, ...others } = sent
        const [unexpected] = Object.keys(others)
        if (unexpected !== undefined) return fault(unexpected, 'cannot be given together with issuer')
        return {
          ...rest,
          scopes: scopes ?? ['openid', 'email', 'profile'],
          server: { kind: 'openid', issuer, claims: named },
        }
      }
      const { authorizationEndpoint, tokenEndpoint, userinfoEndpoint, emailsEndpoint, clientAuthentication } = sent
      if (authorizationEndpoint === undefined)
        return fault('authorizationEndpoint', 'must be given where issuer is not')
      if (tokenEndpoint === undefined) return fault('tokenEndpoint', 'must be given where issuer is not')
      if (userinfoEndpoint === undefined) return fault('userinfoEndpoint', 'must be given where issuer is not')
      const server = {
        kind: 'oauth2',
        authorizationEndpoint,
        tokenEndpoint,
        userinfoEndpoint,
        emailsEndpoint: emailsEndpoint ?? null,
        claims: sent.claims ?? claims,
        clientAuthentication: clientAuthentication ?? 'basic',
      } as const
      return { ...rest, scopes: scopes ?? [], server }
    }),
)

export const updateBody = lazily(() =>
  z
    .strictObject({ issuer: issuerSchema().optional(), ...endpoints(), ...z.object(common()).partial().shape })
    .transform(({ clientId, clientSecret, scopes, enabled, autoJoin, ...server }): ProviderChange => {
      return { server, clientId, clientSecret, scopes, enabled, autoJoin }
    }),
)

export function mountProviders(app: App, services: Services): void {
  const { providers } = services

  mountResource(app, {
    path: '/api/system/providers',
    scopeOf: (c) => identify(services, c),
    list: providers.list,
    create: { body: createBody, run: providers.create },
    one: {
      key: byName,
      read: providers.read,
      update: { body: updateBody, run: providers.update },
      delete: providers.delete,
    },
  })
}
