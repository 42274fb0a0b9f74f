/** SHA-256 of texts: stored instead of keys and tokens, and used for entity tags. */

import { hex } from '../../core/hex.ts'

export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

export async function sha256Hex(text: string): Promise<string> {
  return hex(await sha256(text))
}
