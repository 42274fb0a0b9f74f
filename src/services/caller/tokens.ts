/**
 * Signs and verifies tokens: EdDSA JWTs by keys of the instance (docs/contract.md#tokens). Only checks that a token is
 * genuine and of the expected type; callers.ts checks its session or key.
 */
import { type JWTHeaderParameters, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import QuickLRU from 'quick-lru'
import { ServiceError } from '../../core/error.ts'
import type { Instant } from '../../ports/clock.ts'
import { loadEnvironmentId } from '../../store/instance.ts'
import {
  ALGORITHM,
  openSigningKeys,
  type PublishedKey,
  type SigningKeys,
  type SigningKeysDeps,
} from './signing-keys.ts'

/** The `typ` header: a token of one type is never accepted as another. */
export type TokenType = 'at+jwt' | 'rt+jwt' | 'key+jwt'

export type Claims = {
  readonly sort: TokenType
  readonly userId: string
  /** Session id of an access or refresh token, key id of an API key. */
  readonly id: string
  readonly tokenId: string
  readonly expiresAt: Instant | undefined
}

export type Tokens = {
  /** Signs a token that expires at `expiresAt`, or never if undefined. */
  sign(claims: Omit<Claims, 'tokenId'> & { readonly tokenId: string }, now: Instant): Promise<string>
  /**
   * Returns the claims of a genuine, unexpired token of one of `sorts`; throws 401 `Invalid token` for anything else.
   */
  verify(token: string, sorts: readonly TokenType[], now: Instant): Promise<Claims>
  /** The public keys of all tokens that are still accepted. */
  readonly published: readonly PublishedKey[]
}

/** Verified tokens kept in memory: checking a signature costs more than a read by key. */
const MAX_REMEMBERED = 10_000
const MAX_TOKEN_LENGTH = 4_096

export type TokensDeps = SigningKeysDeps

/** Loads the instance's keys, and generates the first one. */
export async function openTokens(deps: TokensDeps): Promise<Tokens> {
  const { ports } = deps
  const environmentId = await loadEnvironmentId(ports.database)
  const issuer = `urn:service:${environmentId}`
  const keys = await openSigningKeys(deps)
  const { kid, privateKey } = keys.signing
  const remembered = new QuickLRU<string, Claims>({ maxSize: MAX_REMEMBERED })

  return {
    async sign({ sort, userId, id, tokenId, expiresAt }, now) {
      const token = new SignJWT(sort === 'key+jwt' ? {} : { sid: id })
        .setProtectedHeader({ alg: ALGORITHM, kid, typ: sort })
        .setSubject(userId)
        .setJti(sort === 'key+jwt' ? id : tokenId)
        .setIssuer(issuer)
        .setAudience(issuer)
        .setIssuedAt(seconds(now))
      return (expiresAt === undefined ? token : token.setExpirationTime(seconds(expiresAt))).sign(privateKey)
    },

    async verify(token, sorts, now) {
      const known = remembered.get(token)
      const claims = known ?? (await check(token, keys, issuer, now))
      const isInTime = claims.expiresAt === undefined || now < claims.expiresAt
      if (!isInTime || !sorts.includes(claims.sort)) throw invalidToken()
      // Refresh tokens are used once, so they are not cached.
      if (known === undefined && claims.sort !== 'rt+jwt') remembered.set(token, claims)
      return claims
    },

    published: keys.published,
  }
}

/** The 401 of every invalid token. */
export function invalidToken(): ServiceError {
  return new ServiceError('unauthenticated', 'Invalid token')
}

/**
 * Three parts; the last is a complete signature in canonical base64url. Decoders ignore the last four bits of the last
 * character, so only the issued spelling is accepted.
 */
const FORM = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/

async function check(token: string, keys: SigningKeys, issuer: string, now: Instant): Promise<Claims> {
  if (token.length > MAX_TOKEN_LENGTH || !FORM.test(token)) throw invalidToken()
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = typeof kid === 'string' ? keys.verifying.get(kid) : undefined
        if (key === undefined) throw invalidToken()
        return key
      },
      { algorithms: [ALGORITHM], issuer, audience: issuer, currentDate: new Date(now) },
    )
    return claimsOf(protectedHeader, payload)
  } catch {
    // The 401 does not reveal the reason.
    throw invalidToken()
  }
}

/** Accepts only what `sign` writes: no other header, valid ids, an integer expiry. */
function claimsOf(header: JWTHeaderParameters, { sub, jti, sid, exp }: JWTPayload): Claims {
  const sort = sortOf(header.typ)
  const id = sort === 'key+jwt' ? jti : sid
  if (sort === undefined || Object.keys(header).some((name) => !OUR_HEADERS.includes(name))) throw invalidToken()
  if (!isId(sub) || !isId(id) || !isId(jti)) throw invalidToken()
  // Only API keys may have no expiry.
  if (exp === undefined ? sort !== 'key+jwt' : !Number.isSafeInteger(exp)) throw invalidToken()
  return { sort, userId: sub, id, tokenId: jti, expiresAt: exp === undefined ? undefined : exp * 1_000 }
}

const OUR_HEADERS: readonly string[] = ['alg', 'kid', 'typ']

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
}

function sortOf(typ: string | undefined): TokenType | undefined {
  return typ === 'at+jwt' || typ === 'rt+jwt' || typ === 'key+jwt' ? typ : undefined
}

function seconds(instant: Instant): number {
  return Math.floor(instant / 1_000)
}
