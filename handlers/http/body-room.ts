/** Bounds what the bodies of requests that are arriving, or being stored, hold together in memory of the process. */

import type { Gathered } from '../../src/core/chunks.ts'

/** What is held of a body; nothing of one that was given up. */
export type ArrivingBody = {
  /** What has arrived of one that is held as a whole. */
  readonly gathered?: Gathered
  bytes: number
  /** Bytes that have arrived of one that has entered, and of the whole, where that is more than is held. */
  arrived?: number
  readonly total?: number
  /** In how many pieces it has arrived. */
  pieces?: number
  /** Whoever reads it looks, since on Workers no request may end another one. */
  isGivenUp: boolean
  /** All of it is there, so that nobody would be told that it was given up. */
  isComplete?: boolean
  /** Whose it is; those of nobody in particular are of one. */
  readonly caller?: string | undefined
}

export type BodyRoom = {
  /**
   * Counts what has arrived of a body until it is released. Where that has no room beside the others, or beside those of its caller,
   * it gives up those of which nothing has arrived for longest, and this one where none is left of them.
   */
  hold(body: ArrivingBody): void
  /**
   * Counts the bytes of a body before they arrive, once they have room beside the others: meanwhile those are given up of which
   * nothing arrives, or so little that the whole would take a minute. Resolves to false where that takes too long, and at once where
   * no request may wait and a complete body has no room. Small ones need not wait.
   */
  enter(body: ArrivingBody): Promise<boolean>
  /** Something has arrived of a body that has entered. */
  touch(body: ArrivingBody): void
  release(body: ArrivingBody): void
}

export type BodyRoomDeps = {
  /** Bytes of all bodies together, half of them for one caller; a single body may exceed both. */
  readonly most: number
  /** As how many bytes a larger body counts, so that one leaves room for others; without it as all that it has. */
  readonly largest?: number
  /**
   * False where no request may wait for another: a body is counted from its first byte on, and one for which there is no room is
   * given up, where none of the others is stalled. The platform may end a request without releasing its body: a complete one
   * is no longer counted after `whole`.
   */
  readonly waits?: boolean
  /** Milliseconds in which a body has to arrive as a whole, if others wait for it; a minute where absent. */
  readonly whole?: number
  /** Milliseconds that a body waits to enter, and after which one that does not go on is given up for one that waits. */
  readonly patience?: number
  readonly stall?: number
  /** Bytes of a body that always has room. */
  readonly small?: number
}

/** `marked` bytes had arrived at `markedAt`, by which it is told how fast it goes on. */
type Held = { readonly bytes: number; readonly at: number; marked: number; markedAt: number }
type Waiting = { readonly body: ArrivingBody; readonly since: number; readonly respond: (hasRoom: boolean) => void }

/** Less than a connection has whose body does not go on. */
const PATIENCE = 20_000
const STALL = 2_000
/** Milliseconds in which a body arrives as a whole, for which others wait. */
const WHOLE = 60_000
const SMALL = 64 * 1024
/** Looks at least so often, in each of the two times. */
const LOOKS = 4

export function createBodyRoom(deps: BodyRoomDeps): BodyRoom {
  const {
    most,
    largest = Number.POSITIVE_INFINITY,
    waits = true,
    patience = PATIENCE,
    stall = STALL,
    small = SMALL,
    whole = WHOLE,
  } = deps
  /** In the order in which something arrived last. */
  const held = new Map<ArrivingBody, Held>()
  const shares = new Map<string | undefined, number>()
  let waiting: readonly Waiting[] = []
  let total = 0
  let watching: NodeJS.Timeout | undefined

  const shareOf = ({ caller }: ArrivingBody) => shares.get(caller) ?? 0
  const sizeOf = ({ bytes }: ArrivingBody) => Math.min(bytes, largest)
  const countedOf = (body: ArrivingBody) => (waits || arrivedOf(body) > 0 ? sizeOf(body) : 0)

  function add({ caller }: ArrivingBody, bytes: number): void {
    total += bytes
    const share = (shares.get(caller) ?? 0) + bytes
    if (share > 0) shares.set(caller, share)
    else shares.delete(caller)
  }

  function forget(body: ArrivingBody): void {
    add(body, -(held.get(body)?.bytes ?? 0))
    held.delete(body)
  }

  function count(body: ArrivingBody): void {
    const at = performance.now()
    const { marked = arrivedOf(body), markedAt = at } = held.get(body) ?? {}
    forget(body)
    const bytes = countedOf(body)
    held.set(body, { bytes, at, marked, markedAt })
    add(body, bytes)
  }

  function giveUp(body: ArrivingBody): void {
    forget(body)
    body.isGivenUp = true
    body.gathered?.clear()
  }

  const hasShare = (body: ArrivingBody) => shareOf(body) + sizeOf(body) <= most / 2 || shareOf(body) === 0
  const hasRoom = (body: ArrivingBody) => hasShare(body) && (total + sizeOf(body) <= most || total === 0)

  /** Who waits for those of the same caller is in nobody's way. */
  function admit(): void {
    const left: Waiting[] = []
    for (const one of waiting) {
      const isBehind = left.some(({ body }) => hasShare(body))
      if (isBehind || !hasRoom(one.body)) {
        left.push(one)
        continue
      }
      count(one.body)
      one.respond(true)
    }
    waiting = left
    if (waiting.length > 0) return
    clearInterval(watching)
    watching = undefined
  }

  function stalled(): readonly ArrivingBody[] {
    const now = performance.now()
    const isHeld = (body: ArrivingBody, known: Held) => {
      if (body.isComplete === true) return waits || now - known.at <= whole
      return goesOn(body, known, now)
    }
    return [...held].flatMap(([body, known]) => (isHeld(body, known) ? [] : [body]))
  }

  function look(): void {
    const now = performance.now()
    for (const body of stalled()) giveUp(body)
    for (const { since, respond } of waiting) if (now - since > patience) respond(false)
    waiting = waiting.filter(({ since }) => now - since <= patience)
    admit()
  }

  function goesOn(body: ArrivingBody, known: Held, now: number): boolean {
    const passed = now - known.markedAt
    if (now - known.at > stall) return false
    if (passed <= stall) return true
    const { total = body.bytes } = body
    if ((arrivedOf(body) - known.marked) * whole < total * passed) return false
    known.marked = arrivedOf(body)
    known.markedAt = now
    return true
  }

  function hold(body: ArrivingBody): void {
    count(body)
    const isOver = () => total > most && total > countedOf(body)
    const isOverShare = () => shareOf(body) > most / 2 && shareOf(body) > countedOf(body)
    if (!isOver() && !isOverShare()) return
    const others = waits ? [...held.keys()].filter(({ isComplete }) => isComplete !== true) : stalled()
    for (const other of others) {
      if (other !== body && (isOver() || (isOverShare() && other.caller === body.caller))) giveUp(other)
    }
    if (isOver() || isOverShare()) giveUp(body)
  }

  return {
    hold,
    async enter(body) {
      if (!waits && body.isComplete === true) {
        hold(body)
        return !body.isGivenUp
      }
      if (!waits || body.bytes <= small || (hasRoom(body) && !waiting.some((other) => hasShare(other.body)))) {
        count(body)
        return true
      }
      watching ??= setInterval(look, Math.min(stall, patience) / LOOKS).unref()
      return new Promise((resolve) => {
        waiting = [...waiting, { body, since: performance.now(), respond: resolve }]
      })
    },
    touch(body) {
      if (!held.has(body)) return
      if (waits) count(body)
      else hold(body)
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
