/** SHA-256 digests: stored instead of keys and tokens, and used for entity tags. */

import { hex } from '../../core/hex.ts'

/** Returns the digest of the bytes, or of the string in UTF-8. */
export async function sha256(text: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

export async function sha256Hex(text: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return hex(await sha256(text))
}
