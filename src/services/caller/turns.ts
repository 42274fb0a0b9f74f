/**
 * Work that takes much memory, such as what is made of all of a model or of the schema of a database, goes on in turns: one of a
 * workspace, and some at all. Whoever waits looks again and again, since Workers share no promise between requests, and drop
 * those whose client has gone.
 */
import { ServiceError } from '../../core/error.ts'
import type { Model } from '../../core/model/model.ts'
import { pause } from '../../ports.ts'

/** A model of more fields is large. */
const LARGE = 5_000

export type Turns = {
  /** Does `work` when it is the workspace's turn; throws 503 where that does not come in time. `work` takes no turn itself. */
  take<Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result>
}

/** Milliseconds between two looks. */
const LOOK = 10
/** Milliseconds between two signs that whoever has a turn is still there. */
const SIGN = 200
/** Milliseconds without a sign after which another one has it. */
const LOST = 2_000

/** `atOnce` are the workspaces that have a turn, and `patience` the milliseconds that one waits; by default any number. */
export type TurnsDeps = { readonly atOnce?: number; readonly patience?: number }

export function createTurns(deps: TurnsDeps): Turns {
  const { atOnce = Number.POSITIVE_INFINITY, patience = Number.POSITIVE_INFINITY } = deps
  /** By workspace; when whoever has its turn was last there. */
  const going = new Map<string, { seen: number }>()

  function isFree(workspaceId: string): boolean {
    const now = performance.now()
    for (const [id, { seen }] of going) if (now - seen > LOST) going.delete(id)
    return going.size < atOnce && !going.has(workspaceId)
  }

  return {
    async take(workspaceId, work) {
      const until = performance.now() + patience
      while (!isFree(workspaceId)) {
        if (performance.now() >= until) throw late()
        await pause(LOOK)
      }
      const own = { seen: performance.now() }
      going.set(workspaceId, own)
      const timer = setInterval(() => {
        own.seen = performance.now()
      }, SIGN)
      try {
        return await work()
      } finally {
        clearInterval(timer)
        if (going.get(workspaceId) === own) going.delete(workspaceId)
      }
    },
  }
}

/** Does `work`, which makes something of all of a model: in turn where that is large. */
export function ofWholeModel<Result>(
  turns: Turns,
  { workspaceId, model }: { readonly workspaceId: string; readonly model: Model },
  work: () => Promise<Result>,
): Promise<Result> {
  return model.records.primitiveFields.length > LARGE ? turns.take(workspaceId, work) : work()
}

function late(): ServiceError {
  const message = 'Too much is made of large models and schemas at once, try again later'
  return new ServiceError('unavailable', message, { meta: { retryAfter: 5 } })
}
