/** Entity tags on Workers, by the hash of the runtime. */
import { Buffer } from 'node:buffer'
import type { TagOf } from '../../ports/ports.ts'

export const cloudflareTagOf: TagOf = async (text) => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(digest).toString('base64url').slice(0, 22)
}
