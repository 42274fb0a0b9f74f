/** Bounds what the bodies of requests that are arriving, or being stored, hold together in memory of the process. */

/** What is held of a body; nothing of one that was given up. */
export type ArrivingBody = {
  readonly chunks: Uint8Array[]
  bytes: number
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
  release(body: ArrivingBody): void
}

export type BodyRoomDeps = {
  /** Bytes of all bodies together, which a single one may exceed. */
  readonly most: number
}

export function createBodyRoom(deps: BodyRoomDeps): BodyRoom {
  const { most } = deps
  /** With what is counted of each, in the order in which something arrived last. */
  const held = new Map<ArrivingBody, number>()
  let total = 0

  function release(body: ArrivingBody): void {
    total -= held.get(body) ?? 0
    held.delete(body)
  }

  function giveUp(body: ArrivingBody): void {
    release(body)
    body.isGivenUp = true
    body.chunks.length = 0
    body.onGivenUp?.()
  }

  return {
    hold(body) {
      release(body)
      held.set(body, body.bytes)
      total += body.bytes
      for (const other of held.keys()) {
        if (total <= most) return
        if (other !== body && other.isComplete !== true) giveUp(other)
      }
      if (total > most && held.size > 1) giveUp(body)
    },
    release,
  }
}
