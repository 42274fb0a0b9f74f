/**
 * Policies of a workspace (docs/contract.md#policies). A policy is saved under the model that it was validated against; what it
 * names cannot be deleted while it exists (model/policy-use.ts).
 */

import { type Grantor, namesVisibleTo } from '../../core/access/delegation.ts'
import { namesOf, type PolicyContent, parsePolicy, policyReferences, presentPolicy } from '../../core/access/policy.ts'
import { hasEntitlement, requireEntitlement } from '../../core/access/principal.ts'
import { type UncheckedWrite, uncheckedWrites } from '../../core/access/unchecked-writes.ts'
import { auditChanges } from '../../core/audit-changes.ts'
import { parseJson } from '../../core/exact-json.ts'
import type { Model } from '../../core/model/model.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import {
  deletePolicy,
  insertPolicy,
  loadPolicies,
  type PolicyRow,
  updatePolicy,
  writesWithinBytes,
} from '../../store/policies.ts'
import { lockModelVersion } from '../../store/rights.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import { type Directory, type LazyBody, notFound, rowScopeOf, type SavedItem } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/held-license.ts'
import type { ModelCache } from '../model/model-cache.ts'
import type { AccessTests, TestsIn } from './access-tests.ts'
import { grantRefused, type LoadGrantor, loadCurrentModel, requireGrantable, requireRevocable } from './delegation.ts'
import { changeRights } from './rights-changes.ts'

export type NewPolicy = { readonly name: string; readonly description: string | null; readonly content: unknown }
export type PolicyChange = {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  /** Undefined keeps the content. */
  readonly content?: unknown
}

/**
 * Answers are JSON texts. Bodies are parsed only after authorization. Reads require the entitlement
 * workspaceMembers:read, changes workspaceMembers:edit (403); an unknown id throws 404 (docs/contract.md#policies).
 */
export type Policies = {
  list(scope: RequestScope, query: LazyBody<ReadQuery>): Promise<ListAnswer>
  read(scope: RequestScope, id: string, query: LazyBody<ReadQuery>): Promise<string>
  /**
   * Returns warnings about writes that bypass the policy's checks, for callers who may read the model. Throws 403 for content
   * beyond the caller's rights, 409 for a taken name, 422 for invalid content, 402 over the license limit.
   */
  create(scope: RequestScope, policy: LazyBody<NewPolicy>): Promise<SavedItem>
  /** Like `create`. Throws 403 if the caller could not revoke the previous content, 409 if an access test would fail. */
  update(scope: RequestScope, id: string, change: LazyBody<PolicyChange>, tests: TestsIn): Promise<SavedItem>
  /** Throws 403 if the caller could not revoke the policy. */
  delete(scope: RequestScope, id: string, tests: TestsIn): Promise<void>
}

const rules = 'custom_permission_rules_enabled'
const TAKEN = 'A policy of this name already exists'

export type PoliciesDeps = {
  readonly ports: Ports
  readonly directory: Directory
  readonly models: ModelCache
  readonly license: LicenseGuard
  readonly loadGrantor: LoadGrantor
  readonly accessTests: Pick<AccessTests, 'keep'>
}

export function createPolicies(deps: PoliciesDeps): Policies {
  const { ports, directory, models, license, loadGrantor, accessTests } = deps
  const { database, ids } = ports

  const currentModel = (workspace: WorkspaceRow) => loadCurrentModel(database, models, workspace)

  /** Loads what the decision about a change depends on. */
  async function loadFacts({ workspace, caller }: RequestScope, id: string) {
    const [policy] = await loadPolicies(database, workspace.id, [id])
    return {
      policy: policy ?? notFound('policies'),
      grantor: await loadGrantor(caller, workspace),
      model: await currentModel(workspace),
    }
  }

  async function read(scope: RequestScope, id: string, query?: ReadQuery): Promise<string> {
    const item = await directory.read('policies', rowScopeOf(scope), id, query)
    return shown(item, await models.load(scope.workspace, scope.snapshot.modelVersion))
  }

  return {
    async list(scope, query) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      const answer = await directory.list('policies', rowScopeOf(scope), await query())
      const model = await models.load(scope.workspace, scope.snapshot.modelVersion)
      return { ...answer, data: shown(answer.data, model) }
    },

    async read(scope, id, query) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      return read(scope, id, await query())
    },

    async create(scope, sent) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      const input = await sent()
      const id = ids.next()
      let warnings: readonly UncheckedWrite[] = []
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: async () => ({ grantor: await loadGrantor(caller, workspace), model: await currentModel(workspace) }),
        decide: async ({ grantor, model }) => {
          const content = contentBy(grantor, input.content, model)
          await requireGrantable(grantor, [{ content }])
          warnings = warningsFor(scope, content, model)
          const payload = auditPayload({ name: input.name }, { ...input, content }, model)
          return [
            lockModelVersion(workspace.id, model.version),
            ...license.within(
              ['custom_policies', rules],
              workspace.id,
              writesWithinBytes(workspace.id, insertPolicy(workspace.id, { ...input, id, content }, usesOf(content))),
            ),
            recordWorkspaceEvent(ids, scope, { action: 'policy.create.v1', target: { type: 'policy', id }, payload }),
          ]
        },
        taken: TAKEN,
      })
      return { item: await read(scope, id), warnings }
    },

    async update(scope, id, sent, tests) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      const change = await sent()
      let warnings: readonly UncheckedWrite[] = []
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: () => loadFacts(scope, id),
        decide: async ({ policy, grantor, model }) => {
          await requireRevocable(grantor, [policy])
          const { name = policy.name, description = policy.description } = change
          const content = change.content === undefined ? policy.content : contentBy(grantor, change.content, model)
          await requireGrantable(grantor, [{ content }])
          await accessTests.keep(scope, { policies: { [id]: { content } } }, tests)
          warnings = change.content === undefined ? [] : warningsFor(scope, content, model)
          const payload = auditPayload(policy, { name, description, content }, model)
          return [
            lockModelVersion(workspace.id, model.version),
            ...license.within(
              [rules],
              workspace.id,
              writesWithinBytes(workspace.id, updatePolicy({ id, name, description, content }, usesOf(content))),
            ),
            recordWorkspaceEvent(ids, scope, { action: 'policy.update.v1', target: { type: 'policy', id }, payload }),
          ]
        },
        taken: TAKEN,
      })
      return { item: await read(scope, id), warnings }
    },

    async delete(scope, id, tests) {
      const { workspace, rights, caller } = scope
      requireEntitlement(rights, 'workspaceMembers:edit')
      await changeRights(ports, workspace.id, {
        caller,
        reach: 'workspace',
        load: () => loadFacts(scope, id),
        decide: async ({ policy, grantor, model }) => {
          await requireRevocable(grantor, [policy])
          await accessTests.keep(scope, { policies: { [id]: null } }, tests)
          const payload = auditPayload(policy, { name: policy.name }, model)
          return [
            deletePolicy(id),
            recordWorkspaceEvent(ids, scope, { action: 'policy.delete.v1', target: { type: 'policy', id }, payload }),
          ]
        },
      })
    },
  }
}

/** Parses content. Limited grantors get one error for hidden and unknown names, which so reveals nothing to them. */
export function contentBy(grantor: Grantor, content: unknown, model: Model): PolicyContent {
  try {
    return parsePolicy(content, model)
  } catch (fault) {
    if (grantor.kind === 'everything') throw fault
    parsePolicy(content, model, namesVisibleTo(grantor, namesOf(model), grantRefused))
    throw grantRefused()
  }
}

function warningsFor({ rights }: RequestScope, content: PolicyContent, { records }: Model): readonly UncheckedWrite[] {
  return hasEntitlement(rights, 'dataModel:read') ? uncheckedWrites(records, content) : []
}

function usesOf(content: PolicyContent): readonly string[] {
  const { collectionIds, fieldIds } = policyReferences(content)
  return [...new Set([...collectionIds, ...fieldIds])]
}

type AuditedPolicy = { readonly name: string } & Partial<Pick<PolicyRow, 'description' | 'content'>>

/** The payload of an audit entry, with current names; `before` or `after` has only a name if there is no policy. */
function auditPayload(before: AuditedPolicy, after: AuditedPolicy, model: Model) {
  const named = ({ name, description = null, content = nothing }: AuditedPolicy) => ({
    name,
    description,
    content: presentPolicy(content, model),
  })
  const [was, is] = [named(before), named(after)]
  const { entitlements } = is.content
  return {
    name: after.name,
    entitlementsGranted: entitlements.filter((one) => !was.content.entitlements.includes(one)),
    entitlementsRevoked: was.content.entitlements.filter((one) => !entitlements.includes(one)),
    ...auditChanges(was, is),
  }
}

const nothing: PolicyContent = { entitlements: [], collections: {} }

type Item = { readonly content?: PolicyContent }

/** Converts the JSON text of one item or a list: contents get current names. */
function shown(text: string, model: Model): string {
  const named = (item: Item) =>
    item.content === undefined ? item : { ...item, content: presentPolicy(item.content, model) }
  const value = parseJson(text) as Item | readonly Item[]
  return JSON.stringify(isList(value) ? value.map(named) : named(value))
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}
