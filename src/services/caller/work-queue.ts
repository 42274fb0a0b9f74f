/**
 * A fair queue for work that takes long or much memory, such as reading a whole model or schema. Work with the same id runs one
 * at a time; large work runs up to a limit, for different accounts. The account whose work ran longest ago is next. Waiters
 * poll, because Workers share no promise between requests and drop requests of disconnected clients.
 */
import { ServiceError } from '../../core/error.ts'
import { pause } from '../../ports/clock.ts'

export type WorkQueue = {
  /** Runs `work` when no other work of its id runs; throws 503 after waiting too long. `work` itself must not queue. */
  run<Result>(of: QueuedWork, work: () => Promise<Result>): Promise<Result>
}

/**
 * `id` names an account in a workspace, a workspace, or a source. `by` is the account that the work is for, or the owner of
 * that account.
 */
export type QueuedWork = { readonly id: string; readonly by?: string; readonly isLarge: boolean }

/** Milliseconds between two polls. */
const LOOK = 10
/** Milliseconds between two heartbeats of running work. */
const SIGN = 200
/** Milliseconds without a heartbeat after which work counts as lost. */
const LOST = 10_000

/**
 * Limits, by default none: `mostLarge` works run at a time, `mostOfAccount` works of one account wait for the same id, and each
 * waits `patience` milliseconds. `lost` are the milliseconds without a heartbeat after which work counts as lost.
 */
export type WorkQueueDeps = {
  readonly mostLarge?: number
  readonly mostOfAccount?: number
  readonly patience?: number
  readonly lost?: number
}

type Queued = QueuedWork & { seen: number }

/** Accounts whose last run is remembered. */
const MOST_KNOWN = 10_000

export function createWorkQueue(deps: WorkQueueDeps): WorkQueue {
  const any = Number.POSITIVE_INFINITY
  const { mostLarge = any, mostOfAccount = any, patience = any, lost = LOST } = deps
  const isLost = ({ seen }: Queued) => performance.now() - seen > lost
  const going = new Map<string, Queued>()
  /** In order of arrival. */
  const waiting = new Set<Queued>()
  /** When work of each account last ran. */
  const wentOn = new Map<string, number>()

  function hasRoom(own: Queued): boolean {
    own.seen = performance.now()
    // Checked first because it is cheap: hundreds of waiters may poll.
    if (!isAble(own)) return false
    for (const one of waiting) if (isLost(one)) waiting.delete(one)
    return (nextBeside(own) ?? own) === own
  }

  /** True if `own` could run now. An account has one large work at a time, since its source may never answer. */
  function isAble({ id, by, isLarge }: Queued): boolean {
    const before = going.get(id)
    if (before !== undefined && !isLost(before)) return false
    const large = isLarge ? [...going.values()].filter((one) => one.isLarge && !isLost(one)) : []
    return large.length < mostLarge && (by === undefined || large.every((one) => one.by !== by))
  }

  /** Of the waiters that compete with `own`, returns the one whose account's work ran longest ago. */
  function nextBeside(own: Queued): Queued | undefined {
    let next: Queued | undefined
    for (const one of waiting) {
      const isSame = one.id === own.id || (one.isLarge && own.isLarge && isAble(one))
      if (isSame && (next === undefined || since(one) < since(next))) next = one
    }
    return next
  }

  const since = ({ by = '' }: Queued) => wentOn.get(by) ?? 0

  async function wait(own: Queued): Promise<void> {
    const until = performance.now() + patience
    // Counts waiters of disconnected clients, too.
    const others = own.by === undefined ? [] : [...waiting].filter(({ id, by }) => id === own.id && by === own.by)
    if (others.length >= mostOfAccount) throw late()
    waiting.add(own)
    try {
      while (!hasRoom(own)) {
        if (performance.now() >= until) throw late()
        await pause(LOOK)
        // A waiter that was delayed for long may have been removed as lost.
        waiting.add(own)
      }
    } finally {
      waiting.delete(own)
    }
  }

  return {
    async run(of, work) {
      const own: Queued = { ...of, seen: 0 }
      if (!hasRoom(own)) await wait(own)
      for (const one of going.values()) if (isLost(one)) going.delete(one.id)
      going.set(own.id, own)
      if (wentOn.size >= MOST_KNOWN) wentOn.clear()
      wentOn.set(own.by ?? '', performance.now())
      const timer = setInterval(() => {
        own.seen = performance.now()
      }, SIGN)
      try {
        return await work()
      } finally {
        clearInterval(timer)
        if (going.get(own.id) === own) going.delete(own.id)
      }
    },
  }
}

/** Loads that many requests need at once, such as the model after a change. */
export type Loads = {
  /**
   * Returns the result of `find`, or otherwise of `make`. Calls of the same id wait while one of them runs `make`, and then use
   * `find`. Throws 503 after waiting too long.
   */
  load<Found>(id: string, found: Findable<Found>): Promise<Found>
}

export type Findable<Found> = { readonly find: () => Found | undefined; readonly make: () => Promise<Found> }

/** True if `make` may take minutes: then other requests wait as long. */
export type LoadsDeps = { readonly isLong: boolean }

/** Milliseconds. A lost request delays others only briefly, because loading twice does no harm. */
const SHORT = { patience: 30_000, lost: 1_000 }

export function createLoads(deps: LoadsDeps): Loads {
  const queue = createWorkQueue(deps.isLong ? {} : SHORT)
  return {
    // A result that exists already is returned without queueing.
    load: async (id, { find, make }) => find() ?? queue.run({ id, isLarge: false }, async () => find() ?? make()),
  }
}

function late(): ServiceError {
  const message = 'Too much of this is going on at once, try again later'
  return new ServiceError('unavailable', message, { meta: { retryAfter: 5 } })
}
