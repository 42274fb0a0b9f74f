/**
 * Password hashes as `scrypt$N$r$p$salt$hash`. scrypt is the strongest hash that both platforms offer (Workers lack
 * argon2 and cap PBKDF2). The cost is part of the text, so it can be raised without a migration. `node:crypto` is
 * loaded on first use, since it adds milliseconds to the start of a Worker (decision 036).
 */
import { Buffer } from 'node:buffer'
import type { Hashing } from './password-turns.ts'

export function createScryptPasswords(cost: ScryptCost): Hashing {
  const decoy: Stored = { ...cost, salt: Buffer.alloc(16), key: Buffer.alloc(keyLength) }

  return {
    async hash(password) {
      const salt = Buffer.from(crypto.getRandomValues(new Uint8Array(16)))
      const key = await derive(password, salt, cost)
      return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
    },

    async verify(password, hash) {
      const stored = hash === undefined ? undefined : parse(hash)
      // Hashes even for an unknown account, so that response times do not reveal which accounts exist.
      const { salt, key, ...storedCost } = stored ?? decoy
      const { timingSafeEqual } = await import('node:crypto')
      const found = await derive(password, salt, storedCost)
      return timingSafeEqual(found, key) && stored !== undefined
    },
  }
}

export type ScryptCost = { readonly N: number; readonly r: number; readonly p: number }
type Stored = ScryptCost & { readonly salt: Buffer; readonly key: Buffer }

const keyLength = 32

/** OWASP's recommended cost: 16 MiB, about 150 ms. */
export const scryptPasswords = createScryptPasswords({ N: 2 ** 14, r: 8, p: 5 })

async function derive(password: string, salt: Buffer, { N, r, p }: ScryptCost): Promise<Buffer> {
  const { scrypt } = await import('node:crypto')
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, keyLength, { N, r, p, maxmem: 256 * N * r }, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })
}

function parse(hash: string): Stored | undefined {
  const match = /^scrypt\$(\d{1,7})\$(\d{1,2})\$(\d{1,2})\$([\w-]+)\$([\w-]+)$/.exec(hash)
  if (match === null) return undefined
  const [, N = '', r = '', p = '', salt = '', key = ''] = match
  const stored = { N: Number(N), r: Number(r), p: Number(p), salt: decode(salt), key: decode(key) }
  return stored.key.length === keyLength ? stored : undefined
}

function decode(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}
