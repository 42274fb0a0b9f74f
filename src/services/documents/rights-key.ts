/** What a document depends on of its reader's rights, as text: the same for all who see the same of a model. */
import type { Rights } from '../../core/access/principal.ts'

const known = new WeakMap<Rights, string>()

/** The user id matters only as present or absent. */
export function rightsKey(rights: Rights): string {
  const key = known.get(rights) ?? JSON.stringify(partsOf(rights))
  known.set(rights, key)
  return key
}

function partsOf(rights: Rights): unknown {
  if (rights.kind === 'all') return 'all'
  if (rights.kind === 'scoped') {
    const collections = rights.collections && [...rights.collections].map(([id, actions]) => [id, [...actions]])
    return [rightsKey(rights.rights), rights.entitlements && [...rights.entitlements], collections]
  }
  const { userId, policies, entitlements } = rights
  return [userId === undefined, policies, [...entitlements]]
}
