/**
 * Tokens: EdDSA JWTs under keys of the instance (contract 6). Says only whether a token is genuine and of which sort;
 * whether its session or key still counts is for callers.ts.
 */
import { exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose'
import { ServiceError } from '../core/error.ts'
import type { Instant, Ports } from '../ports.ts'
import { insertFirstSigningKey, loadEnvironmentId, loadSigningKeys } from '../store/accounts.ts'

/** `typ` of the header: one sort can never stand in for another. */
export type TokenSort = 'at+jwt' | 'rt+jwt' | 'key+jwt'

export type Claims = {
  readonly sort: TokenSort
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
  verify(token: string, sorts: readonly TokenSort[], now: Instant): Promise<Claims>
}

const ALGORITHM = 'EdDSA'
const VAULT_PURPOSE = 'signing-key'
/** Verified tokens kept in memory; a signature check costs more than a whole point read. */
const MAX_REMEMBERED = 10_000
const MAX_TOKEN_LENGTH = 4_096

/** Loads the instance's keys, generating the first one. `configured` is SERVICE_AUTH__SIGNING_KEY. */
export async function openTokens(ports: Ports, configured: string | undefined): Promise<Tokens> {
  const environmentId = await loadEnvironmentId(ports.database)
  const issuer = `urn:service:${environmentId}`
  const stored = configured === undefined ? await storedKeys(ports) : [parseJwk(configured)]
  const keys = new Map(await Promise.all(stored.map(async (jwk) => [jwk.kid ?? '', await keyPair(jwk)] as const)))
  const [signing] = keys
  if (signing === undefined) throw new Error('there is no signing key')
  const [kid, { privateKey }] = signing
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
      if (known === undefined) remember(remembered, token, claims)
      return claims
    },
  }
}

export function invalidToken(): ServiceError {
  return new ServiceError('unauthenticated', 'Invalid token')
}

type KeyPair = { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey }

async function check(token: string, keys: ReadonlyMap<string, KeyPair>, issuer: string, now: Instant): Promise<Claims> {
  if (token.length > MAX_TOKEN_LENGTH) throw invalidToken()
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = keys.get(kid ?? '')
        if (key === undefined) throw invalidToken()
        return key.publicKey
      },
      { algorithms: [ALGORITHM], issuer, audience: issuer, currentDate: new Date(now) },
    )
    const sort = sortOf(protectedHeader.typ)
    const { sub, jti, sid, exp } = payload
    const id = sort === 'key+jwt' ? jti : sid
    if (sort === undefined || sub === undefined || typeof id !== 'string' || jti === undefined) throw invalidToken()
    // Only an API key may live for ever.
    if (exp === undefined && sort !== 'key+jwt') throw invalidToken()
    return { sort, userId: sub, id, tokenId: jti, expiresAt: exp === undefined ? undefined : exp * 1_000 }
  } catch {
    // Which of the many things was wrong with it is nobody's business.
    throw invalidToken()
  }
}

function sortOf(typ: string | undefined): TokenSort | undefined {
  return typ === 'at+jwt' || typ === 'rt+jwt' || typ === 'key+jwt' ? typ : undefined
}

function remember(remembered: Map<string, Claims>, token: string, claims: Claims): void {
  if (remembered.size >= MAX_REMEMBERED) {
    const [oldest] = remembered.keys()
    if (oldest !== undefined) remembered.delete(oldest)
  }
  remembered.set(token, claims)
}

async function storedKeys(ports: Ports): Promise<readonly JWK[]> {
  const rows = await loadSigningKeys(ports.database)
  if (rows.length === 0) {
    const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
    const id = ports.ids.next()
    const sealedPrivateJwk = await ports.vault.seal(VAULT_PURPOSE, JSON.stringify(await exportJWK(privateKey)))
    await insertFirstSigningKey(ports.database, {
      id,
      publicJwk: JSON.stringify(await exportJWK(publicKey)),
      sealedPrivateJwk,
    })
    return storedKeys(ports)
  }
  return Promise.all(
    rows.map(async ({ id, sealedPrivateJwk }) => ({
      ...parseJwk(await ports.vault.open(VAULT_PURPOSE, sealedPrivateJwk)),
      kid: id,
    })),
  )
}

function parseJwk(text: string): JWK {
  try {
    const jwk = JSON.parse(text) as JWK
    if (jwk.kty === 'OKP' && jwk.crv === 'Ed25519' && typeof jwk.d === 'string') return { kid: 'configured', ...jwk }
  } catch {
    // Said below: the text may hold the key, so nothing of it is repeated.
  }
  throw new ServiceError('failed', 'SERVICE_AUTH__SIGNING_KEY must be an Ed25519 private JWK')
}

async function keyPair(jwk: JWK): Promise<KeyPair> {
  const { d: _private, ...publicJwk } = jwk
  return {
    privateKey: (await importJWK(jwk, ALGORITHM)) as CryptoKey,
    publicKey: (await importJWK(publicJwk, ALGORITHM)) as CryptoKey,
  }
}

function seconds(instant: Instant): number {
  return Math.floor(instant / 1_000)
}
