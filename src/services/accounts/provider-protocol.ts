/**
 * An OAuth 2.0 and OpenID Connect client: builds authorization URLs, and exchanges the code of a callback for the user's
 * profile. Loaded with the first such sign-in of a process. Caches the metadata of providers; stores no tokens.
 */

import * as oauth from 'oauth4webapi'
import QuickLRU from 'quick-lru'
import { type Claims, parseAddresses, parseProfile } from '../../core/access/profile.ts'
import type { Profile } from '../../core/access/sign-in.ts'
import { parseJson } from '../../core/exact-json.ts'
import { isObject } from '../../core/json-object.ts'
import { type Age, startAge } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ProviderRow, ProviderServer } from '../../store/providers.ts'
import { type FaultKind, ProviderFault } from './provider-fault.ts'
import { secretPurpose } from './providers.ts'

/** Values that tie a callback to its authorization request. */
export type AuthorizationKeys = {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Our callback URL. */
  readonly callback: string
}

/** All methods throw ProviderFault. */
export type ProviderProtocol = {
  newKeys(callback: string): AuthorizationKeys
  /** Returns the URL of the provider's authorization page. */
  authorizationUrl(provider: ProviderRow, keys: AuthorizationKeys): Promise<string>
  /** Verifies the parameters of a callback, with every check of the protocol, and returns the profile of the user. */
  identify(provider: ProviderRow, keys: AuthorizationKeys, parameters: URLSearchParams): Promise<Profile>
}

type Known = {
  readonly server: oauth.AuthorizationServer
  readonly age: Age
  readonly keys: oauth.JWKSCacheInput
}
type Session = {
  readonly provider: ProviderRow
  readonly server: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly options: { readonly [oauth.customFetch]: typeof fetch; readonly [oauth.allowInsecureRequests]: boolean }
  readonly keys: oauth.JWKSCacheInput
}

const REMEMBERED_FOR = 10 * 60_000
const MAX_REMEMBERED = 100

/** Algorithms of identity tokens; no symmetric ones, because whoever can verify such a signature can forge it. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

export type ProviderProtocolDeps = Pick<Ports, 'clock' | 'providerGate' | 'vault'>

export function createProviderProtocol(deps: ProviderProtocolDeps): ProviderProtocol {
  const { clock, providerGate, vault } = deps
  const remembered = new QuickLRU<string, Known>({ maxSize: MAX_REMEMBERED })

  const send = async (address: string, request: RequestInit): Promise<Response> => {
    const response = await providerGate.fetch(address, request).catch((cause: unknown) => {
      throw new ProviderFault('unavailable', `it does not answer: ${reasonOf(cause)}`)
    })
    if (response.status < 500) return response
    throw new ProviderFault('unavailable', `it answers ${response.status}`)
  }
  // The gate decides which hosts may be reached without TLS.
  const options: Session['options'] = {
    [oauth.customFetch]: send as typeof fetch,
    [oauth.allowInsecureRequests]: true,
  }

  async function discover(issuer: string): Promise<Known> {
    const known = remembered.get(issuer)
    if (known !== undefined && known.age() < REMEMBERED_FOR) return known
    const address = new URL(issuer)
    const server = await oauth.processDiscoveryResponse(address, await oauth.discoveryRequest(address, options))
    const found = { server, age: startAge(clock), keys: {} }
    remembered.set(issuer, found)
    return found
  }

  async function open(provider: ProviderRow): Promise<Session> {
    const { server: settings, clientId } = provider
    const common = { provider, client: { client_id: clientId, [oauth.clockTolerance]: 30 }, options }
    if (settings.kind === 'oauth2') return { ...common, server: describe(settings), keys: {} }
    const { server, keys } = await discover(settings.issuer)
    const offered = server.id_token_signing_alg_values_supported ?? ['RS256']
    const allowed = offered.filter((name) => algorithms.includes(name))
    // A copy, because the library merges concurrent key requests of the same server object, and a Worker must not await the I/O
    // of another request.
    return { ...common, server: { ...server, id_token_signing_alg_values_supported: allowed }, keys }
  }

  async function identifyByToken(session: Session, keys: AuthorizationKeys, response: Response): Promise<Profile> {
    const { server, client } = session
    const expected = { expectedNonce: keys.nonce, requireIdToken: true }
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, expected)
    await oauth.validateApplicationLevelSignature(server, response, { ...options, [oauth.jwksCache]: session.keys })
    const token = oauth.getValidatedIdTokenClaims(tokens)
    if (token === undefined) throw new ProviderFault('invalid', 'there is no identity token')
    const { email, emailVerified } = session.provider.server.claims
    const saysAll = token[email] !== undefined && token[emailVerified] !== undefined
    const person =
      saysAll || server.userinfo_endpoint === undefined
        ? token
        : await oauth.processUserInfoResponse(
            server,
            client,
            token.sub,
            await oauth.userInfoRequest(server, client, tokens.access_token, options),
          )
    const address = { email: person[email], email_verified: person[emailVerified] }
    return requireProfile(server.issuer, { sub: token.sub, name: person.name, ...address })
  }

  async function identifyByUserinfo(session: Session, response: Response): Promise<Profile> {
    const { server, client, provider } = session
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response)
    if (provider.server.kind === 'openid') throw new ProviderFault('invalid', 'there is no identity token')
    const { userinfoEndpoint, emailsEndpoint, claims } = provider.server
    const person = await askAs(tokens.access_token, userinfoEndpoint)
    if (!isObject(person)) throw new ProviderFault('invalid', 'userinfo is not an object')
    const address =
      emailsEndpoint === null
        ? { email: person[claims.email], email_verified: person[claims.emailVerified] }
        : parseAddresses(await askAs(tokens.access_token, emailsEndpoint))
    return requireProfile(server.issuer, { sub: person[claims.subject], name: person.name, ...address })
  }

  async function askAs(accessToken: string, address: string): Promise<unknown> {
    const response = await oauth.protectedResourceRequest(accessToken, 'GET', new URL(address), asJson, null, options)
    if (response.status !== 200) throw new ProviderFault('invalid', `userinfo answers ${response.status}`)
    return parseJson(await response.text())
  }

  return {
    newKeys: (callback) => ({
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      callback,
    }),

    authorizationUrl: (provider, { state, nonce, verifier, callback }) =>
      withProviderFault(async () => {
        const { server, client } = await open(provider)
        const endpoint = server.authorization_endpoint ?? ''
        const reason = providerGate.refusal(endpoint)
        if (reason !== undefined) throw new ProviderFault('invalid', `its authorization endpoint ${reason}`)
        const address = new URL(endpoint)
        const parameters = {
          response_type: 'code',
          client_id: client.client_id,
          redirect_uri: callback,
          scope: provider.scopes.join(' '),
          state,
          ...(provider.server.kind === 'openid' && { nonce }),
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        }
        for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
        return address.href
      }),

    async identify(provider, keys, parameters) {
      const secret = await vault.open(secretPurpose(provider.id), provider.sealedClientSecret)
      return withProviderFault(async () => {
        const session = await open(provider)
        const { server, client } = session
        const { state, callback, verifier } = keys
        const returned = oauth.validateAuthResponse(server, client, judged(provider, parameters), state)
        const proof = proofOf(provider.server, server, secret)
        const request = [server, client, proof, returned, callback, verifier, options] as const
        const response = await oauth.authorizationCodeGrantRequest(...request)
        return provider.server.kind === 'openid'
          ? identifyByToken(session, keys, response)
          : identifyByUserinfo(session, response)
      })
    },
  }
}

const asJson = new Headers({ Accept: 'application/json', 'User-Agent': 'service' })

/** Removes `iss` for a plain OAuth 2.0 server, whose issuer is unknown. */
function judged({ server }: ProviderRow, parameters: URLSearchParams): URLSearchParams {
  const copy = new URLSearchParams(parameters)
  if (server.kind === 'oauth2') copy.delete('iss')
  return copy
}

/**
 * The issuer is the userinfo URL with the name of the subject's claim as fragment. Real issuers have no fragment, so it never
 * equals one of them.
 */
function describe(server: Extract<ProviderServer, { kind: 'oauth2' }>): oauth.AuthorizationServer {
  return {
    issuer: `${server.userinfoEndpoint}#${server.claims.subject}`,
    authorization_endpoint: server.authorizationEndpoint,
    token_endpoint: server.tokenEndpoint,
    userinfo_endpoint: server.userinfoEndpoint,
  }
}

function proofOf(settings: ProviderServer, server: oauth.AuthorizationServer, secret: string): oauth.ClientAuth {
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const isBasic =
    settings.kind === 'oauth2' ? settings.clientAuthentication === 'basic' : methods.includes('client_secret_basic')
  return isBasic ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret)
}

function requireProfile(issuer: string, claims: Claims): Profile {
  const profile = parseProfile(issuer, claims)
  if (profile === undefined) throw new ProviderFault('invalid', 'it does not identify the user')
  return profile
}

async function withProviderFault<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw faultOf(cause)
  }
}

/** Shows only messages of the library, which are constants. Text from a server stays in causes, which are never shown. */
function faultOf(cause: unknown): ProviderFault {
  if (cause instanceof ProviderFault) return cause
  const kind: FaultKind = cause instanceof oauth.AuthorizationResponseError ? deniedOr(cause.error) : 'invalid'
  if (cause instanceof oauth.ResponseBodyError) return new ProviderFault(kind, `it refuses: ${word(cause.error)}`)
  if (cause instanceof oauth.AuthorizationResponseError) return new ProviderFault(kind, `it says ${word(cause.error)}`)
  if (cause instanceof oauth.OperationProcessingError) return new ProviderFault(kind, cause.message)
  if (cause instanceof oauth.UnsupportedOperationError) return new ProviderFault(kind, cause.message)
  return new ProviderFault(kind, `its answer cannot be read (${cause instanceof Error ? cause.name : 'unknown'})`)
}

/** The platform's error code, such as ECONNREFUSED. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown'
  if (cause.cause instanceof Error) return reasonOf(cause.cause)
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message.slice(0, 200)
}

function deniedOr(error: string): FaultKind {
  if (error === 'access_denied') return 'denied'
  return error === 'temporarily_unavailable' || error === 'server_error' ? 'unavailable' : 'invalid'
}

function word(text: string): string {
  return /^[a-z_]{1,60}$/.test(text) ? text : 'something unknown'
}
