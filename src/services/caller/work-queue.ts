/**
 * Work that takes long or much memory, such as what is made of all of a model or of the schema of a database, waits in a queue: one
 * goes on of a workspace, and of the large ones some at all. Whoever waits looks again and again, since Workers share no promise
 * between requests, and drop those whose client has gone.
 */
import { ServiceError } from '../../core/error.ts'
import type { Model } from '../../core/model/model.ts'
import { pause } from '../../ports.ts'

export type WorkQueue = {
  /** Does `work` when nothing else goes on for its workspace; throws 503 where that takes too long. `work` itself queues nothing. */
  run<Result>(of: QueuedWork, work: () => Promise<Result>): Promise<Result>
}

export type QueuedWork = { readonly workspaceId: string; readonly isLarge: boolean }

/** A model of more fields is large. */
const LARGE = 5_000
/** Milliseconds between two looks. */
const LOOK = 10
/** Milliseconds between two signs that work goes on. */
const SIGN = 200
/** Milliseconds without a sign after which it does not any more. */
const LOST = 2_000

/** `mostLarge` go on at a time, and `patience` are the milliseconds that one waits; by default any number. */
export type WorkQueueDeps = { readonly mostLarge?: number; readonly patience?: number }

type Going = { readonly isLarge: boolean; seen: number }

export function createWorkQueue(deps: WorkQueueDeps): WorkQueue {
  const { mostLarge = Number.POSITIVE_INFINITY, patience = Number.POSITIVE_INFINITY } = deps
  /** By workspace. */
  const all = new Map<string, Going>()

  function hasRoom({ workspaceId, isLarge }: QueuedWork): boolean {
    const now = performance.now()
    for (const [id, { seen }] of all) if (now - seen > LOST) all.delete(id)
    if (all.has(workspaceId)) return false
    return !isLarge || [...all.values()].filter((one) => one.isLarge).length < mostLarge
  }

  return {
    async run(of, work) {
      const until = performance.now() + patience
      while (!hasRoom(of)) {
        if (performance.now() >= until) throw late()
        await pause(LOOK)
      }
      const own: Going = { isLarge: of.isLarge, seen: performance.now() }
      all.set(of.workspaceId, own)
      const timer = setInterval(() => {
        own.seen = performance.now()
      }, SIGN)
      try {
        return await work()
      } finally {
        clearInterval(timer)
        if (all.get(of.workspaceId) === own) all.delete(of.workspaceId)
      }
    },
  }
}

/** Queues `work`, which makes something of all of a model. */
export function ofWholeModel<Result>(
  queue: WorkQueue,
  { workspaceId, model }: { readonly workspaceId: string; readonly model: Model },
  work: () => Promise<Result>,
): Promise<Result> {
  return queue.run({ workspaceId, isLarge: model.records.primitiveFields.length > LARGE }, work)
}

function late(): ServiceError {
  const message = 'Too much of the model is read or compared at once, try again later'
  return new ServiceError('unavailable', message, { meta: { retryAfter: 5 } })
}
