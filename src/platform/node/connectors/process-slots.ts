/**
 * Places for the processes of connectors: so many in all, so many of one workspace. Whoever finds none waits in line, bounded in time
 * and length. To make room an idle process is asked to leave, else one of the workspace that has most; whoever has the fewest is let
 * in first. Knows nothing of what a process is.
 */
import { ServiceError } from '../../../core/error.ts'

export type SlotLimits = {
  readonly total: number
  readonly perOwner: number
  /** Milliseconds that somebody may stand in line, and how many of one owner may. */
  readonly waitLimit: number
  readonly queueLimit: number
}

/** What is in a place. */
export type SlotHolder = {
  readonly isIdle: () => boolean
  /** It takes nothing on any more, and frees its place once it has done what it has. */
  readonly evict: () => void
}

export type ProcessSlot = {
  /** Tells that the occupant has become idle. */
  readonly markIdle: () => void
  readonly release: () => void
}

export type ProcessSlots = {
  /** Throws ServiceError `unavailable` where the line is too long, or took too long. */
  take(owner: string, holder: SlotHolder): Promise<ProcessSlot>
}

type Taken = { readonly owner: string; readonly holder: SlotHolder; isEvicted: boolean; lastUse: number }

type Waiting = {
  readonly owner: string
  readonly holder: SlotHolder
  readonly admit: (slot: ProcessSlot) => void
  readonly timer: NodeJS.Timeout
  /** Who leaves for the sake of this one. */
  evicting: Taken | undefined
}

export function createProcessSlots({ total, perOwner, waitLimit, queueLimit }: SlotLimits): ProcessSlots {
  /** The one that was used longest ago comes first. */
  const taken = new Set<Taken>()
  const queue = new Set<Waiting>()
  let uses = 0

  const countOf = (owner: string) => [...taken].filter((one) => one.owner === owner).length
  const mayEnter = (owner: string) => taken.size < total && countOf(owner) < perOwner

  function occupy(owner: string, holder: SlotHolder): ProcessSlot {
    const slot: Taken = { owner, holder, isEvicted: false, lastUse: uses++ }
    taken.add(slot)
    return {
      markIdle() {
        slot.lastUse = uses++
        if (queue.size > 0) settle()
      },
      release() {
        if (taken.delete(slot)) settle()
      },
    }
  }

  /** Lets in whoever can be, and finds somebody to leave for each of the others. */
  function settle(): void {
    for (let next = first(); next !== undefined; next = first()) {
      queue.delete(next)
      clearTimeout(next.timer)
      next.admit(occupy(next.owner, next.holder))
    }
    for (const waiting of queue) {
      if (waiting.evicting !== undefined && taken.has(waiting.evicting)) continue
      waiting.evicting = leaverFor(waiting.owner)
      if (waiting.evicting === undefined) continue
      waiting.evicting.isEvicted = true
      waiting.evicting.holder.evict()
    }
  }

  /** Of those who can enter, the one whose workspace has the fewest places; among them, who came first. */
  function first(): Waiting | undefined {
    let best: Waiting | undefined
    for (const waiting of queue) {
      if (mayEnter(waiting.owner) && (best === undefined || countOf(waiting.owner) < countOf(best.owner)))
        best = waiting
    }
    return best
  }

  /** Busy ones leave only for an owner that has fewer, even after that. */
  function leaverFor(owner: string): Taken | undefined {
    const own = countOf(owner)
    const isFull = own >= perOwner
    const staying = [...taken].filter((one) => !one.isEvicted && (!isFull || one.owner === owner))
    const idle = staying.filter(({ holder }) => holder.isIdle())
    const candidates = idle.length > 0 ? idle : isFull ? [] : staying.filter((one) => countOf(one.owner) > own + 1)
    return candidates.sort((one, other) => countOf(other.owner) - countOf(one.owner) || one.lastUse - other.lastUse)[0]
  }

  return {
    take(owner, holder) {
      if (queue.size === 0 && mayEnter(owner)) return Promise.resolve(occupy(owner, holder))
      if ([...queue].filter((one) => one.owner === owner).length >= queueLimit) return Promise.reject(noPlace())
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          queue.delete(waiting)
          reject(noPlace())
        }, waitLimit).unref()
        const waiting: Waiting = { owner, holder, admit: resolve, timer, evicting: undefined }
        queue.add(waiting)
        settle()
      })
    },
  }
}

function noPlace(): ServiceError {
  return new ServiceError('unavailable', 'Too many data connectors are running. Try again later')
}
