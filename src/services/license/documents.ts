/**
 * Reads license documents: JWTs of the licensing service (docs/contract.md#licensing). Verifies and parses a document;
 * core/license/status.ts checks its term.
 */

import { compactVerify, errors, importJWK, type JWK } from 'jose'
import { parseJson } from '../../core/exact-json.ts'
import { type License, parseLicense } from '../../core/license/license.ts'

export type DocumentResult =
  | { readonly kind: 'license'; readonly license: License }
  /** The fault, phrased to follow the name of the document. */
  | { readonly kind: 'fault'; readonly message: string }

export type ReadDocument = (document: string) => Promise<DocumentResult>

const ALGORITHM = 'EdDSA'
const MAX_LENGTH = 32 * 1024

/** `publicKey` is the JWK text of SERVICE_LICENSE__PUBLIC_KEY. */
export function documentReader(publicKey: string): ReadDocument {
  const jwk = parseJson(publicKey) as JWK

  return async (document) => {
    if (document.length > MAX_LENGTH) return malformed
    let payload: unknown
    try {
      const verified = await compactVerify(document, await importJWK(jwk, ALGORITHM), { algorithms: [ALGORITHM] })
      payload = parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(verified.payload))
    } catch (cause) {
      return cause instanceof errors.JWSSignatureVerificationFailed ? forged : malformed
    }
    return parseLicense(payload)
  }
}

const malformed: DocumentResult = { kind: 'fault', message: 'is malformed' }
const forged: DocumentResult = { kind: 'fault', message: 'has an invalid signature' }
