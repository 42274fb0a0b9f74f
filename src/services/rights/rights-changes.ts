/**
 * Optimistic locking for every change of rights: reads facts, decides, and writes one batch that fails if rights have changed
 * since the read; then retries. So two concurrent changes never produce a state that neither would have allowed, such as a
 * workspace without an Administrator. All workspaces share the version, so a change never waits while it holds the version.
 */
import { ServiceError } from '../../core/error.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { pause } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import { ofShare } from '../../sources/of-share.ts'
import { isDuplicate, isHeld, isOutOfDate } from '../../store/failed-batch.ts'
import { policiesFault } from '../../store/policies.ts'
import { loadRightsVersion, takeRights } from '../../store/rights.ts'
import { limitFault } from '../../store/usage.ts'
import { type Caller, presentedBy } from '../caller/caller.ts'
import { callerNow } from '../caller/callers.ts'

export type RightsChange<Facts> = {
  /** Makes the change; the batch fails if its credential was withdrawn meanwhile. Undefined if it is proven otherwise. */
  readonly caller: Caller | undefined
  /**
   * Whose rights may change: those of a workspace; those of accounts or all workspaces; or those of one account that no other
   * decision depends on, such as by its password. Changes of such an account's roles call `countRightsIn`.
   */
  readonly reach: 'workspace' | 'instance' | 'account'
  readonly load: () => Promise<Facts>
  /** Returns the statements to run; throws if the change is not allowed. */
  readonly decide: (facts: Facts) => readonly Statement[] | Promise<readonly Statement[]>
  /** The error message for a taken name or address. */
  readonly taken?: string
}

/** Concurrent changes can delay an attempt; in each round at least one succeeds, unless the model is being changed. */
const MAX_ATTEMPTS = 100
/** Attempts that any change of rights ends; later ones fail only by changes they depend on, so that all get through. */
const STRICT_ATTEMPTS = 3
/** Milliseconds between two checks whether a change of the model has ended. */
const LOOK = 100
/** Maximum milliseconds until the second attempt, at random: attempts that start together make each other fail. */
const APART = 50
const MAX_APART = 2_000

/** `subjectId` is the id of the workspace, or other subject, whose cached state is invalidated after the change. */
export async function changeRights<Facts>(
  { database, workspaces }: Pick<Ports, 'database' | 'workspaces'>,
  subjectId: string,
  { caller, reach, load, decide, taken }: RightsChange<Facts>,
): Promise<void> {
  const own = ofShare(database, subjectId)
  const by = caller && presentedBy(caller)
  const place = reach === 'workspace' ? { workspaceId: subjectId } : reach === 'account' ? { accountId: subjectId } : {}
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const version = await loadRightsVersion(database, place)
    const statements = await decide(await load())
    const terms = { isStrict: attempt < STRICT_ATTEMPTS, by }
    try {
      await own.batch([...takeRights(version, place, terms), ...statements])
      return await workspaces.changed(subjectId)
    } catch (cause) {
      if (taken !== undefined && isDuplicate(cause)) throw new ServiceError('conflict', taken)
      if (isHeld(cause)) await pause(LOOK)
      else if (isOutOfDate(cause)) await pause(Math.min(APART * 2 ** attempt, MAX_APART) * Math.random())
      else throw limitFault(cause) ?? policiesFault(cause) ?? cause
      if (caller !== undefined) await callerNow(database, caller)
    }
  }
  throw new ServiceError('unavailable', 'Too many concurrent changes of rights; try again')
}
