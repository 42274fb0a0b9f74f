/**
 * Encryption at rest, the same code on both platforms: AES-256-GCM under a key that HKDF-SHA-256 derives from
 * SERVICE_SECRET. The purpose is authenticated with the text, so one purpose's text is refused for another.
 * Text form: `v1.` and base64url of the 12-byte IV followed by the ciphertext.
 */
import { Buffer } from 'node:buffer'
import type { Vault } from '../ports.ts'

export function openVault(secret: string): Vault {
  // The key is kept, not the promise of it: a Worker may not await a promise that another request began.
  let derived: CryptoKey | undefined
  const key = async () => {
    derived ??= await deriveKey(secret)
    return derived
  }

  return {
    async seal(purpose, text) {
      const iv = crypto.getRandomValues(new Uint8Array(ivLength))
      const sealed = await crypto.subtle.encrypt(algorithm(iv, purpose), await key(), Buffer.from(text))
      return prefix + Buffer.concat([iv, new Uint8Array(sealed)]).toString('base64url')
    },

    async open(purpose, sealed) {
      if (!sealed.startsWith(prefix)) throw new Error('not a sealed text of a known version')
      const bytes = new Uint8Array(Buffer.from(sealed.slice(prefix.length), 'base64url'))
      const iv = bytes.slice(0, ivLength)
      try {
        const opened = await crypto.subtle.decrypt(algorithm(iv, purpose), await key(), bytes.slice(ivLength))
        return Buffer.from(opened).toString()
      } catch (cause) {
        throw new Error('a sealed text cannot be opened: another secret, another purpose, or damaged', { cause })
      }
    },
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
