/** The generated values of one write: UUIDs and the time. */
import type { Generators } from '../../core/plan/values.ts'
import type { Ports } from '../../ports/ports.ts'

/** One timestamp for all values of a write, created on first use. */
export function generatorsOf({ clock, ids }: Pick<Ports, 'clock' | 'ids'>): Generators {
  let now: string | undefined
  return {
    uuid: ids.next,
    now() {
      now ??= new Date(clock.now()).toISOString()
      return now
    },
  }
}
