/**
 * Encryption at rest, the same code on both platforms: AES-256-GCM with a key that HKDF-SHA-256 derives from
 * SERVICE_SECRET. That is a comma-separated list: the first secret seals, all of them open. For a secret that contains
 * a comma, the whole list, and the list without its first part, are tried too. The purpose is authenticated, so a text
 * sealed for one purpose does not open for another.
 * Format: `v1.` and base64url of the 12-byte IV followed by the ciphertext.
 */
import { Buffer } from 'node:buffer'
import type { Vault } from '../ports/accounts.ts'

export function openVault(secrets: string): Vault {
  const [first, ...others] = secretsOf(secrets).map(keyOf)

  async function attempt(key: Key, purpose: string, sealed: string): Promise<string> {
    const bytes = new Uint8Array(Buffer.from(sealed.slice(prefix.length), 'base64url'))
    const iv = bytes.slice(0, ivLength)
    const opened = await crypto.subtle.decrypt(algorithm(iv, purpose), await key(), bytes.slice(ivLength))
    return Buffer.from(opened).toString()
  }

  return {
    async seal(purpose, text) {
      const iv = crypto.getRandomValues(new Uint8Array(ivLength))
      const sealed = await crypto.subtle.encrypt(algorithm(iv, purpose), await (first ?? refuse)(), Buffer.from(text))
      return prefix + Buffer.concat([iv, new Uint8Array(sealed)]).toString('base64url')
    },

    async open(purpose, sealed) {
      if (!sealed.startsWith(prefix)) throw new Error('not a sealed text of a known version')
      let cause: unknown
      for (const key of [first ?? refuse, ...others]) {
        try {
          return await attempt(key, purpose, sealed)
        } catch (error) {
          cause = error
        }
      }
      throw new Error('a sealed text cannot be opened: another secret, another purpose, or damaged', { cause })
    },

    async reseal(purpose, sealed) {
      try {
        await attempt(first ?? refuse, purpose, sealed)
        return undefined
      } catch {
        return this.seal(purpose, await this.open(purpose, sealed))
      }
    },
  }
}

type Key = () => Promise<CryptoKey>

const refuse: Key = () => Promise.reject(new Error('there is no secret'))

/** Returns each secret once: the parts, and the possible secrets that contain commas. */
function secretsOf(text: string): readonly string[] {
  const parts = text.split(',')
  return [...new Set([...parts, parts.slice(1).join(','), text])].filter((one) => one !== '')
}

/** Caches the key, not its promise: on Workers no request may await another request's promise. */
function keyOf(secret: string): Key {
  let derived: CryptoKey | undefined
  return async () => {
    derived ??= await deriveKey(secret)
    return derived
  }
}

const prefix = 'v1.'
const ivLength = 12

function algorithm(iv: Uint8Array<ArrayBuffer>, purpose: string) {
  return { name: 'AES-GCM', iv, additionalData: Buffer.from(purpose) }
}

async function deriveKey(secret: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', Buffer.from(secret), 'HKDF', false, ['deriveKey'])
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: Buffer.from('vault v1') }
  return crypto.subtle.deriveKey(hkdf, material, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}
