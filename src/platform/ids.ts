/** UUIDs of version 7: 48 bits of time, then random bits; one and the same on every platform. */
import type { Ids } from '../ports.ts'

let at = -1
let timePart = ''

export const timeOrderedIds: Ids = {
  next() {
    const now = Date.now()
    if (now !== at) {
      const time = now.toString(16).padStart(12, '0')
      timePart = `${time.slice(0, 8)}-${time.slice(8)}-7`
      at = now
    }
    // Version 4 has its version digit where version 7 has it, and nothing but chance and the variant behind it.
    return timePart + crypto.randomUUID().slice(15)
  },
}
