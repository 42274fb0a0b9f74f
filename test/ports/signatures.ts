/** The cryptography that tokens are verified with, held to known answers: the same on Node and in workerd. */
import { base64url, importJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { ALGORITHM } from '../../src/services/caller/signing-keys.ts'
import { type Vector, vectors } from '../support/data/ed25519-vectors.ts'

export function describeSignatures(platform: string): void {
  describe(`Ed25519 signatures on ${platform}`, () => {
    it('takes every one that Wycheproof calls valid, and no other', async () => {
      const verdicts = await Promise.all(vectors.map(async (vector) => [vector.id, await isTaken(vector)]))

      expect(verdicts).toEqual(vectors.map(({ id, isValid }) => [id, isValid]))
    })
  })
}

/** As the library does that verifies our tokens: the key from a JWK, the platform's own check, whose refusal is a no. */
async function isTaken({ publicKey, message, signature }: Vector): Promise<boolean> {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64url.encode(bytes(publicKey)) }
  const key = (await importJWK(jwk, ALGORITHM)) as CryptoKey
  return crypto.subtle.verify('Ed25519', key, bytes(signature), bytes(message)).catch(() => false)
}

function bytes(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}
