/**
 * Work that takes long or much memory, such as what is made of all of a model or of the schema of a database, waits in a queue: one
 * goes on of a workspace or whatever else it is about, and of the large ones some at all. Whoever waits looks again and again, since Workers share no promise
 * between requests, and drop those whose client has gone.
 */
import { ServiceError } from '../../core/error.ts'
import type { Model } from '../../core/model/model.ts'
import { pause } from '../../ports.ts'

export type WorkQueue = {
  /** Does `work` when nothing else goes on for its id; throws 503 where that takes too long. `work` itself queues nothing. */
  run<Result>(of: QueuedWork, work: () => Promise<Result>): Promise<Result>
}

/** The id is of a workspace, or of a source. */
export type QueuedWork = { readonly id: string; readonly isLarge: boolean }

/** A model of more fields is large. */
const LARGE = 5_000
/** Milliseconds between two looks. */
const LOOK = 10
/** Milliseconds between two signs that work goes on. */
const SIGN = 200
/** Milliseconds without a sign after which it does not any more. */
const LOST = 10_000

/** `mostLarge` go on at a time, and `patience` are the milliseconds that one waits; by default any number. */
export type WorkQueueDeps = { readonly mostLarge?: number; readonly patience?: number }

type Queued = QueuedWork & { seen: number }

export function createWorkQueue(deps: WorkQueueDeps): WorkQueue {
  const { mostLarge = Number.POSITIVE_INFINITY, patience = Number.POSITIVE_INFINITY } = deps
  const going = new Set<Queued>()
  /** In the order in which they came. */
  const waiting = new Set<Queued>()

  function hasRoom(own: Queued): boolean {
    const now = performance.now()
    own.seen = now
    for (const all of [going, waiting]) for (const one of all) if (now - one.seen > LOST) all.delete(one)
    if (firstOf(own.id, going) !== undefined || (firstOf(own.id, waiting) ?? own) !== own) return false
    return !own.isLarge || [...going].filter((one) => one.isLarge).length < mostLarge
  }

  async function wait(own: Queued): Promise<void> {
    const until = performance.now() + patience
    waiting.add(own)
    try {
      while (!hasRoom(own)) {
        if (performance.now() >= until) throw late()
        await pause(LOOK)
      }
    } finally {
      waiting.delete(own)
    }
  }

  return {
    async run(of, work) {
      const own = { ...of, seen: performance.now() }
      if (!hasRoom(own)) await wait(own)
      going.add(own)
      const timer = setInterval(() => {
        own.seen = performance.now()
      }, SIGN)
      try {
        return await work()
      } finally {
        clearInterval(timer)
        going.delete(own)
      }
    },
  }
}

function firstOf(id: string, all: ReadonlySet<Queued>): Queued | undefined {
  for (const one of all) if (one.id === id) return one
  return undefined
}

/** Queues `work`, which makes something of all of a model. */
export function ofWholeModel<Result>(
  queue: WorkQueue,
  { workspaceId, model }: { readonly workspaceId: string; readonly model: Model },
  work: () => Promise<Result>,
): Promise<Result> {
  return queue.run({ id: workspaceId, isLarge: model.records.primitiveFields.length > LARGE }, work)
}

function late(): ServiceError {
  const message = 'Too much of the model is read or compared at once, try again later'
  return new ServiceError('unavailable', message, { meta: { retryAfter: 5 } })
}
