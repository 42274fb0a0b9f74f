/**
 * Limits the processes of connectors, in total and per owner (a workspace). If no slot is free, a request queues, with
 * bounded length and time. To free a slot, an idle process is asked to end, otherwise one of the owner with the most
 * slots; of the queued requests, the owner with the fewest slots goes first. Independent of what a process is.
 */
import { ServiceError } from '../../../core/error.ts'

export type SlotLimits = {
  readonly total: number
  readonly perOwner: number
  /** Maximum milliseconds in the queue, and the maximum queued requests of one owner. */
  readonly waitLimit: number
  readonly queueLimit: number
}

/** The process that holds a slot. */
export type SlotHolder = {
  readonly isIdle: () => boolean
  /** Takes no new work, and frees its slot after its current work. */
  readonly evict: () => void
}

export type ProcessSlot = {
  /** Called when the holder becomes idle. */
  readonly markIdle: () => void
  readonly release: () => void
}

export type ProcessSlots = {
  /** Throws ServiceError `unavailable` if the queue is full or the wait times out. */
  take(owner: string, holder: SlotHolder): Promise<ProcessSlot>
}

type Taken = { readonly owner: string; readonly holder: SlotHolder; isEvicted: boolean; lastUse: number }

type Waiting = {
  readonly owner: string
  readonly holder: SlotHolder
  readonly admit: (slot: ProcessSlot) => void
  readonly timer: NodeJS.Timeout
  /** The slot that is being freed for this request. */
  evicting: Taken | undefined
}

export function createProcessSlots({ total, perOwner, waitLimit, queueLimit }: SlotLimits): ProcessSlots {
  /** Least recently used first. */
  const taken = new Set<Taken>()
  const queue = new Set<Waiting>()
  let uses = 0

  const countOf = (owner: string) => [...taken].filter((one) => one.owner === owner).length
  const hasRoom = (owner: string) => taken.size < total && countOf(owner) < perOwner

  function occupy(owner: string, holder: SlotHolder): ProcessSlot {
    const slot: Taken = { owner, holder, isEvicted: false, lastUse: uses++ }
    taken.add(slot)
    return {
      markIdle() {
        slot.lastUse = uses++
        if (queue.size > 0) assignSlots()
      },
      release() {
        if (taken.delete(slot)) assignSlots()
      },
    }
  }

  /** Grants free slots, and chooses a process to end for each of the remaining requests. */
  function assignSlots(): void {
    for (let next = first(); next !== undefined; next = first()) {
      queue.delete(next)
      clearTimeout(next.timer)
      next.admit(occupy(next.owner, next.holder))
    }
    for (const waiting of queue) {
      if (waiting.evicting !== undefined && taken.has(waiting.evicting)) continue
      waiting.evicting = slotToFree(waiting.owner)
      if (waiting.evicting === undefined) continue
      waiting.evicting.isEvicted = true
      waiting.evicting.holder.evict()
    }
  }

  /** Returns the first request that can get a slot, of the owner with the fewest slots. */
  function first(): Waiting | undefined {
    let best: Waiting | undefined
    for (const waiting of queue) {
      if (hasRoom(waiting.owner) && (best === undefined || countOf(waiting.owner) < countOf(best.owner))) best = waiting
    }
    return best
  }

  /** A busy process must end only for an owner that has fewer slots, even after the exchange. */
  function slotToFree(owner: string): Taken | undefined {
    const own = countOf(owner)
    const isFull = own >= perOwner
    const staying = [...taken].filter((one) => !one.isEvicted && (!isFull || one.owner === owner))
    const idle = staying.filter(({ holder }) => holder.isIdle())
    const candidates = idle.length > 0 ? idle : isFull ? [] : staying.filter((one) => countOf(one.owner) > own + 1)
    return candidates.sort((one, other) => countOf(other.owner) - countOf(one.owner) || one.lastUse - other.lastUse)[0]
  }

  return {
    take(owner, holder) {
      if (queue.size === 0 && hasRoom(owner)) return Promise.resolve(occupy(owner, holder))
      if ([...queue].filter((one) => one.owner === owner).length >= queueLimit) return Promise.reject(noSlot())
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          queue.delete(waiting)
          reject(noSlot())
        }, waitLimit).unref()
        const waiting: Waiting = { owner, holder, admit: resolve, timer, evicting: undefined }
        queue.add(waiting)
        assignSlots()
      })
    },
  }
}

function noSlot(): ServiceError {
  return new ServiceError('unavailable', 'Too many data connectors are running. Try again later')
}
