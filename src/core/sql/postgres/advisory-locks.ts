/**
 * The advisory locks taken in PostgreSQL, each held until the end of its transaction (docs/operations.md#locks-and-leases).
 */
import type { Statement } from '../statement.ts'

/** The first key of all our locks; the second says the purpose. */
const OURS = 7310

const purposes = { ownSchema: 1, tables: 2, signingKey: 3, firstUser: 4 } as const

export function takeAdvisoryLock(purpose: keyof typeof purposes): Statement {
  return { text: `select pg_advisory_xact_lock(${OURS}, ${purposes[purpose]})`, params: [] }
}
