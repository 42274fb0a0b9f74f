/**
 * Runs every change of rights: reads facts, decides, and writes one batch that fails if rights have changed since the
 * read; then it starts again. Two concurrent changes therefore never produce a state that neither would have allowed,
 * such as a workspace without an Administrator.
 * All workspaces share the version that says so: whoever holds it waits for nobody.
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
  /** Whose change it is: nothing is written by a credential that was withdrawn meanwhile. Undefined where something else proves it. */
  readonly caller: Caller | undefined
  /**
   * Whose rights may change: of a workspace; of accounts, or of all workspaces; or of one account that nothing else is decided on,
   * such as by its password. What gives such an account other roles says so by `countRightsIn`.
   */
  readonly reach: 'workspace' | 'instance' | 'account'
  readonly load: () => Promise<Facts>
  /** Returns the statements to run; throws if the change is not allowed. */
  readonly decide: (facts: Facts) => readonly Statement[] | Promise<readonly Statement[]>
  /** The error message for a name or address that is taken. */
  readonly taken?: string
}

/** Concurrent changes can delay an attempt; in each round at least one succeeds, or the model of the workspace is being changed. */
const MAX_ATTEMPTS = 100
/** Attempts that anything else ends, later ones only what they depend on: by a key of their own all could hold up all. */
const STRICT_ATTEMPTS = 3
/** Milliseconds until it is looked again whether the change of the model has ended. */
const LOOK = 100
/** Milliseconds until the second attempt at most: attempts that all begin at once would end each other, and all but one be in vain. */
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
