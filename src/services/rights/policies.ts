/**
 * Policies of a workspace (docs/contract.md#policies). A policy is written under the model that it was checked against; what
 * it names cannot be deleted as long as it does (model/policy-use.ts).
 */
import { type Giver, knownNames } from '../../core/access/delegation.ts'
import { namesOf, type PolicyContent, parsePolicy, policyUses, showPolicy } from '../../core/access/policy.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import type { Model } from '../../core/model/model.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import type { Ports } from '../../ports.ts'
import type { ListAnswer } from '../../sources/source.ts'
import { deletePolicy, insertPolicy, loadPolicies, type PolicyRow, updatePolicy } from '../../store/policies.ts'
import { holdModel } from '../../store/rights.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { recordIn } from '../caller/audit.ts'
import type { Entry } from '../caller/callers.ts'
import { type Directory, missing, reachOf, type Sent } from '../caller/directory.ts'
import type { LicenseGuard } from '../license/licensing.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { beyondRights, type LoadGiver, loadCurrentModel, requireGivable, requireTakable } from './delegation.ts'
import { changeRights } from './rights-changes.ts'

export type NewPolicy = { readonly name: string; readonly description: string | null; readonly content: unknown }
export type PolicyChange = {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  /** Unchanged where undefined. */
  readonly content?: unknown
}

/** Answers are JSON texts. What is sent is read only once the caller was found to be entitled. */
export type Policies = {
  list(entry: Entry, query: Sent<ReadQuery>): Promise<ListAnswer>
  read(entry: Entry, id: string, query: Sent<ReadQuery>): Promise<string>
  create(entry: Entry, policy: Sent<NewPolicy>): Promise<string>
  update(entry: Entry, id: string, change: Sent<PolicyChange>): Promise<string>
  delete(entry: Entry, id: string): Promise<void>
}

const rules = 'custom_permission_rules_enabled'
const TAKEN = 'A policy of this name exists already'

export type PolicyParts = {
  readonly directory: Directory
  readonly models: ModelCache
  readonly license: LicenseGuard
  readonly loadGiver: LoadGiver
}

export function createPolicies(ports: Ports, { directory, models, license, loadGiver }: PolicyParts): Policies {
  const { database, ids } = ports

  const currentModel = (workspace: WorkspaceRow) => loadCurrentModel(database, models, workspace)

  async function findPolicy(id: string, workspaceId: string): Promise<PolicyRow> {
    const [policy] = await loadPolicies(database, workspaceId, [id])
    return policy ?? missing('policies')
  }

  async function read(entry: Entry, id: string, query?: ReadQuery): Promise<string> {
    const item = await directory.read('policies', reachOf(entry), id, query)
    return shown(item, await models.load(entry.workspace, entry.snapshot.modelVersion))
  }

  return {
    async list(entry, query) {
      requireEntitlement(entry.rights, 'workspaceMembers:read')
      const { data, total } = await directory.list('policies', reachOf(entry), await query())
      return { data: shown(data, await models.load(entry.workspace, entry.snapshot.modelVersion)), total }
    },

    async read(entry, id, query) {
      requireEntitlement(entry.rights, 'workspaceMembers:read')
      return read(entry, id, await query())
    },

    async create(entry, sent) {
      const { workspace, rights, caller } = entry
      requireEntitlement(rights, 'workspaceMembers:edit')
      const wish = await sent()
      const id = ids.next()
      await changeRights(ports, workspace.id, {
        load: async () => ({ giver: await loadGiver(caller, workspace), model: await currentModel(workspace) }),
        decide: ({ giver, model }) => {
          const content = parse(giver, wish.content, model)
          requireGivable(giver, [{ content }])
          const payload = { name: wish.name, ...granting([], content.entitlements) }
          return [
            holdModel(workspace.id, model.version),
            ...license.within(
              ['custom_policies', rules],
              workspace.id,
              insertPolicy(workspace.id, { ...wish, id, content }, usesOf(content)),
            ),
            recordIn(ids, entry, { action: 'policy.create.v1', target: { type: 'policy', id }, payload }),
          ]
        },
        taken: TAKEN,
      })
      return read(entry, id)
    },

    async update(entry, id, sent) {
      const { workspace, rights, caller } = entry
      requireEntitlement(rights, 'workspaceMembers:edit')
      const change = await sent()
      await changeRights(ports, workspace.id, {
        load: async () => ({
          policy: await findPolicy(id, workspace.id),
          giver: await loadGiver(caller, workspace),
          model: await currentModel(workspace),
        }),
        decide: ({ policy, giver, model }) => {
          requireTakable(giver, [policy])
          const { name = policy.name, description = policy.description } = change
          const content = change.content === undefined ? policy.content : parse(giver, change.content, model)
          requireGivable(giver, [{ content }])
          const payload = { name, ...granting(policy.content.entitlements, content.entitlements) }
          return [
            holdModel(workspace.id, model.version),
            ...license.within([rules], workspace.id, updatePolicy({ id, name, description, content }, usesOf(content))),
            recordIn(ids, entry, { action: 'policy.update.v1', target: { type: 'policy', id }, payload }),
          ]
        },
        taken: TAKEN,
      })
      return read(entry, id)
    },

    async delete(entry, id) {
      const { workspace, rights, caller } = entry
      requireEntitlement(rights, 'workspaceMembers:edit')
      await changeRights(ports, workspace.id, {
        load: async () => ({ policy: await findPolicy(id, workspace.id), giver: await loadGiver(caller, workspace) }),
        decide: ({ policy, giver }) => {
          requireTakable(giver, [policy])
          const { name, content } = policy
          const payload = { name, ...granting(content.entitlements, []) }
          return [
            deletePolicy(id),
            recordIn(ids, entry, { action: 'policy.delete.v1', target: { type: 'policy', id }, payload }),
          ]
        },
      })
    },
  }
}

/** Whoever is limited must not learn from a refusal what there is beyond their rights: all of these are one. */
function parse(giver: Giver, content: unknown, model: Model): PolicyContent {
  try {
    return parsePolicy(content, model)
  } catch (fault) {
    if (giver.kind === 'everything') throw fault
    parsePolicy(content, model, knownNames(giver, namesOf(model), beyondRights))
    throw beyondRights()
  }
}

function usesOf(content: PolicyContent): readonly string[] {
  const { collectionIds, fieldIds } = policyUses(content)
  return [...new Set([...collectionIds, ...fieldIds])]
}

function granting(before: readonly string[], after: readonly string[]) {
  return {
    entitlementsGranted: after.filter((entitlement) => !before.includes(entitlement)),
    entitlementsRevoked: before.filter((entitlement) => !after.includes(entitlement)),
  }
}

type Item = { readonly content?: PolicyContent }

/** One item or a list of them as JSON text, with the names of today in their contents. */
function shown(text: string, model: Model): string {
  const named = (item: Item) =>
    item.content === undefined ? item : { ...item, content: showPolicy(item.content, model) }
  const value = JSON.parse(text) as Item | readonly Item[]
  return JSON.stringify(isList(value) ? value.map(named) : named(value))
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}
