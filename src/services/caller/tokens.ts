/**
 * Tokens: EdDSA JWTs under keys of the instance (docs/contract.md#tokens). Says only whether a token is genuine and of
 * which sort; whether its session or key still counts is for callers.ts.
 */
import { type JWTHeaderParameters, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { ServiceError } from '../../core/error.ts'
import type { Instant, Ports } from '../../ports.ts'
import { loadEnvironmentId } from '../../store/accounts.ts'
import { ALGORITHM, openSigningKeys, type PublishedKey, type SigningKeys } from './signing-keys.ts'

/** `typ` of the header: one sort can never stand in for another. */
export type TokenType = 'at+jwt' | 'rt+jwt' | 'key+jwt'

export type Claims = {
  readonly sort: TokenType
  readonly userId: string
  /** Session of an access or refresh token, id of an API key. */
  readonly id: string
  readonly tokenId: string
  readonly expiresAt: Instant | undefined
}

export type Tokens = {
  /** Signs a token that ends at `expiresAt`; never, where undefined. */
  sign(claims: Omit<Claims, 'tokenId'> & { readonly tokenId: string }, now: Instant): Promise<string>
  /** The claims of a genuine token in time, of one of `sorts`; throws 401 `Invalid token` for everything else. */
  verify(token: string, sorts: readonly TokenType[], now: Instant): Promise<Claims>
  /** The public halves of all keys whose tokens count. */
  readonly published: readonly PublishedKey[]
}

/** Verified tokens kept in memory; a signature check costs more than a whole point read. */
const MAX_REMEMBERED = 10_000
const MAX_TOKEN_LENGTH = 4_096

/** Loads the instance's keys, generating the first one. `configured` is SERVICE_AUTH__SIGNING_KEY. */
export async function openTokens(ports: Ports, configured: string | undefined): Promise<Tokens> {
  const environmentId = await loadEnvironmentId(ports.database)
  const issuer = `urn:service:${environmentId}`
  const keys = await openSigningKeys(ports, configured)
  const { kid, privateKey } = keys.signing
  const remembered = new Map<string, Claims>()

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
      // A refresh token is used once.
      if (known === undefined && claims.sort !== 'rt+jwt') remember(remembered, token, claims)
      return claims
    },

    published: keys.published,
  }
}

export function invalidToken(): ServiceError {
  return new ServiceError('unauthenticated', 'Invalid token')
}

/**
 * Three parts, the last of them a whole signature in its one spelling: decoders overlook the four bits of its last letter
 * that say nothing, and a token that is not the one we gave out does not count.
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
    // Which of the many things was wrong with it is nobody's business.
    throw invalidToken()
  }
}

/** Only what we write ourselves: no other header, ids that are ids, an end that is a time. */
function claimsOf(header: JWTHeaderParameters, { sub, jti, sid, exp }: JWTPayload): Claims {
  const sort = sortOf(header.typ)
  const id = sort === 'key+jwt' ? jti : sid
  if (sort === undefined || Object.keys(header).some((name) => !OUR_HEADERS.includes(name))) throw invalidToken()
  if (!isId(sub) || !isId(id) || !isId(jti)) throw invalidToken()
  // Only an API key may live for ever.
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

function remember(remembered: Map<string, Claims>, token: string, claims: Claims): void {
  if (remembered.size >= MAX_REMEMBERED) {
    const [oldest] = remembered.keys()
    if (oldest !== undefined) remembered.delete(oldest)
  }
  remembered.set(token, claims)
}

function seconds(instant: Instant): number {
  return Math.floor(instant / 1_000)
}
