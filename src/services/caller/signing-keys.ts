/**
 * The keys that sign and verify tokens: those of SERVICE_AUTH__SIGNING_KEY, or a generated one. Former signing keys
 * verify tokens as long as they are configured or stored, so that rotating keys ends no session.
 */

import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { ServiceError } from '../../core/error.ts'
import { parseJson } from '../../core/exact-json.ts'
import type { Ports } from '../../ports/ports.ts'
import { insertFirstSigningKey, loadSigningKeys } from '../../store/signing-keys.ts'

export const ALGORITHM = 'EdDSA'
export const VAULT_PURPOSE = 'signing-key'
const VARIABLE = 'SERVICE_AUTH__SIGNING_KEY'

export type PublishedKey = {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly kid: string
  readonly alg: typeof ALGORITHM
  readonly use: 'sig'
}

export type SigningKeys = {
  readonly signing: { readonly kid: string; readonly privateKey: CryptoKey }
  /** By `kid`. */
  readonly verifying: ReadonlyMap<string, CryptoKey>
  readonly published: readonly PublishedKey[]
}

export type SigningKeysDeps = {
  readonly ports: Ports
  /** SERVICE_AUTH__SIGNING_KEY. */
  readonly configured: string | undefined
}

/** Throws for a variable without valid keys; the message never contains its value. */
export async function openSigningKeys(deps: SigningKeysDeps): Promise<SigningKeys> {
  const { ports, configured } = deps
  const stored = await loadSigningKeys(ports.database)
  if (configured === undefined && stored.length === 0) {
    await generateKey(ports)
    return openSigningKeys(deps)
  }
  const [newest] = stored
  const signing =
    configured === undefined && newest !== undefined
      ? { ...(parseJson(await ports.vault.open(VAULT_PURPOSE, newest.sealedPrivateJwk)) as JWK), kid: newest.id }
      : undefined
  const own = stored.map(({ id, publicJwk }) => ({ ...(parseJson(publicJwk) as JWK), kid: id }))
  const given = signing === undefined ? await parseKeys(configured ?? '') : [signing]
  return importKeys([...given, ...own.filter(({ kid }) => given.every((key) => key.kid !== kid))])
}

async function generateKey({ database, ids, vault }: Ports): Promise<void> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
  const sealedPrivateJwk = await vault.seal(VAULT_PURPOSE, JSON.stringify(await exportJWK(privateKey)))
  const publicJwk = JSON.stringify(await exportJWK(publicKey))
  await insertFirstSigningKey(database, { id: ids.next(), publicJwk, sealedPrivateJwk })
}

type NamedJwk = JWK & { readonly kid: string }

/** Parses one JWK, a list of them, or a JWK Set; a key without `kid` gets its thumbprint. */
async function parseKeys(text: string): Promise<readonly NamedJwk[]> {
  const keys = await Promise.all(listOf(text).map(async (jwk) => ({ ...jwk, kid: await nameOf(jwk) })))
  if (keys[0]?.d === undefined) throw wrong('must begin with an Ed25519 private JWK')
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) throw wrong('has two keys of one kid')
  return keys
}

function listOf(text: string): readonly JWK[] {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    throw wrong('must be JSON')
  }
  const set = Array.isArray(value) ? value : ((value as { readonly keys?: unknown } | null)?.keys ?? value)
  const list: readonly unknown[] = Array.isArray(set) ? set : [set]
  if (list.length === 0 || !list.every(isEd25519)) throw wrong('must be an Ed25519 private JWK, or a list of such keys')
  return list
}

function isEd25519(value: unknown): value is JWK {
  const { kty, crv, x, d, kid } = (value ?? {}) as JWK
  const isText = (member: unknown) => typeof member === 'string' && member !== ''
  const isNamed = kid === undefined || isText(kid)
  return kty === 'OKP' && crv === 'Ed25519' && isText(x) && (d === undefined || isText(d)) && isNamed
}

async function nameOf(jwk: JWK): Promise<string> {
  return jwk.kid ?? (await calculateJwkThumbprint(jwk))
}

async function importKeys(keys: readonly NamedJwk[]): Promise<SigningKeys> {
  const published = keys.map(publicHalf)
  const verifying = new Map<string, CryptoKey>()
  for (const jwk of published) verifying.set(jwk.kid, await importKey(jwk))
  const [first] = keys
  if (first === undefined) throw new Error('there is no signing key')
  const privateKey = await importKey({ kty: 'OKP', crv: 'Ed25519', x: first.x ?? '', d: first.d ?? '' })
  await requirePair(privateKey, verifying.get(first.kid))
  return { signing: { kid: first.kid, privateKey }, verifying, published }
}

function publicHalf({ x = '', kid }: NamedJwk): PublishedKey {
  return { kty: 'OKP', crv: 'Ed25519', x, kid, alg: ALGORITHM, use: 'sig' }
}

async function importKey(jwk: JWK): Promise<CryptoKey> {
  try {
    return (await importJWK({ ...jwk }, ALGORITHM)) as CryptoKey
  } catch {
    throw wrong('contains an invalid key')
  }
}

/** Refuses a private key whose public half belongs to another key: nobody could verify its signatures. */
async function requirePair(privateKey: CryptoKey, publicKey: CryptoKey | undefined): Promise<void> {
  const probe = new TextEncoder().encode('probe')
  const signature = await crypto.subtle.sign('Ed25519', privateKey, probe)
  const isPair = publicKey !== undefined && (await crypto.subtle.verify('Ed25519', publicKey, signature, probe))
  if (!isPair) throw wrong('has a private and a public key that do not match')
}

function wrong(reason: string): ServiceError {
  return new ServiceError('failed', `${VARIABLE} ${reason}`)
}
