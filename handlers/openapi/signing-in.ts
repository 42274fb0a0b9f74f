/** Descriptions of the routes of signing in: passwords, sessions, providers, keys. */
import * as z from 'zod'
import { scopeSchema } from '../../src/core/access/scope.ts'
import type { RouteDescriptions } from '../../src/core/openapi/system.ts'
import * as keys from '../routes/api-keys.ts'
import { linkBody, loginBody, passwordLoginBody, refreshBody } from '../routes/auth.ts'
import * as devices from '../routes/devices.ts'
import * as invitations from '../routes/invitations.ts'
import * as passwords from '../routes/passwords.ts'
import * as providers from '../routes/providers.ts'
import * as accounts from '../routes/service-accounts.ts'
import { data, deletion, item, listOf, noContent, oneOf, parameter, requestBody, response } from './describe.ts'

const signingIn = 'Signing in'
const keyTag = 'API keys'
const accountTag = 'Service accounts'
const providerTag = 'Sign-in providers'

const result = z.strictObject({
  expires: z.int().describe('Seconds until the access token is over.'),
  accessToken: z.string().optional(),
  refreshToken: z.string().optional(),
})

const tokens = result.required()

const signedIn = {
  '200': {
    ...response(result, 'Signed in. In session mode the tokens are in cookies that no script can read.'),
    headers: { 'Set-Cookie': 'In session mode `service_session` and `service_refresh`.' },
  },
}

const key = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  active: z.boolean(),
  userId: z.uuid(),
  expiresAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
  scope: scopeSchema().nullable(),
  madeBy: z.uuid().nullable(),
  key: z.string(),
})

const codes = z.strictObject({
  deviceCode: z.string().describe('Kept by the device, which takes its tokens with it.'),
  userCode: z.string().describe('Shown to the person.'),
  verificationUri: z.string().describe('Where the person types it.'),
  expires: z.int().describe('Seconds until both are over.'),
  interval: z.int().describe('Seconds between two questions for the tokens.'),
})

const device = z.strictObject({
  name: z.string().nullable().describe('What the device calls itself.'),
  userAgent: z.string().nullable(),
  ip: z.string().nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
})

const pageFile = (what: string, mediaType: string) => ({
  summary: `Read the ${what} of the page that approves devices`,
  tag: signingIn,
  answers: { '200': { description: 'The file.', schema: { type: 'string' }, mediaType } },
})

const sentOn = { description: 'Go there.', headers: { Location: 'Where to.' } }

const jwks = z.strictObject({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) })

export const signingInRoutes: RouteDescriptions = {
  'POST /api/auth/login': {
    summary: 'Sign in with a password',
    tag: signingIn,
    body: requestBody(loginBody(), {
      credentials: { email: 'ada@example.com', password: 'a password of some length' },
      mode: 'json',
    }),
    answers: signedIn,
    errors: ['throttled'],
  },
  'POST /api/auth/providers/local/password/login': {
    summary: 'Sign in with a password, at the address of the built-in provider',
    tag: signingIn,
    body: requestBody(passwordLoginBody(), {
      email: 'ada@example.com',
      password: 'a password of some length',
      mode: 'json',
    }),
    answers: signedIn,
    errors: ['throttled'],
  },
  'POST /api/auth/link': {
    summary: 'Sign in with the one-time link of a local run; the session is in cookies',
    tag: signingIn,
    body: requestBody(linkBody(), { token: 'from the address that the start has printed' }),
    answers: signedIn,
    errors: ['throttled'],
  },
  'POST /api/auth/refresh': {
    summary: 'Go on with a session; the refresh token is used up',
    tag: signingIn,
    body: requestBody(refreshBody(), {}),
    answers: signedIn,
    errors: ['throttled'],
  },
  'POST /api/auth/logout': {
    summary: 'End a session',
    tag: signingIn,
    body: requestBody(refreshBody(), {}),
    answers: { '204': noContent },
  },
  'POST /api/auth/device': {
    summary: 'Begin to sign in on a device that has no browser',
    tag: signingIn,
    body: requestBody(devices.startBody(), { name: 'governed on build-7' }),
    answers: { '200': response(codes, 'The codes.') },
    errors: ['throttled'],
  },
  'POST /api/auth/device/token': {
    summary: 'Take the tokens of a device, once somebody has approved it',
    tag: signingIn,
    body: requestBody(devices.tokenBody(), { deviceCode: 'from the beginning' }),
    answers: {
      '200': response(tokens, 'Signed in.'),
      '202': response(z.strictObject({ interval: z.int() }), 'Nobody has decided yet: ask again in so many seconds.'),
    },
    errors: ['throttled'],
  },
  'GET /api/auth/device': {
    summary: 'Show the page on which a person approves a device',
    tag: signingIn,
    answers: { '200': { description: 'The page.', schema: { type: 'string' }, mediaType: 'text/html' } },
  },
  'GET /api/auth/device/page.js': pageFile('script', 'text/javascript'),
  'GET /api/auth/device/page.css': pageFile('style sheet', 'text/css'),
  'POST /api/auth/device/lookup': {
    summary: 'Ask which device waits under a code, by a session',
    tag: signingIn,
    body: requestBody(devices.lookupBody(), { userCode: 'BCDF-GHJK' }),
    answers: { '200': data(device, 'What is known of it.') },
    errors: ['notFound', 'throttled'],
  },
  'POST /api/auth/device/decision': {
    summary: 'Sign in a device as oneself, or decline to, by a session',
    tag: signingIn,
    body: requestBody(devices.decisionBody(), { userCode: 'BCDF-GHJK', approve: true }),
    answers: { '204': noContent },
    errors: ['notFound', 'throttled'],
  },
  'POST /api/auth/invitations/lookup': {
    summary: 'Ask what an invitation is for, by either of its tokens, which stays as it is',
    tag: signingIn,
    body: requestBody(invitations.lookupBody(), { token: 'from the mail' }),
    answers: {
      '200': data(
        z.strictObject({
          email: z.string(),
          workspace: z.strictObject({ apiName: z.string() }),
          invitedBy: z.string().nullable(),
          account: z.enum(['none', 'unproven', 'proven']).optional(),
        }),
        'Who is invited to what, and by whom; by the mailed token also whether the address has an account.',
      ),
    },
  },
  'POST /api/auth/invitations/accept': {
    summary: 'Accept an invitation: by the mailed token, or signed in by that of the answer',
    tag: signingIn,
    body: requestBody(invitations.acceptBody(), { token: 'from the mail', password: 'a password of some length' }),
    answers: {
      '200': data(
        z.strictObject({
          id: z.uuid(),
          email: z.string(),
          workspace: z.strictObject({ id: z.uuid(), apiName: z.string() }),
        }),
        'Who joined, and what.',
      ),
    },
    errors: ['paymentRequired', 'conflict', 'throttled'],
  },
  'GET /api/auth/jwks': {
    summary: 'Read the public keys that tokens are signed with',
    tag: signingIn,
    answers: { '200': response(jwks, 'A set of keys (RFC 7517).') },
  },
  'POST /api/auth/password-change': {
    summary: 'Change one’s password; all other sessions end',
    tag: signingIn,
    body: requestBody(passwords.changeBody(), {
      currentPassword: 'the old password',
      newPassword: 'a password of some length',
    }),
    answers: { '204': noContent },
    errors: ['throttled'],
  },
  'POST /api/auth/password-reset/request': {
    summary: 'Ask for a mail with a token for a new password',
    tag: signingIn,
    body: requestBody(passwords.requestBody(), { email: 'ada@example.com' }),
    answers: { '204': { description: 'Whether there is such an account or not.' } },
    errors: ['throttled'],
  },
  'GET /api/auth/password-reset/verify': {
    summary: 'Ask whether a mailed token still counts',
    tag: signingIn,
    parameters: [parameter('token', 'From the mail.', { type: 'string' }, { required: true })],
    answers: { '204': { description: 'It does.' } },
    errors: ['throttled'],
  },
  'POST /api/auth/password-reset/confirm': {
    summary: 'Choose a new password with a mailed token; all sessions end',
    tag: signingIn,
    body: requestBody(passwords.confirmBody(), { token: 'from the mail', password: 'a password of some length' }),
    answers: { '204': noContent },
    errors: ['throttled'],
  },
  'GET /api/auth/providers/{name}/login': {
    summary: 'Be sent to a provider to sign in there',
    tag: signingIn,
    parameters: [
      parameter('redirect', 'Where to go in the end: of our own origin or an allowed one.', {
        type: 'string',
        format: 'uri-reference',
      }),
    ],
    answers: { '302': sentOn },
    errors: ['throttled'],
  },
  'GET /api/auth/providers/{name}/callback': {
    summary: 'Come back from a provider',
    tag: signingIn,
    parameters: [
      parameter('code', 'From the provider.', { type: 'string' }),
      parameter('state', 'From us, through the provider.', { type: 'string' }),
    ],
    answers: { ...signedIn, '302': sentOn },
    errors: ['throttled'],
  },
  'GET /api/auth/providers': {
    summary: 'List the providers that one can sign in through',
    tag: signingIn,
    answers: { '200': data(z.array(z.strictObject({ name: z.string() })), 'Their names.', [{ name: 'company' }]) },
  },

  'GET /api/system/api-keys': listOf('apiKeys', keyTag),
  'POST /api/system/api-keys': {
    summary: 'Create an API key',
    tag: keyTag,
    body: requestBody(keys.createBody(), {
      name: 'Nightly import',
      expiresIn: '90d',
      scope: { workspaces: ['shop'], entitlements: [], collections: { articles: ['read', 'create'] } },
    }),
    answers: { '201': data(key, 'The key; `key` is shown only here.') },
  },
  'PATCH /api/system/api-keys/{id}': {
    summary: 'Change an API key, or put it to sleep',
    tag: keyTag,
    body: requestBody(keys.updateBody(), { active: false }),
    answers: { '200': item('apiKeys', 'The key.') },
  },
  'DELETE /api/system/api-keys/{id}': deletion('Delete an API key', keyTag),

  'GET /api/system/service-accounts': listOf('serviceAccounts', accountTag),
  'POST /api/system/service-accounts': {
    summary: 'Create an account for a program',
    tag: accountTag,
    body: requestBody(accounts.createBody(), { name: 'Importer', roles: [] }),
    answers: { '201': item('serviceAccounts', 'The account.') },
    errors: ['conflict', 'paymentRequired'],
  },
  'GET /api/system/service-accounts/{id}': oneOf('serviceAccounts', accountTag),
  'PATCH /api/system/service-accounts/{id}': {
    summary: 'Change a service account',
    tag: accountTag,
    body: requestBody(accounts.updateBody(), { description: 'Runs at night' }),
    answers: { '200': item('serviceAccounts', 'The account.') },
    errors: ['conflict', 'paymentRequired'],
  },
  'DELETE /api/system/service-accounts/{id}': deletion('Delete a service account and its keys', accountTag, {
    errors: ['conflict'],
  }),

  'GET /api/system/providers': listOf('providers', providerTag),
  'POST /api/system/providers': {
    summary: 'Set up a sign-in provider',
    tag: providerTag,
    body: requestBody(providers.createBody(), {
      name: 'company',
      issuer: 'https://login.example.com',
      clientId: 'service',
      clientSecret: 'kept sealed',
    }),
    answers: { '201': item('providers', 'The provider, without its secret.') },
    errors: ['conflict', 'paymentRequired'],
  },
  'GET /api/system/providers/{name}': oneOf('providers', providerTag),
  'PATCH /api/system/providers/{name}': {
    summary: 'Change a sign-in provider',
    tag: providerTag,
    body: requestBody(providers.updateBody(), { enabled: false }),
    answers: { '200': item('providers', 'The provider.') },
    errors: ['conflict'],
  },
  'DELETE /api/system/providers/{name}': deletion('Delete a sign-in provider', providerTag),
}
