/**
 * The seven tools of contract 10: what each takes and answers, what it does to data, and the use case that it is. The
 * schemas that are published are those that arguments are read with.
 */
import * as z from 'zod'
import { migrationSchema } from '../../src/core/migration/operation.ts'
import type { AgentTools } from '../../src/services/agents.ts'
import { readArguments } from './arguments.ts'

export type Tool = {
  readonly title: string
  readonly description: string
  /** What callers are told that it takes. */
  readonly input: z.ZodType
  /** What lies under `data` in the structured answer. */
  readonly output: z.ZodType
  readonly hints: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
  }
  /** Arguments → the JSON text of the answer. Throws 422 for arguments that are not of `input`. */
  readonly run: (tools: AgentTools, sent: unknown) => Promise<string>
}

const collection = z.string().describe('API name of the collection, as read_schema tells it.')
const fields = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .describe(
    'What is answered: names, `*`, and paths into relations such as `author.name`. All primitive fields if absent.',
  )
const filter = z
  .record(z.string(), z.unknown())
  .describe('Such as {"status": {"_eq": "open"}}, {"_or": [{…}, {…}]}, {"author": {"name": {"_contains": "A"}}}.')
const key = z.union([z.string(), z.number()]).describe('The primary key.')
const item = z.record(z.string(), z.unknown())
const sortOptions = z.strictObject({
  direction: z.enum(['asc', 'desc']).optional(),
  nulls: z.enum(['first', 'last']).optional(),
})

const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }

export const tools: Readonly<Record<string, Tool>> = {
  list_items: tool({
    title: 'List items',
    description: 'Reads items of a collection, with filter, sort and paging, and items that are related to them.',
    hints: reading,
    input: z.strictObject({
      collection,
      fields,
      filter: filter.optional(),
      sort: z
        .array(z.record(z.string(), sortOptions))
        .optional()
        .describe('Such as [{"title": {"direction": "desc"}}].'),
      limit: z.int().optional().describe('100 if absent.'),
      offset: z.int().optional(),
      deep: item.optional().describe('Arguments of relations in fields: {"comments": {"_limit": 5, "_filter": {…}}}.'),
    }),
    output: z.array(item),
    run: (agent, { collection: name, ...query }) => agent.listItems(name, query),
  }),
  create_items: tool({
    title: 'Create items',
    description: 'Creates all of the items or none, related items included, and answers them.',
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    input: z.strictObject({ collection, data: z.array(item), fields }),
    output: z.array(item),
    run: (agent, { collection: name, data, ...query }) => agent.createItems(name, data, query),
  }),
  update_item: tool({
    title: 'Change an item',
    description: 'Changes the fields that are given of the one item with this key, and answers it.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({ collection, key, data: item, fields }),
    output: item,
    run: (agent, { collection: name, key: of, data, ...query }) =>
      agent.updateItem({ collection: name, key: String(of) }, data, query),
  }),
  delete_item: tool({
    title: 'Delete an item',
    description: 'Deletes the one item with this key. This cannot be undone.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({ collection, key }),
    output: z.strictObject({ deleted: z.literal(true) }),
    async run(agent, { collection: name, key: of }) {
      await agent.deleteItem(name, String(of))
      return '{"deleted":true}'
    },
  }),
  read_schema: tool({
    title: 'Read the data model',
    description:
      'Tells the collections with their fields, relations and ids; of many collections only the names. Ask for one by name. ' +
      'A collection with `serves` can be asked for no more than that says.',
    hints: reading,
    input: z.strictObject({ collection: collection.optional() }),
    output: z.strictObject({ collections: z.array(z.looseObject({ id: z.string(), apiName: z.string() })) }),
    run: async (agent, { collection: name }) => JSON.stringify(await agent.readSchema(name)),
  }),
  read_data_sources: tool({
    title: 'List data sources',
    description: 'Tells the data sources of the workspace and their namespaces.',
    hints: reading,
    input: z.strictObject({}),
    output: z.strictObject({
      sources: z.array(z.looseObject({ id: z.string(), apiName: z.string(), provider: z.string() })),
    }),
    run: async (agent) => JSON.stringify(await agent.readDataSources()),
  }),
  mutate_schema: tool({
    title: 'Change the data model',
    description:
      'Runs a migration: all operations or none. New things get ids that you make (UUIDs). Deleting a collection or field ' +
      'deletes its data. With dryRun it only tells the statements.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    input: z.strictObject({ operations: z.unknown(), dryRun: z.boolean().optional() }),
    // The use case reads the operations itself, with faults that name their place.
    published: migrationSchema().extend({ dryRun: z.boolean().optional() }),
    output: z.looseObject({ applied: z.boolean() }),
    async run(agent, { operations, dryRun = false }) {
      if (dryRun) return JSON.stringify({ applied: false, ...(await agent.previewMigration(operations)) })
      await agent.migrate(operations)
      return '{"applied":true}'
    },
  }),
}

type Sketch<Input extends z.ZodType> = Omit<Tool, 'run' | 'input'> & {
  readonly input: Input
  /** Where more is known of the arguments than `input` says. */
  readonly published?: z.ZodType
  readonly run: (tools: AgentTools, read: z.infer<Input>) => Promise<string>
}

function tool<Input extends z.ZodType>({ input, published = input, run, ...rest }: Sketch<Input>): Tool {
  return { ...rest, input: published, run: (agent, sent) => run(agent, readArguments(input, sent)) }
}
