/** Changes of roles and policies by a file: checks delegation (docs/contract.md#delegation), and builds the statements. */

import { comparedFields, policyReferences } from '../../../core/access/policy.ts'
import { readsPolicies } from '../../../core/access/principal.ts'
import { ServiceError } from '../../../core/error.ts'
import type { Side } from '../../../core/file/access/changes.ts'
import type { PolicyRecord } from '../../../core/file/access/records.ts'
import { renameOrder } from '../../../core/file/rename-order.ts'
import { invalidOperation, MIGRATION_FAILED } from '../../../core/migration/fault.ts'
import type { Operation } from '../../../core/migration/operation.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import { deletePolicy, insertPolicy, updatePolicy, writesWithinBytes } from '../../../store/policies.ts'
import { type RightsVersion, type TakeTerms, takeRights } from '../../../store/rights.ts'
import { deleteRole, insertRole, loadPoliciesBeside, updateRole } from '../../../store/roles.ts'
import type { WorkspaceRow } from '../../../store/workspaces.ts'
import type { RequestScope } from '../../caller/callers.ts'
import type { Work } from '../../model/migration-work.ts'
import { assertFree, assertUnused, comparedFault, type Impact, impactOf, requireHeld } from '../../model/policy-use.ts'
import { requireGrantable, requireRevocable, requireRolesChangeable } from '../delegation.ts'
import type { RightsPlan } from '../outline.ts'
import type { ModelFileDeps } from './deps.ts'

export type AccessChange = { readonly before: Side; readonly after: Side }

/** Throws 403 if the caller would grant or revoke rights that the caller does not hold. */
export async function requireAllowed(
  { ports, loadGrantor }: Pick<ModelFileDeps, 'ports' | 'loadGrantor'>,
  { caller, workspace }: RequestScope,
  { before: { access: was }, after: { access: is } }: AccessChange,
): Promise<void> {
  const grantor = await loadGrantor(caller, workspace)
  if (grantor.kind === 'everything') return
  const [policiesBefore, policies] = [byId(was.policies), byId(is.policies)]
  const contents = (of: ReadonlyMap<string, PolicyRecord>, ids: readonly string[]) =>
    ids.flatMap((id) => of.get(id) ?? [])
  for (const policy of was.policies) if (policies.get(policy.id) !== policy) await requireRevocable(grantor, [policy])
  for (const policy of is.policies)
    if (policiesBefore.get(policy.id) !== policy) await requireGrantable(grantor, [policy])
  const [rolesBefore, roles] = [byId(was.roles), byId(is.roles)]
  for (const role of was.roles) {
    const next = roles.get(role.id)
    if (next === role) continue
    await requireRevocable(grantor, contents(policiesBefore, role.policyIds))
    if (next !== undefined) continue
    await requireRolesChangeable(grantor, [{ policies: await loadPoliciesBeside(ports.database, role.id) }])
  }
  for (const role of is.roles) {
    const old = rolesBefore.get(role.id)
    const added = role.policyIds.filter((id) => old?.policyIds.includes(id) !== true)
    await requireGrantable(grantor, contents(policies, added))
  }
}

/** The change of existing policies and roles by a file. */
export function rightsPlanOf({ before: { access: was }, after: { access: is } }: AccessChange): RightsPlan {
  const [policies, roles] = [byId(is.policies), byId(is.roles)]
  return {
    policies: Object.fromEntries(was.policies.map(({ id }) => [id, policies.get(id) ?? null])),
    roles: Object.fromEntries(
      was.roles.map(({ id }) => {
        const role = roles.get(id)
        return [id, role === undefined ? null : { policies: role.policyIds }]
      }),
    ),
  }
}

type Planned = {
  readonly access: AccessChange | undefined
  readonly work: Pick<Work, 'before' | 'records'>
  readonly operations: readonly Operation[]
}

/** Throws if a policy of the new state names what the new model lacks, or compares what the change alters. */
export async function requireUnused(
  { ports }: Pick<ModelFileDeps, 'ports'>,
  { workspace, rights }: Pick<RequestScope, 'workspace' | 'rights'>,
  { access, work, operations }: Planned,
): Promise<Impact> {
  const impact = impactOf({ before: work.before, after: work.records, operations }, rights)
  if (access === undefined) {
    await assertUnused(ports.database, workspace.id, impact)
    return impact
  }
  requireUnnamed(access.after, impact)
  requireHeld(impact)
  await assertFree(ports.database, workspace.id, impact)
  return impact
}

function requireUnnamed({ access }: Side, impact: Impact): void {
  const { lost, affected, rights } = impact
  for (const { name, content } of access.policies) {
    const { collectionIds, fieldIds } = policyReferences(content)
    const used = [...collectionIds, ...fieldIds].find((id) => lost.has(id))
    if (used !== undefined) {
      const use = `${lost.get(used)} is used by ${readsPolicies(rights) ? `the policy ${name}` : 'a policy'}`
      throw new ServiceError('unfit', MIGRATION_FAILED, { cause: invalidOperation('usedByPolicy', use) })
    }
    const compared =
      affected.size === 0 ? undefined : [...comparedFields(content), ...collectionIds].find((id) => affected.has(id))
    if (compared !== undefined) throw comparedFault(compared, name, impact)
  }
}

/** Statements for the batch that saves the model; it fails if rights have changed since `version` (`takeRights`). */
export function accessStatements(
  { license }: Pick<ModelFileDeps, 'license'>,
  workspace: WorkspaceRow,
  {
    access: { before, after },
    version,
    terms,
  }: {
    readonly access: AccessChange
    readonly version: RightsVersion
    readonly terms: TakeTerms
  },
): readonly Statement[] {
  const [was, is] = [before.access, after.access]
  const policies = differences(was.policies, is.policies)
  const roles = differences(was.roles, is.roles)
  if (policies.isSame && roles.isSame) return []
  const save = (policy: PolicyRecord) => {
    const { collectionIds, fieldIds } = policyReferences(policy.content)
    const uses = [...new Set([...collectionIds, ...fieldIds])]
    return policies.isNew(policy) ? insertPolicy(workspace.id, policy, uses) : updatePolicy(policy, uses)
  }
  const writes = [
    ...roles.gone.map(({ id }) => deleteRole(id)),
    ...policies.gone.map(({ id }) => deletePolicy(id)),
    ...policies.aside.flatMap(({ item, name }) => updatePolicy({ ...item, name }, [])),
    ...policies.changed.flatMap(save),
    ...roles.aside.flatMap(({ item, name }) =>
      updateRole(item.id, { name, description: item.description, policies: item.policyIds }),
    ),
    ...roles.changed.flatMap((role) => {
      const { id, name, description, policyIds } = role
      const made = { name, description, policies: policyIds }
      return roles.isNew(role) ? insertRole(workspace.id, id, made) : updateRole(id, made)
    }),
  ]
  const limits = ['custom_policies', 'custom_permission_rules_enabled', 'custom_roles'] as const
  return [
    ...takeRights(version, { workspaceId: workspace.id }, terms),
    ...license.within(limits, workspace.id, writesWithinBytes(workspace.id, writes)),
  ]
}

type Item = { readonly id: string; readonly name: string }

/** `changed` is ordered so that each name is free when it is taken; `aside` are items whose renames form a cycle. */
function differences<T extends Item>(before: readonly T[], after: readonly T[]) {
  const [was, is] = [byId(before), byId(after)]
  const renames = after.flatMap(({ id, name }) => {
    const old = was.get(id)
    return old === undefined ? [] : [{ key: id, from: old.name, to: name }]
  })
  const steps = renameOrder(renames, new Set([...before, ...after].map(({ name }) => name)))
  const turn = new Map(steps.filter(({ isAside }) => !isAside).map(({ key }, at) => [key, at - steps.length]))
  const changed = after.filter((item) => was.get(item.id) !== item)
  return {
    gone: before.filter(({ id }) => !is.has(id)),
    changed: changed.sort((one, other) => (turn.get(one.id) ?? 0) - (turn.get(other.id) ?? 0)),
    aside: steps.flatMap(({ key, to, isAside }) => {
      const item = was.get(key)
      return isAside && item !== undefined ? [{ item, name: to }] : []
    }),
    isNew: ({ id }: Item) => !was.has(id),
    isSame: changed.length === 0 && before.every(({ id }) => is.has(id)),
  }
}

function byId<T extends Item>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]))
}
