/**
 * The advisory locks taken in PostgreSQL, each held until the end of its transaction (docs/operations.md#locks-and-leases).
 */
import type { WriteQueue } from '../dialect.ts'
import type { Statement } from '../statement.ts'

/** The first key of all our locks; the second says the purpose. */
const OURS = 7310

const purposes = { ownSchema: 1, tables: 2, signingKey: 3, firstUser: 4, writeQueue: 5 } as const

export function takeAdvisoryLock(purpose: keyof typeof purposes): Statement {
  return { text: `select pg_advisory_xact_lock(${OURS}, ${purposes[purpose]})`, params: [] }
}

/** A role's own patience counts. */
const PATIENCE = `select set_config('lock_timeout', '2s', true) where current_setting('lock_timeout') = '0'`

/** Goes on after some seconds without the lock. The patience of the role is that of the statements to come again. */
const WAIT = `do $$
declare
  own text := current_setting('lock_timeout');
begin
  perform set_config('lock_timeout', '5s', true);
  perform pg_advisory_xact_lock(${OURS}, ${purposes.writeQueue});
  perform set_config('lock_timeout', own, true);
exception when lock_not_available then
end $$`

/**
 * PostgreSQL looks for a deadlock when somebody has waited for a second, and finds one at a time: of writes that meet all
 * at once the others are ended before it has found theirs.
 */
export const writeQueue: WriteQueue = {
  take: { text: WAIT, params: [] },
  release: [],
  patience: { text: PATIENCE, params: [] },
}
