/** UUIDs of version 7: 48 bits of time, then random bits; one and the same on every platform. */
import type { Ids } from '../ports.ts'

export const timeOrderedIds: Ids = {
  next() {
    const time = Date.now().toString(16).padStart(12, '0')
    // Version 4 has its version digit where version 7 has it, and nothing but chance and the variant behind it.
    return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`
  },
}
