/** Bounds what the bodies of requests that are arriving, or being stored, hold together in memory of the process. */

/** What is held of a body; nothing of one that was given up. */
export type ArrivingBody = {
  readonly chunks: Uint8Array[]
  bytes: number
  /** Bytes that have arrived of one that has entered, and of the whole, where that is more than is held. */
  arrived?: number
  readonly total?: number
  isGivenUp: boolean
  /** All of it is there, so that nobody would be told that it was given up. */
  isComplete?: boolean
  /** Lets go of what is held elsewhere. */
  readonly onGivenUp?: () => void
}

export type BodyRoom = {
  /**
   * Counts what has arrived of a body until it is released. Where that has no room beside the others, it gives up those of
   * which nothing has arrived for longest, and this one where the others are all there.
   */
  hold(body: ArrivingBody): void
  /**
   * Counts the bytes of a body before they arrive, once they have room beside the others: meanwhile those are given up of which
   * nothing arrives, or so little that the whole would take a minute. False where that takes too long. Small ones need not wait.
   */
  enter(body: ArrivingBody): Promise<boolean>
  /** Something has arrived of a body that has entered. */
  touch(body: ArrivingBody): void
  release(body: ArrivingBody): void
}

export type BodyRoomDeps = {
  /** Bytes of all bodies together, which a single one may exceed. */
  readonly most: number
  /** Milliseconds that a body waits to enter, and after which one that does not go on is given up for one that waits. */
  readonly patience?: number
  readonly stall?: number
  /** Bytes of a body that always has room. */
  readonly small?: number
}

/** `marked` bytes had arrived at `markedAt`, by which it is told how fast it goes on. */
type Held = { readonly bytes: number; readonly at: number; marked: number; markedAt: number }
type Waiting = { readonly body: ArrivingBody; readonly since: number; readonly tell: (hasRoom: boolean) => void }

/** Less than a connection has whose body does not go on. */
const PATIENCE = 20_000
const STALL = 2_000
/** Milliseconds in which a body arrives as a whole, for which others wait. */
const WHOLE = 60_000
const SMALL = 64 * 1024
/** Looks at least so often, in each of the two times. */
const LOOKS = 4

export function createBodyRoom(deps: BodyRoomDeps): BodyRoom {
  const { most, patience = PATIENCE, stall = STALL, small = SMALL } = deps
  /** In the order in which something arrived last. */
  const held = new Map<ArrivingBody, Held>()
  let waiting: Waiting[] = []
  let total = 0
  let watching: NodeJS.Timeout | undefined

  function forget(body: ArrivingBody): void {
    total -= held.get(body)?.bytes ?? 0
    held.delete(body)
  }

  function count(body: ArrivingBody): void {
    const at = performance.now()
    const { marked = arrivedOf(body), markedAt = at } = held.get(body) ?? {}
    forget(body)
    held.set(body, { bytes: body.bytes, at, marked, markedAt })
    total += body.bytes
  }

  function giveUp(body: ArrivingBody): void {
    forget(body)
    body.isGivenUp = true
    body.chunks.length = 0
    body.onGivenUp?.()
  }

  const hasRoom = ({ bytes }: ArrivingBody) => total + bytes <= most || held.size === 0

  function admit(): void {
    for (let [first] = waiting; first !== undefined && hasRoom(first.body); [first] = waiting) {
      waiting.shift()
      count(first.body)
      first.tell(true)
    }
    if (waiting.length > 0) return
    clearInterval(watching)
    watching = undefined
  }

  function look(): void {
    const now = performance.now()
    for (const [body, known] of held) if (body.isComplete !== true && !goesOn(body, known, now)) giveUp(body)
    for (const { since, tell } of waiting) if (now - since > patience) tell(false)
    waiting = waiting.filter(({ since }) => now - since <= patience)
    admit()
  }

  function goesOn(body: ArrivingBody, known: Held, now: number): boolean {
    const passed = now - known.markedAt
    if (now - known.at > stall) return false
    if (passed <= stall) return true
    const { total = body.bytes } = body
    if ((arrivedOf(body) - known.marked) * WHOLE < total * passed) return false
    known.marked = arrivedOf(body)
    known.markedAt = now
    return true
  }

  return {
    hold(body) {
      count(body)
      for (const other of held.keys()) {
        if (total <= most) return
        if (other !== body && other.isComplete !== true) giveUp(other)
      }
      if (total > most && held.size > 1) giveUp(body)
    },
    async enter(body) {
      if (body.bytes <= small || (waiting.length === 0 && hasRoom(body))) {
        count(body)
        return true
      }
      watching ??= setInterval(look, Math.min(stall, patience) / LOOKS).unref()
      return new Promise((tell) => {
        waiting.push({ body, since: performance.now(), tell })
      })
    },
    touch(body) {
      if (held.has(body)) count(body)
    },
    release(body) {
      forget(body)
      admit()
    },
  }
}

function arrivedOf({ arrived, bytes }: ArrivingBody): number {
  return arrived ?? bytes
}

/**
 * For platforms on which no request waits for another, or ends it: counts what has arrived, and gives up a body that goes beyond
 * the room that the others leave.
 */
export function createRefusingBodyRoom(deps: BodyRoomDeps): BodyRoom {
  const { most } = deps
  const held = new Map<ArrivingBody, number>()
  let total = 0

  function count(body: ArrivingBody, bytes: number): void {
    total += bytes - (held.get(body) ?? 0)
    held.set(body, bytes)
    if (total > most && held.size > 1) body.isGivenUp = true
  }

  return {
    hold: (body) => count(body, body.bytes),
    enter: async (body) => total + Math.min(body.bytes, SMALL) <= most || held.size === 0,
    touch: (body) => count(body, Math.min(body.bytes, arrivedOf(body))),
    release(body) {
      total -= held.get(body) ?? 0
      held.delete(body)
    },
  }
}
