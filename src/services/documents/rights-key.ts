/** What a document depends on of its reader's rights, as a digest: the same for all who see the same of a model. */

import type { Entitlement } from '../../core/access/entitlement.ts'
import type { PolicyContent } from '../../core/access/policy.ts'
import { hasEntitlement, type Rights } from '../../core/access/principal.ts'
import { sha256Hex } from '../caller/digest.ts'

/** Policies may be long, and are those of many. */
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
    // Of what the rights lack, a scope gives nothing.
    const held = (one: Entitlement) => hasEntitlement(rights.rights, one)
    const entitlements = rights.entitlements && [...rights.entitlements].filter(held).sort()
    return [
      await partsOf(rights.rights),
      entitlements,
      collections?.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)),
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
