/** UUIDs of version 7: 48 bits of time, then random bits. The same code on every platform. */
import type { Ids } from '../ports/ports.ts'

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
    // From the version digit on, version 4 has the same layout: random bits and the variant.
    return timePart + crypto.randomUUID().slice(15)
  },
}
