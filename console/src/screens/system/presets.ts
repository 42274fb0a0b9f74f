/** What is known of sign-in providers, so that nobody has to look it up. */
import type { Provider } from 'governed-data-client/system'

export const kinds = ['google', 'microsoft', 'github', 'openid', 'oauth2'] as const
export type ProviderKind = (typeof kinds)[number]

export const endpoints = ['authorizationEndpoint', 'tokenEndpoint', 'userinfoEndpoint', 'emailsEndpoint'] as const

/** What is typed of a provider; of the two sorts of servers all. */
export type ProviderForm = Readonly<
  Record<
    | (typeof endpoints)[number]
    | 'name'
    | 'issuer'
    | 'clientId'
    | 'clientSecret'
    | 'scopes'
    | 'subject'
    | 'email'
    | 'emailVerified'
    | 'workspace'
    | 'roleId',
    string
  >
> & { readonly clientAuthentication: 'basic' | 'post'; readonly enabled: boolean }

const empty: ProviderForm = {
  name: '',
  issuer: '',
  authorizationEndpoint: '',
  tokenEndpoint: '',
  userinfoEndpoint: '',
  emailsEndpoint: '',
  clientId: '',
  clientSecret: '',
  scopes: 'openid email profile',
  subject: 'sub',
  email: 'email',
  emailVerified: 'email_verified',
  clientAuthentication: 'basic',
  enabled: true,
  workspace: '',
  roleId: '',
}

export const presets: Readonly<Record<ProviderKind, ProviderForm>> = {
  google: { ...empty, name: 'google', issuer: 'https://accounts.google.com' },
  microsoft: { ...empty, name: 'microsoft', issuer: 'https://login.microsoftonline.com/TENANT/v2.0' },
  github: {
    ...empty,
    name: 'github',
    authorizationEndpoint: 'https://github.com/login/oauth/authorize',
    tokenEndpoint: 'https://github.com/login/oauth/access_token',
    userinfoEndpoint: 'https://api.github.com/user',
    emailsEndpoint: 'https://api.github.com/user/emails',
    scopes: 'read:user user:email',
    subject: 'id',
    clientAuthentication: 'post',
  },
  openid: empty,
  oauth2: { ...empty, scopes: '' },
}

/** What it is of by its addresses. */
export function kindOf({ issuer, authorizationEndpoint }: Provider): ProviderKind {
  if (issuer === null) return hostOf(authorizationEndpoint) === 'github.com' ? 'github' : 'oauth2'
  if (hostOf(issuer) === 'accounts.google.com') return 'google'
  return hostOf(issuer) === 'login.microsoftonline.com' ? 'microsoft' : 'openid'
}

function hostOf(address: string | null): string {
  return address !== null && URL.canParse(address) ? new URL(address).hostname : ''
}

export const hasIssuer = (kind: ProviderKind) => kind !== 'github' && kind !== 'oauth2'

/** As it is there, without its secret. */
export function formOf(provider: Provider): ProviderForm {
  const { name, issuer, clientId, scopes, enabled, claims, clientAuthentication, autoJoin } = provider
  return {
    ...empty,
    ...Object.fromEntries(endpoints.map((endpoint) => [endpoint, provider[endpoint] ?? ''])),
    name,
    issuer: issuer ?? '',
    clientId,
    scopes: scopes.join(' '),
    enabled,
    ...claims,
    clientAuthentication: clientAuthentication ?? 'basic',
    workspace: autoJoin?.workspace ?? '',
    roleId: autoJoin?.roleId ?? '',
  }
}

/** As the API takes it; without a name, and without a secret where none was typed. */
export function bodyOf(form: ProviderForm, kind: ProviderKind): Readonly<Record<string, unknown>> {
  const { issuer, clientId, clientSecret, scopes, enabled, subject, email, emailVerified, workspace, roleId } = form
  const typed = endpoints.map((endpoint) => [endpoint, form[endpoint].trim() || null] as const)
  const server = hasIssuer(kind)
    ? { issuer: issuer.trim() }
    : { ...Object.fromEntries(typed), clientAuthentication: form.clientAuthentication }
  return {
    ...server,
    clientId: clientId.trim(),
    ...(clientSecret !== '' && { clientSecret }),
    scopes: scopes.split(/\s+/).filter(Boolean),
    claims: { subject: subject.trim(), email: email.trim(), emailVerified: emailVerified.trim() },
    enabled,
    autoJoin: workspace === '' || roleId === '' ? null : { workspace, roleId },
  }
}

/** Whether its secret would go to another address than before. */
export function isMoved(form: ProviderForm, before: ProviderForm): boolean {
  return (['issuer', ...endpoints] as const).some((address) => form[address].trim() !== before[address])
}
