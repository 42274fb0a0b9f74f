/**
 * A digest of the reader's rights as far as a document depends on them: equal for all who see the same of a model.
 */

import type { Entitlement } from '../../core/access/entitlement.ts'
import type { PolicyContent } from '../../core/access/policy.ts'
import { hasEntitlement, type Rights } from '../../core/access/principal.ts'
import { sha256Hex } from '../caller/digest.ts'

/** Cached, because policies may be long and belong to many callers. */
const digests = new WeakMap<PolicyContent, string>()

/** The user id matters only as present or absent. */
export async function rightsKey(rights: Rights): Promise<string> {
  return JSON.stringify(await partsOf(rights))
}

async function partsOf(rights: Rights): Promise<unknown> {
  if (rights.kind === 'all') return 'all'
  if (rights.kind === 'scoped') {
    const collections =
      rights.collections && [...rights.collections].map(([id, actions]) => [id, ...[...actions].sort()])
    // Entitlements of a scope that the rights do not include have no effect.
    const held = (one: Entitlement) => hasEntitlement(rights.rights, one)
    const entitlements = rights.entitlements && [...rights.entitlements].filter(held).sort()
    return [
      await partsOf(rights.rights),
      entitlements,
      collections?.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)),
      rights.within && (await partsOf(rights.within)),
    ]
  }
  const { userId, policies, entitlements } = rights
  return [userId === undefined, await Promise.all(policies.map(digestOf)), [...entitlements].sort()]
}

async function digestOf(policy: PolicyContent): Promise<string> {
  const known = digests.get(policy) ?? (await sha256Hex(JSON.stringify(policy)))
  digests.set(policy, known)
  return known
}
