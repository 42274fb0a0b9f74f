/**
 * The tools of agents over MCP (docs/contract.md#mcp): the same use cases as over HTTP, with the rights of the key. MCP
 * allows nothing that HTTP does not.
 */
import { hasEntitlement, requireEntitlement } from '../../core/access/principal.ts'
import { nested } from '../../core/error.ts'
import { agentView } from '../../core/manifest/agent-view.ts'
import { FILES } from '../../core/model/file-collection.ts'
import type { Collection } from '../../core/model/model.ts'
import { describeSources } from '../../core/model/overview.ts'
import { didYouMean } from '../../core/nearest.ts'
import { networkOf } from '../../core/network.ts'
import type { AggregateArguments } from '../../core/query/aggregate-query.ts'
import type { JsonArguments } from '../../core/query/parse-json.ts'
import type { AssetFiles } from '../assets/assets.ts'
import { personOf } from '../caller/caller.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { BatchText, Items, ListAnswer } from '../data/items.ts'
import { createViewers } from '../data/plan-cache.ts'
import type { OnceKey } from '../data/planned.ts'
import type { Licensing } from '../license/licensing.ts'
import type { Migrations, Preview } from '../model/migrations.ts'
import type { ModelCache } from '../model/model-cache.ts'
import type { ModelFiles } from '../rights/model-files.ts'
import type { LoadDeclarations } from './declarations.ts'

export type Agents = {
  /** Returns the caller's tools in a workspace; throws 403 without the entitlement ai:mcp. */
  open(scope: RequestScope, requester: Requester): AgentTools
}

export type Requester = {
  /** Base URL of the service. */
  readonly address: string
  /** The client's address. */
  readonly client: string | undefined
  readonly isDisconnected: () => boolean
}

/** The names of the tools. */
export type AgentTool = (typeof agentTools)[number]

export const agentTools = [
  'list_items',
  'aggregate_items',
  'create_items',
  'update_item',
  'delete_item',
  'batch_items',
  'link_file',
  'read_schema',
  'read_data_sources',
  'mutate_schema',
  'read_model',
  'plan_model',
  'apply_model',
] as const

/** The item to write, the entity tags of which it must have one, and the idempotency key. */
export type AgentTarget = {
  readonly collection: string
  readonly key: unknown
  readonly tags: readonly string[] | undefined
  readonly once: OnceKey | undefined
}

/** Each throws the errors of its HTTP counterpart. Items are JSON text; a key is a value, or an object of its fields. */
export type AgentTools = {
  /** The tools that this caller can use with some collection of the workspace. */
  usable(): Promise<ReadonlySet<AgentTool>>
  listItems(collection: string, query: JsonArguments): Promise<ListAnswer>
  aggregateItems(collection: string, query: AggregateArguments): Promise<ListAnswer>
  createItems(target: Pick<AgentTarget, 'collection' | 'once'>, data: unknown, query: JsonArguments): Promise<string>
  updateItem(target: AgentTarget, data: unknown, query: JsonArguments): Promise<string>
  deleteItem(target: AgentTarget): Promise<void>
  /** Runs operations as one transaction. */
  batchItems(operations: unknown, once: OnceKey | undefined): Promise<BatchText>
  /** Creates a URL by which anybody can read the file's current bytes for `lifetime` milliseconds. */
  linkFile(id: string, lifetime: number): Promise<{ readonly url: string; readonly expiresAt: string }>
  /**
   * Describes one collection in full, or lists all collections; a short list has full descriptions. Contains only what this
   * caller may see.
   */
  readSchema(collection: string | undefined): Promise<unknown>
  readDataSources(): Promise<unknown>
  migrate(sent: { readonly operations: unknown; readonly plan?: unknown }): Promise<void>
  previewMigration(operations: unknown): Promise<Preview>
  /** The model file, as JSON text. */
  readModel(): Promise<string>
  planModel(sent: { readonly model: unknown }): Promise<object>
  applyModel(sent: { readonly model: unknown; readonly plan: unknown; readonly allow?: unknown }): Promise<object>
}

/** A list of more collections, or of more fields in total, has names only, to keep the answer short for agents. */
const MAX_DESCRIBED = { collections: 40, fields: 2_000 }

export type AgentsDeps = {
  readonly items: Items
  readonly assetFiles: AssetFiles
  readonly migrations: Migrations
  readonly modelFiles: ModelFiles
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
  readonly licensing: Licensing
}

export function createAgents(deps: AgentsDeps): Agents {
  const { items, assetFiles, migrations, modelFiles, models, declarations, licensing } = deps
  const viewers = createViewers()
  return {
    open(scope, { address, client, isDisconnected }) {
      const { workspace, snapshot, rights } = scope
      const own = { isDisconnected, account: personOf(scope.caller) ?? networkOf(client) }
      requireEntitlement(rights, 'ai:mcp')
      const model = () => models.load(workspace, snapshot.modelVersion)
      const view = async () => {
        const current = await model()
        const viewer = viewers.of(rights, current)
        const files = current.byName.get(FILES)
        const mayReadFiles = files !== undefined && viewer.accessTo(files, 'read').kind !== 'denied'
        return { ...agentView(current, viewer, await declarations(workspace, current)), mayReadFiles }
      }
      /** A locked license blocks items for every protocol. */
      const admitted = async () => licensing.admit(snapshot.licenseVersion)
      return {
        async usable() {
          const { may, mayReadFiles } = await view()
          const needs: Readonly<Record<AgentTool, () => boolean>> = {
            list_items: () => may('read'),
            aggregate_items: () => may('aggregate'),
            create_items: () => may('create'),
            update_item: () => may('update'),
            delete_item: () => may('delete'),
            batch_items: () => may('read') || may('create') || may('update') || may('delete'),
            link_file: () => mayReadFiles,
            read_schema: () => true,
            read_data_sources: () =>
              hasEntitlement(rights, 'dataModel:read') && hasEntitlement(rights, 'dataSource:read'),
            mutate_schema: () => hasEntitlement(rights, 'dataModel:edit'),
            read_model: () => hasEntitlement(rights, 'dataModel:read'),
            plan_model: () => hasEntitlement(rights, 'dataModel:read'),
            apply_model: () => hasEntitlement(rights, 'dataModel:read') && hasEntitlement(rights, 'dataModel:edit'),
          }
          return new Set(agentTools.filter((tool) => needs[tool]()))
        },
        async listItems(collection, query) {
          await admitted()
          return (await items.list(scope, collection, { ...own, sent: query })).answer
        },
        async aggregateItems(collection, query) {
          await admitted()
          return (await items.aggregate(scope, collection, { ...own, sent: query })).answer
        },
        async createItems({ collection, once }, data, query) {
          await admitted()
          return (await items.create(scope, collection, data, { ...own, sent: query, once })).answer
        },
        async updateItem({ collection, key, tags, once }, data, query) {
          await admitted()
          return (
            await items.updateOne(
              scope,
              collection,
              { key: { kind: 'value', value: key }, body: data },
              { ...own, sent: query, tags, once },
            )
          ).answer
        },
        async deleteItem({ collection, key, tags, once }) {
          await admitted()
          const query = { ...own, sent: {}, tags, once }
          await (await items.deleteOne(scope, collection, { kind: 'value', value: key }, query)).answer
        },
        async batchItems(operations, once) {
          await admitted()
          return (await items.batch(scope, { operations }, { ...own, once })).answer
        },
        async linkFile(id, lifetime) {
          await admitted()
          const { path, expiresAt } = await assetFiles.link(scope, id, { lifetime, address: client })
          return { url: `${address}${path}`, expiresAt: new Date(expiresAt).toISOString() }
        },
        async readSchema(name) {
          const { known, find, describe, name: named } = await view()
          if (name === undefined) return { collections: known.map(isLong(known) ? named : describe) }
          const collection = find(name)
          if (collection !== undefined) return { collections: [describe(collection)] }
          const hint = didYouMean(
            name,
            known.map(({ apiName }) => apiName),
          )
          throw nested('notFound', [
            'Failed to read the schema',
            'collection',
            `does not exist, or is hidden from you${hint}`,
          ])
        },
        async readDataSources() {
          requireEntitlement(rights, 'dataModel:read')
          requireEntitlement(rights, 'dataSource:read')
          return { sources: describeSources(await model()) }
        },
        migrate: (sent) => migrations.migrate(scope, JSON.stringify(sent)),
        previewMigration: (operations) => migrations.preview(scope, JSON.stringify({ operations })),
        readModel: () => modelFiles.read(scope, { hasIds: true }),
        planModel: (sent) => modelFiles.plan(scope, JSON.stringify(sent)),
        applyModel: (sent) => modelFiles.apply(scope, JSON.stringify(sent)),
      }
    },
  }
}

function isLong(collections: readonly Collection[]): boolean {
  const fields = collections.reduce((sum, { fields: { size } }) => sum + size, 0)
  return collections.length > MAX_DESCRIBED.collections || fields > MAX_DESCRIBED.fields
}
