/**
 * What agents do over MCP (reference facts 7): the same use cases as over HTTP, under the rights of the key that is used.
 * Nothing is allowed here that is not allowed there.
 */
import { requireEntitlement } from '../core/access/principal.ts'
import { describeOffer } from '../core/connector/offer.ts'
import { nested } from '../core/error.ts'
import type { Collection } from '../core/model/model.ts'
import { describeCollection, describeSources, nameCollection } from '../core/model/overview.ts'
import { type JsonArguments, parseItemArguments, parseListArguments } from '../core/query/parse-json.ts'
import type { Entry } from './callers.ts'
import type { LoadDeclarations } from './declarations.ts'
import type { Items } from './items.ts'
import type { Licensing } from './licensing.ts'
import type { Migrations, Preview } from './migrations.ts'
import type { ModelCache } from './model-cache.ts'
import type { AskedQuery } from './prepared-reads.ts'

export type Agents = {
  /** The tools of somebody in a workspace; throws 403 without the entitlement ai:mcp. */
  open(entry: Entry): AgentTools
}

/** Each throws what its counterpart over HTTP throws. Items are answered as JSON text. */
export type AgentTools = {
  listItems(collection: string, query: JsonArguments): Promise<string>
  createItems(collection: string, data: unknown, query: JsonArguments): Promise<string>
  updateItem(
    target: { readonly collection: string; readonly key: string },
    data: unknown,
    query: JsonArguments,
  ): Promise<string>
  deleteItem(collection: string, key: string): Promise<void>
  /** One collection in full, or of all who they are; all in full where they are few. */
  readSchema(collection: string | undefined): Promise<unknown>
  readDataSources(): Promise<unknown>
  migrate(operations: unknown): Promise<void>
  previewMigration(operations: unknown): Promise<Preview>
}

type Deps = {
  readonly items: Items
  readonly migrations: Migrations
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
  readonly licensing: Licensing
}

/** More are only named: an agent reads all of what it is told. */
const MAX_DESCRIBED = 40

export function createAgents({ items, migrations, models, declarations, licensing }: Deps): Agents {
  return {
    open(entry) {
      const { workspace, snapshot, rights } = entry
      requireEntitlement(rights, 'ai:mcp')
      const model = () => models.load(workspace, snapshot.modelVersion)
      /** While the license is locked, items are locked by whatever way one comes. */
      const admitted = async () => licensing.admit(snapshot.licenseVersion)
      return {
        async listItems(collection, query) {
          await admitted()
          return (await items.list(entry, collection, asked(query, parseListArguments))).data
        },
        async createItems(collection, data, query) {
          await admitted()
          return items.create(entry, collection, data, asked(query, parseItemArguments))
        },
        async updateItem({ collection, key }, data, query) {
          await admitted()
          return items.updateOne(entry, collection, { key, body: data }, asked(query, parseItemArguments))
        },
        async deleteItem(collection, key) {
          await admitted()
          await items.deleteOne(entry, collection, key, asked({}, parseItemArguments))
        },
        async readSchema(name) {
          requireEntitlement(rights, 'dataModel:read')
          const current = await model()
          const { collections, byName } = current
          const declared = await declarations(workspace, current)
          const describe = (collection: Collection) => {
            const own = declared(collection)
            return { ...describeCollection(collection), ...(own && { serves: describeOffer(collection, own) }) }
          }
          if (name === undefined) {
            const all = [...collections.values()].filter(({ isSystem }) => !isSystem)
            return { collections: all.map(all.length > MAX_DESCRIBED ? nameCollection : describe) }
          }
          const collection = byName.get(name)
          if (collection !== undefined) return { collections: [describe(collection)] }
          throw nested('notFound', ['Failed to read the schema', `collection ${name.slice(0, 100)} does not exist`])
        },
        async readDataSources() {
          requireEntitlement(rights, 'dataModel:read')
          requireEntitlement(rights, 'dataSource:read')
          return { sources: describeSources(await model()) }
        },
        migrate: (operations) => migrations.migrate(entry, JSON.stringify({ operations })),
        previewMigration: (operations) => migrations.preview(entry, JSON.stringify({ operations })),
      }
    },
  }
}

/** The line break in front keeps it apart from every query string, and the escapes from what is looked for in those. */
function asked(query: JsonArguments, parse: (query: JsonArguments) => ReturnType<AskedQuery['parse']>): AskedQuery {
  return { text: `\n${encodeURIComponent(JSON.stringify(query))}`, parse: () => parse(query), freshness: 'kept' }
}
