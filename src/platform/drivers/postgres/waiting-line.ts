/** Statements that no reader has room for wait in the order of their calls, but for those that only others of their kind wait for. */
import type { SqlFault } from '../../../core/sql/fault.ts'
import { isFirst, type PendingStatement } from './reader.ts'
import type { Refusal } from './shares.ts'

/** `offer` passes a statement on, or says why it waits. */
export function startLine(offer: (pending: PendingStatement) => Refusal | undefined) {
  let waiting: PendingStatement[] = []

  /** Passes on what can be, beyond those whose account or share has used up its readers, or that wait for a reader of their own. */
  function handOut(): void {
    if (waiting.length === 0) return
    /** Accounts in their shares, of what has to be first, and of the rest. */
    const usedUp = { first: new Set<string>(), rest: new Set<string>() }
    let isBusy = false
    for (let place = 0; place < waiting.length; ) {
      const pending = waiting[place] as PendingStatement
      const { share, account } = pending.context
      const key = `${share} ${account}`
      const alike = isFirst(pending) ? usedUp.first : usedUp.rest
      const waits = alike.has(key) || (isBusy && !pending.isRead)
      const refusal = waits ? undefined : offer(pending)
      if (refusal === 'used-up') alike.add(key)
      else if (refusal === 'no-room' && pending.isRead) return
      else if (refusal === 'no-room') isBusy = true
      if (waits || refusal !== undefined) place += 1
      else waiting.splice(place, 1)
    }
  }

  return {
    handOut,
    isEmpty: () => waiting.length === 0,

    join(pending: PendingStatement): void {
      if (waiting.length === 0 && offer(pending) === undefined) return
      // If no other statement waits, `offer` has just found no room.
      if (waiting.push(pending) > 1) handOut()
    },

    /** Ends the wait of those that `reason` has a fault for. */
    end(reason: (pending: PendingStatement) => SqlFault | undefined): void {
      waiting = waiting.filter((pending) => {
        const fault = reason(pending)
        if (fault !== undefined) pending.reject(fault)
        return fault === undefined
      })
    },
  }
}
