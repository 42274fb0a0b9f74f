/** Limits the memory of request bodies that are arriving or being stored, in total and by caller. */

import type { Gathered } from '../../src/core/chunks.ts'

/** The memory of one body; freed when the body is given up. */
export type ArrivingBody = {
  /** The received bytes of a body that is kept in memory as a whole. */
  readonly gathered?: Gathered
  bytes: number
  /** Received bytes of a body that has entered, and its total length if that is more than is kept in memory. */
  arrived?: number
  readonly total?: number
  /** Number of received pieces. */
  pieces?: number
  /** Set instead of ending the read: the reader polls, since on Workers no request may end another one. */
  isGivenUp: boolean
  /** Set once all of the body has arrived: then it is not given up, because its reader no longer checks. */
  isComplete?: boolean
  /** The caller; all bodies without a caller share one. */
  readonly caller?: string | undefined
}

export type BodyRoom = {
  /**
   * Counts the received bytes of a body until it is released. If the total or the caller's share is exceeded, gives up the
   * bodies that have received nothing for the longest time, and finally this one.
   */
  hold(body: ArrivingBody): void
  /**
   * Reserves the bytes of a body before they arrive, and waits for room; meanwhile gives up bodies that receive nothing, or too
   * slowly to finish within a minute. Resolves to false after waiting too long; if no request may wait, resolves to false at
   * once for a complete body without room. Small bodies need not wait.
   */
  enter(body: ArrivingBody): Promise<boolean>
  /** Notes that bytes of a body that has entered have arrived. */
  touch(body: ArrivingBody): void
  release(body: ArrivingBody): void
}

export type BodyRoomDeps = {
  /** Maximum bytes of all bodies, half of it for one caller; a single body may exceed both. */
  readonly most: number
  /** Maximum bytes that a single body counts as, so that it leaves room for others; unlimited by default. */
  readonly largest?: number
  /**
   * False if no request may wait for another. Then a body counts from its first byte on, and is given up if there is no room
   * and no other body is stalled. The platform may end a request without releasing its body, so a complete body stops counting
   * after `whole`.
   */
  readonly waits?: boolean
  /** Milliseconds in which a whole body must arrive while others wait; a minute by default. */
  readonly whole?: number
  /** Milliseconds that a body waits to enter, and without progress after which one is given up for a waiting one. */
  readonly patience?: number
  readonly stall?: number
  /** Bytes up to which a body always has room. */
  readonly small?: number
}

/** `marked` bytes had arrived at `markedAt`, for measuring the speed. */
type Held = { readonly bytes: number; readonly at: number; marked: number; markedAt: number }
type Waiting = { readonly body: ArrivingBody; readonly since: number; readonly respond: (hasRoom: boolean) => void }

/** Shorter than the platform's timeout of a connection whose body makes no progress. */
const PATIENCE = 20_000
const STALL = 2_000
/** Milliseconds in which a whole body must arrive while others wait. */
const WHOLE = 60_000
const SMALL = 64 * 1024
/** Minimum number of checks during `patience` and during `stall`. */
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
  /** Least recently received first. */
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

  /** Lets waiting bodies in, in order. A body that waits only for its own caller's share does not block others. */
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
