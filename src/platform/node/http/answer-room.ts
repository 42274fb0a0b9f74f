/**
 * Bounds what the answers of the process hold together in memory until their clients have taken them. Small answers are
 * not reported to it. Where there is no room, clients that take nothing are waited for a moment only.
 */
import type { Socket } from 'node:net'

export type Responding = {
  readonly req: { readonly socket: Socket }
  once(event: 'close', listener: () => void): unknown
}

export type AnswerRoom = {
  /**
   * Counts an answer with `bytes`, in place of what it was counted with before, until it is sent or its connection is
   * closed. Returns false where it does not fit beside the others; it counts nonetheless.
   */
  hold(response: Responding, bytes: number): boolean
  /** Cuts off the answers that have been held for longest, until the others fit beside `response`. */
  makeRoomFor(response: Responding): void
}

type Options = {
  /** Bytes of all answers together. */
  readonly most?: number | undefined
  /** Milliseconds for which a client may take nothing where there is no room. */
  readonly patience?: number
}

const MOST = 256 * 1024 * 1024

export function createAnswerRoom({ most = MOST, patience = 2_000 }: Options = {}): AnswerRoom {
  /** In the order in which they came. */
  const held = new Map<Responding, { bytes: number; isHurried: boolean; readonly release: () => void }>()
  let total = 0

  function enter(response: Responding) {
    const { socket } = response.req
    const release = () => {
      const answer = held.get(response)
      if (answer === undefined) return
      total -= answer.bytes
      held.delete(response)
      socket.off('close', release)
    }
    response.once('close', release)
    // An answer that waits behind another of its connection is never closed itself.
    socket.on('close', release)
    const answer = { bytes: 0, isHurried: false, release }
    held.set(response, answer)
    return answer
  }

  return {
    hold(response, bytes) {
      if (response.req.socket.destroyed) return true
      const answer = held.get(response) ?? enter(response)
      total += bytes - answer.bytes
      answer.bytes = bytes
      if (total <= most) return true
      for (const [{ req }, other] of held) {
        if (!other.isHurried) req.socket.setTimeout(patience)
        other.isHurried = true
      }
      return false
    },

    makeRoomFor(response) {
      for (const [other, { release }] of held) {
        if (total <= most) return
        if (other === response) continue
        release()
        other.req.socket.destroy()
      }
    },
  }
}
