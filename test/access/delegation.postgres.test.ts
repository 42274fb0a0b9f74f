/** Delegation gives away nothing (docs/decisions/042), by random managers who act at random over HTTP. */
import { describeDelegations } from './support/delegations.ts'

describeDelegations()
