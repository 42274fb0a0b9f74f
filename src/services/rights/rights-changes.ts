/**
 * How every change of rights is made: facts are read, decided on, and written in one batch that fails where rights have
 * changed since the reading; then all of it is done again. So two changes at once never add up to a state that
 * neither of them would have made, such as a workspace without an Administrator.
 */
import { ServiceError } from '../../core/error.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports.ts'
import { bumpAccessFrom, isDuplicate, isOutOfDate, loadAccessVersion } from '../../store/rights.ts'
import { limitFault } from '../../store/usage.ts'

export type RightsChange<Facts> = {
  readonly load: () => Promise<Facts>
  /** The statements to run; throws what forbids the change. */
  readonly decide: (facts: Facts) => readonly Statement[] | Promise<readonly Statement[]>
  /** What to answer where a name or address is taken. */
  readonly taken?: string
}

/** Others may change rights at the same time; each attempt lets at least one of them through. */
const MAX_ATTEMPTS = 100

/** `subjectId` is the workspace, or whatever else the change is about: it is told that rights have changed. */
export async function changeRights<Facts>(
  { database, workspaces }: Ports,
  subjectId: string,
  { load, decide, taken }: RightsChange<Facts>,
): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const version = await loadAccessVersion(database)
    const statements = await decide(await load())
    try {
      await database.batch([bumpAccessFrom(version), ...statements])
      return await workspaces.changed(subjectId)
    } catch (cause) {
      if (taken !== undefined && isDuplicate(cause)) throw new ServiceError('conflict', taken)
      if (!isOutOfDate(cause)) throw limitFault(cause) ?? cause
    }
  }
  throw new ServiceError('unavailable', 'Too many concurrent changes of rights; try again')
}
