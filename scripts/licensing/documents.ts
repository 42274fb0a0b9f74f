/** Signs license documents like the licensing service (docs/contract.md#licensing), with its own key. */
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { type LicenseEntitlement, type LicenseLimit, PRODUCT } from '../../src/core/license/license.ts'

/** The claims of a license document; times are in seconds. */
export type Terms = {
  readonly jti: string
  readonly sub: string
  readonly plan: string
  readonly iat: number
  readonly exp: number
  readonly grace: number
  readonly offline: boolean
  readonly revalidate: number
  readonly instances: number
  readonly entitlements: { readonly [Name in LicenseEntitlement]?: LicenseLimit }
}

export type KeyPair = { readonly publicJwk: JWK; readonly privateJwk: JWK }

const ALGORITHM = 'EdDSA'

export async function newKeyPair(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true })
  return { publicJwk: await exportJWK(publicKey), privateJwk: await exportJWK(privateKey) }
}

export async function signDocument(terms: object, { privateJwk }: KeyPair): Promise<string> {
  const key = await importJWK(privateJwk, ALGORITHM)
  return new SignJWT({ product: PRODUCT, ...terms }).setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' }).sign(key)
}
