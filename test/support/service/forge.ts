/** Tokens as an attacker, or a careless service, would write them: any header, any claims, any key. */
import { createPrivateKey, type JsonWebKey, sign } from 'node:crypto'

export type Forgery = {
  readonly header: Readonly<Record<string, unknown>>
  /** An object, or text that is to be JSON. */
  readonly claims: Readonly<Record<string, unknown>> | string
  /** Signs the first two parts. */
  readonly signer: (text: string) => Uint8Array
}

export function forge({ header, claims, signer }: Forgery): string {
  const text = `${part(JSON.stringify(header))}.${part(typeof claims === 'string' ? claims : JSON.stringify(claims))}`
  return `${text}.${Buffer.from(signer(text)).toString('base64url')}`
}

/** Ed25519 with a private JWK. */
export function signerOf(jwk: JsonWebKey): Forgery['signer'] {
  const key = createPrivateKey({ key: jwk, format: 'jwk' })
  return (text) => sign(null, Buffer.from(text), key)
}

/** Header and claims of a token. */
export function read(token: string): { header: Record<string, unknown>; claims: Record<string, unknown> } {
  const [header, claims] = token.split('.').map((text) => Buffer.from(text, 'base64url').toString())
  return { header: JSON.parse(header ?? ''), claims: JSON.parse(claims ?? '') }
}

function part(text: string): string {
  return Buffer.from(text).toString('base64url')
}
