/** Whether a change of rights may make access tests fail, by the query string: `?allow=failingTests`. */
import { queryFault } from '../../src/core/query/parse.ts'
import type { TestsIn } from '../../src/services/rights/access-tests.ts'
import { searchWithoutToken } from './credentials.ts'
import type { AppContext } from './request.ts'
import { requireKnownParameters } from './unexpected-input.ts'

export const ALLOW = 'allow'
export const FAILING_TESTS = 'failingTests'

/** Throws 422 for any other parameter or value. */
export function testsIn(c: AppContext): TestsIn {
  requireKnownParameters(c, [ALLOW])
  const allowed = new URLSearchParams(searchWithoutToken(c.req.url)).getAll(ALLOW)
  if (allowed.some((what) => what !== FAILING_TESTS)) throw queryFault(ALLOW, `must be ${FAILING_TESTS}`)
  return { mayFail: allowed.length > 0 }
}
