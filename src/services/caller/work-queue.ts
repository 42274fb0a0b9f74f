/**
 * Work that takes long or much memory, such as what is made of all of a model or of the schema of a database, waits in a queue: one
 * goes on of an account in a workspace, or of whatever else it is about, and of the large ones some at all, each for another account.
 * Whose work went on longest ago goes on next. Whoever waits looks again and again, since Workers share no promise between requests,
 * and drop those whose client has gone.
 */
import { ServiceError } from '../../core/error.ts'
import { pause } from '../../ports/clock.ts'

export type WorkQueue = {
  /** Does `work` when nothing else goes on for its id; throws 503 where that takes too long. `work` itself queues nothing. */
  run<Result>(of: QueuedWork, work: () => Promise<Result>): Promise<Result>
}

/**
 * `id` is of an account in a workspace, of a workspace, or of a source, and `by` of the account it is done for or that owns that one,
 * where it is for one.
 */
export type QueuedWork = { readonly id: string; readonly by?: string; readonly isLarge: boolean }

/** Milliseconds between two looks. */
const LOOK = 10
/** Milliseconds between two signs that work goes on. */
const SIGN = 200
/** Milliseconds without a sign after which it does not any more. */
const LOST = 10_000

/**
 * `mostLarge` go on at a time, `mostOfAccount` wait of one account for the same, and `patience` are the milliseconds that one waits;
 * by default any number. `lost` are the milliseconds without a sign after which work does not go on any more.
 */
export type WorkQueueDeps = {
  readonly mostLarge?: number
  readonly mostOfAccount?: number
  readonly patience?: number
  readonly lost?: number
}

type Queued = QueuedWork & { seen: number }

/** So many accounts are known whose work went on. */
const MOST_KNOWN = 10_000

export function createWorkQueue(deps: WorkQueueDeps): WorkQueue {
  const any = Number.POSITIVE_INFINITY
  const { mostLarge = any, mostOfAccount = any, patience = any, lost = LOST } = deps
  const isLost = ({ seen }: Queued) => performance.now() - seen > lost
  const going = new Map<string, Queued>()
  /** In the order in which they came. */
  const waiting = new Set<Queued>()
  /** When work of an account last went on. */
  const wentOn = new Map<string, number>()

  function hasRoom(own: Queued): boolean {
    own.seen = performance.now()
    // Hundreds may look again and again.
    if (!isAble(own)) return false
    for (const one of waiting) if (isLost(one)) waiting.delete(one)
    return (nextBeside(own) ?? own) === own
  }

  /** A source of one account may be silent: no other large one is behind it. */
  function isAble({ id, by, isLarge }: Queued): boolean {
    const before = going.get(id)
    if (before !== undefined && !isLost(before)) return false
    const large = isLarge ? [...going.values()].filter((one) => one.isLarge && !isLost(one)) : []
    return large.length < mostLarge && (by === undefined || large.every((one) => one.by !== by))
  }

  /** Of those that wait for the same, the one whose work went on longest ago. */
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
    // Those who have left wait, too.
    const others = own.by === undefined ? [] : [...waiting].filter(({ id, by }) => id === own.id && by === own.by)
    if (others.length >= mostOfAccount) throw late()
    waiting.add(own)
    try {
      while (!hasRoom(own)) {
        if (performance.now() >= until) throw late()
        await pause(LOOK)
        // Whoever was held up for long was taken for one that has left.
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

/** What many requests need at once, such as the model behind a change of it. */
export type Loads = {
  /**
   * Returns what `find` finds, or what `make` brings. Whoever comes while another one makes what has this id waits, and finds it.
   * Throws 503 where that takes too long.
   */
  load<Found>(id: string, found: Findable<Found>): Promise<Found>
}

export type Findable<Found> = { readonly find: () => Found | undefined; readonly make: () => Promise<Found> }

/** Whether what is made may take minutes: then others wait for as long. */
export type LoadsDeps = { readonly isLong: boolean }

/** Milliseconds. Who has left does not make others wait for long: to load something twice does no harm. */
const SHORT = { patience: 30_000, lost: 1_000 }

export function createLoads(deps: LoadsDeps): Loads {
  const queue = createWorkQueue(deps.isLong ? {} : SHORT)
  return {
    // What is there already waits for nobody who makes something else of this id.
    load: async (id, { find, make }) => find() ?? queue.run({ id, isLarge: false }, async () => find() ?? make()),
  }
}

function late(): ServiceError {
  const message = 'Too much of this is going on at once, try again later'
  return new ServiceError('unavailable', message, { meta: { retryAfter: 5 } })
}
