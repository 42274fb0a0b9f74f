/**
 * The tools: their input and output, their effect on data, and the use case that each runs. The published schemas are
 * those that parse the arguments.
 */
import * as z from 'zod'
import { migrationSchema } from '../../src/core/migration/operation.ts'
import type { AgentTool, AgentTools } from '../../src/services/documents/agents.ts'
import { readArguments } from './arguments.ts'

export type Tool = {
  readonly title: string
  readonly description: string
  /** The published schema of the arguments. */
  readonly input: z.ZodType
  /** The type of `data` in the structured answer. */
  readonly output: z.ZodType
  /** The type of `meta`, where it was requested. */
  readonly meta?: z.ZodType
  readonly hints: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
  }
  /** Runs the tool. Throws 422 for arguments that `input` rejects. */
  readonly run: (tools: AgentTools, sent: unknown) => Promise<ToolAnswer>
}

/** `data` is JSON text; `total` is present where `meta` requested it. */
export type ToolAnswer = { readonly data: string; readonly total?: number | undefined }

/** Error texts of schemas: the expected value, or that the argument is missing. */
function must(be: string) {
  return {
    error: ({ input }: { readonly input: unknown }) => (input === undefined ? 'must be given' : `must be ${be}`),
  }
}

/** Like `must`, for arguments that agents often send as JSON text. */
function mustHold(be: string) {
  return {
    error: ({ input }: { readonly input: unknown }) =>
      input === undefined
        ? 'must be given'
        : `must be ${be}${typeof input === 'string' ? '; the text is not JSON of one' : ''}`,
  }
}

const text = () => z.string(must('a text'))
const count = () => z.int(must('an integer')).optional()

const collection = text().describe('API name of the collection, as read_schema lists it.')
const fields = z
  .union([text(), z.array(text())], must('a list of texts'))
  .optional()
  .describe(
    'What is returned: names, `*`, and paths into relations such as `author.name`. All primitive fields if absent. ' +
      'Limits multiply along a path: ask for small pages of nested lists.',
  )
const filter = z
  .record(z.string(), z.unknown(), mustHold('an object'))
  .describe('Such as {"status": {"_eq": "open"}}, {"_or": [{…}, {…}]}, {"author": {"name": {"_contains": "A"}}}.')
const key = z
  .union([z.string(), z.number(), z.record(z.string(), z.unknown())], must('a text, a number or an object'))
  .describe('The primary key; of several fields an object of them, such as {"room": "hall", "place": 1}.')
const item = z.record(z.string(), z.unknown(), mustHold('an object'))
const newItem = item.describe(
  'A member for each field. A relation to one takes {"_connect": {"key": {"id": 1}}} for an item that is there, or ' +
    '{"_create": {"data": {…}}} for a new one; a relation to many takes a list of {"_connect": {"keys": [{"id": 1}]}} and ' +
    '{"_create": {"data": [{…}]}}. A key names the primary key or the fields of a unique index. What is created can hold ' +
    'the same in turn.',
)
const changedItem = item.describe(
  'The fields to change; others stay. A relation takes a list of operations: {"_connect": {"key": {"id": 1}}}, ' +
    '{"_create": {"data": {…}}}, {"_update": {"data": {…}}}, {"_disconnect": {}} or {"_delete": {}} where it is to one; ' +
    '{"_connect": {"keys": [{"id": 1}]}}, {"_create": {"data": [{…}]}}, {"_update": {"filter": {…}, "data": {…}}}, ' +
    '{"_disconnect": {"filter": {…}}} or {"_delete": {"filter": {…}}} where it is to many. What a relation takes depends ' +
    'on whether its foreign key may be null; the error names what it takes.',
)
const sortOptions = z.strictObject(
  {
    direction: z.enum(['asc', 'desc'], must('asc or desc')).optional(),
    nulls: z.enum(['first', 'last'], must('first or last')).optional(),
  },
  must('an object such as {"direction": "desc"}'),
)

const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }

export const tools: Readonly<Record<AgentTool, Tool>> = {
  list_items: tool({
    title: 'List items',
    description: 'Reads items of a collection, with filter, sort and paging, and items that are related to them.',
    hints: reading,
    input: z.strictObject({
      collection,
      fields,
      filter: filter.optional(),
      sort: z
        .array(z.record(z.string(), sortOptions, mustHold('an object')), mustHold('a list of objects'))
        .optional()
        .describe('Such as [{"title": {"direction": "desc"}}].'),
      limit: count().describe('100 if absent.'),
      offset: count(),
      meta: z.literal('totalCount', must('totalCount')).optional().describe('Also counts all items that match.'),
      deep: item.optional().describe('Arguments of relations in fields: {"comments": {"_limit": 5, "_filter": {…}}}.'),
    }),
    output: z.array(item),
    meta: z.strictObject({ totalCount: z.int() }),
    run: (agent, { collection: name, ...query }) => agent.listItems(name, query),
  }),
  create_items: tool({
    title: 'Create items',
    description:
      'Creates all of the items or none and returns them. Related items are connected or created with them, see data.',
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    input: z.strictObject({ collection, data: z.array(newItem, mustHold('a list of objects')), fields }),
    output: z.array(item),
    run: async (agent, { collection: name, data, ...query }) => ({ data: await agent.createItems(name, data, query) }),
  }),
  update_item: tool({
    title: 'Change an item',
    description:
      'Changes the fields that are given of the one item with this key, and returns it. Related items are connected, ' +
      'created, changed, disconnected or deleted with it, see data.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({ collection, key, data: changedItem, fields }),
    output: item,
    run: async (agent, { collection: name, key: of, data, ...query }) => ({
      data: await agent.updateItem({ collection: name, key: of }, data, query),
    }),
  }),
  delete_item: tool({
    title: 'Delete an item',
    description: 'Deletes the one item with this key. This cannot be undone.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({ collection, key }),
    output: z.strictObject({ deleted: z.literal(true) }),
    async run(agent, { collection: name, key: of }) {
      await agent.deleteItem(name, of)
      return { data: '{"deleted":true}' }
    },
  }),
  read_schema: tool({
    title: 'Read the data model',
    description:
      'Lists the collections that you may use, with fields, relations and the actions that you may do; of many collections ' +
      'only the names. Ask for one by name. A field with `actions` takes only those. A collection with `serves` can be ' +
      'asked for no more than that says.',
    hints: reading,
    input: z.strictObject({ collection: collection.optional() }),
    output: z.strictObject({
      collections: z.array(z.looseObject({ apiName: z.string(), actions: z.array(z.string()) })),
    }),
    run: async (agent, { collection: name }) => ({ data: JSON.stringify(await agent.readSchema(name)) }),
  }),
  read_data_sources: tool({
    title: 'List data sources',
    description: 'Lists the data sources of the workspace and their namespaces.',
    hints: reading,
    input: z.strictObject({}),
    output: z.strictObject({
      sources: z.array(z.looseObject({ id: z.string(), apiName: z.string(), provider: z.string() })),
    }),
    run: async (agent) => ({ data: JSON.stringify(await agent.readDataSources()) }),
  }),
  mutate_schema: tool({
    title: 'Change the data model',
    description:
      'Runs a migration: all operations or none. New things get ids that you make (UUIDs). Deleting a collection or field ' +
      'deletes its data. With dryRun it only returns the statements.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    input: z.strictObject({ operations: z.unknown(), dryRun: z.boolean(must('true or false')).optional() }),
    // The use case parses the operations itself, with faults that name their path.
    published: migrationSchema().extend({ dryRun: z.boolean().optional() }),
    output: z.looseObject({ applied: z.boolean() }),
    async run(agent, { operations, dryRun = false }) {
      if (dryRun) {
        return { data: JSON.stringify({ applied: false, ...(await agent.previewMigration(operations)) }) }
      }
      await agent.migrate(operations)
      return { data: '{"applied":true}' }
    },
  }),
}

type Sketch<Input extends z.ZodType> = Omit<Tool, 'run' | 'input'> & {
  readonly input: Input
  /** A more precise schema than `input`, to publish. */
  readonly published?: z.ZodType
  readonly run: (tools: AgentTools, read: z.infer<Input>) => Promise<ToolAnswer>
}

function tool<Input extends z.ZodType>({ input, published = input, run, ...rest }: Sketch<Input>): Tool {
  return { ...rest, input: published, run: (agent, sent) => run(agent, readArguments(input, sent)) }
}
