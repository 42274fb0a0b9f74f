/**
 * Schemas of databases are read and compared in turns: one of ten thousands of columns takes a hundred megabytes meanwhile.
 * Workers drop those whose client has gone, so that a turn ends by itself, too.
 */
import { ServiceError } from '../../core/error.ts'
import { pause } from '../../ports.ts'

export type SchemaTurns = {
  /** Does `work` when it is the workspace's turn; throws 503 where that did not come in time, or too many of the workspace wait. */
  take<Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result>
}

/** At a time, each of another workspace. */
const AT_ONCE = 2
/** Of one workspace. */
const MOST_WAITING = 32
/** Milliseconds between two looks, that one waits, and after which whoever has a turn is gone. */
const LOOK = 20
const PATIENCE = 30_000
const GONE = 120_000

export type SchemaTurnsDeps = { readonly patience?: number }

export function createSchemaTurns({ patience = PATIENCE }: SchemaTurnsDeps): SchemaTurns {
  /** By workspace, until when. */
  const going = new Map<string, number>()
  const waiting = new Map<string, readonly number[]>()

  function isFree(workspaceId: string): boolean {
    const now = performance.now()
    for (const [id, until] of going) if (until <= now) going.delete(id)
    return going.size < AT_ONCE && !going.has(workspaceId)
  }

  async function wait(workspaceId: string): Promise<void> {
    const until = performance.now() + patience
    const others = (waiting.get(workspaceId) ?? []).filter((time) => time > performance.now())
    if (others.length >= MOST_WAITING) throw busy()
    waiting.set(workspaceId, [...others, until])
    while (!isFree(workspaceId)) {
      if (performance.now() >= until) throw busy()
      await pause(LOOK)
    }
  }

  function leave(workspaceId: string): void {
    const [, ...others] = waiting.get(workspaceId) ?? []
    if (others.length === 0) waiting.delete(workspaceId)
    else waiting.set(workspaceId, others)
  }

  return {
    async take(workspaceId, work) {
      if (!isFree(workspaceId)) await wait(workspaceId).finally(() => leave(workspaceId))
      const until = performance.now() + GONE
      going.set(workspaceId, until)
      try {
        return await work()
      } finally {
        if (going.get(workspaceId) === until) going.delete(workspaceId)
      }
    },
  }
}

function busy(): ServiceError {
  const meta = { retryAfter: 5 }
  return new ServiceError('unavailable', 'Too many schemas of databases are being read, try again later', { meta })
}
