/**
 * The tools: input, output, effect on data, and use case. The published schemas are those that parse the arguments.
 */
import * as z from 'zod'
import type { RawNumbers } from '../../src/core/exact-json.ts'
import { migrationSchema } from '../../src/core/migration/operation.ts'
import { MAX_OPERATIONS } from '../../src/core/plan/batch/operation.ts'
import type { ListAnswer, ListMeta } from '../../src/services/data/items.ts'
import type { OnceKey } from '../../src/services/data/planned.ts'
import type { AgentTool, AgentTools } from '../../src/services/documents/agents.ts'
import { LONGEST_LINK, linkLifetime } from '../routes/assets.ts'
import { fault, readArguments } from './arguments.ts'
import {
  allow,
  changedItem,
  collection,
  count,
  cursor,
  fields,
  filter,
  idempotencyKey,
  ifMatch,
  item,
  key,
  listMeta,
  metaNames,
  metaTexts,
  model,
  must,
  mustHold,
  newItem,
  operation,
  sortOptions,
  text,
} from './inputs.ts'

export type Tool = {
  readonly title: string
  readonly description: string
  /** The published schema of the arguments. */
  readonly input: z.ZodType
  /** The type of `data` in the structured answer. */
  readonly output: z.ZodType
  /** The type of `meta`, if requested. */
  readonly meta?: z.ZodType
  /** True if the tool takes an `idempotencyKey`. */
  readonly isKeyed?: true
  readonly hints: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
  }
  /** Runs the tool. Throws 422 for arguments that `input` rejects. */
  readonly run: (tools: AgentTools, sent: unknown, numbers: RawNumbers) => Promise<ToolAnswer>
}

/**
 * `data` is JSON text. The others are present if `meta` requested them, `metas` for operations of a batch, and `replayed` for
 * the answer of an earlier call with the same key.
 */
export type ToolAnswer = Partial<ListAnswer> & {
  readonly data: string
  readonly metas?: readonly (ListMeta | undefined)[]
  readonly replayed?: true
}

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
        .describe('Such as [{"title": {"direction": "desc"}}], through a to-one relation [{"author": {"name": {}}}].'),
      limit: count().describe('100 if absent.'),
      offset: count(),
      after: cursor().describe('The cursor `next` of the page before; never with offset.'),
      before: cursor().describe('The cursor `previous` of the page behind.'),
      meta: z
        .union([z.enum(metaTexts), z.array(z.enum(metaNames))], must(metaTexts.join(' or ')))
        .optional()
        .describe('totalCount also counts all items that match; cursor tells the pages beside this one.'),
      deep: item
        .optional()
        .describe(
          'Arguments of relations in fields: {"comments": {"_limit": 5, "_filter": {…}}}. Limits multiply along a path: ask ' +
            'for small pages of nested lists. {"comments": {"_aggregate": {"n": {"count": "*"}}}}, as in aggregate_items, ' +
            'works out related items; without fields of theirs, only that.',
        ),
    }),
    output: z.array(item),
    meta: listMeta,
    run: (agent, { collection: name, ...query }) => agent.listItems(name, query),
  }),
  aggregate_items: tool({
    title: 'Aggregate items',
    description: 'Counts, sums and compares items of a collection, by groups or all together.',
    hints: reading,
    input: z.strictObject({
      collection,
      aggregate: item
        .optional()
        .describe(
          'By name a function of a field: {"revenue": {"sum": "total"}, "orders": {"count": "*"}}. Functions: count, ' +
            'countDistinct, sum, avg, min, max.',
        ),
      group: z
        .array(z.union([text(), item], must('a text or an object')), mustHold('a list'))
        .optional()
        .describe(
          'Fields, also behind relations to one, and times cut off: ["customer.country", {"createdAt": {"trunc": ' +
            '"month", "zone": "+02:00", "as": "month"}}]. All items are one group if absent.',
        ),
      filter: filter.optional(),
      having: filter.optional().describe('A filter of groups, by the names of groups and aggregates.'),
      sort: z
        .array(z.record(z.string(), sortOptions, mustHold('an object')), mustHold('a list of objects'))
        .optional()
        .describe('By the names of groups and aggregates, such as [{"revenue": {"direction": "desc"}}].'),
      limit: count().describe('100 groups if absent.'),
      offset: count(),
      meta: z.literal('totalCount', must('totalCount')).optional().describe('Also counts all groups.'),
    }),
    output: z.array(item),
    meta: z.strictObject({ totalCount: z.int() }),
    run: (agent, { collection: name, ...query }) => agent.aggregateItems(name, query),
  }),
  create_items: tool({
    title: 'Create items',
    description:
      'Creates all of the items or none and returns them. Related items are connected or created with them, see data.',
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    input: z.strictObject({
      collection,
      data: z.array(newItem, mustHold('a list of objects')),
      conflict: z
        .strictObject(
          {
            fields: z.array(text(), must('a list of texts')),
            do: z.enum(['update', 'ignore'], must('update or ignore')),
          },
          mustHold('an object'),
        )
        .optional()
        .describe('Items that are there already, by the fields of a unique index, are changed or left as they are.'),
      fields,
      idempotencyKey,
    }),
    output: z.array(item),
    isKeyed: true,
    run: (agent, { data, idempotencyKey: under, ...request }) =>
      writtenOnce(under, ['create_items', request], (once) => {
        const { collection: name, ...query } = request
        return agent.createItems({ collection: name, once }, data, query)
      }),
  }),
  update_item: tool({
    title: 'Change an item',
    description:
      'Changes the fields that are given of the one item with this key, and returns it. Related items are connected, ' +
      'created, changed, disconnected or deleted with it, see data.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({ collection, key, data: changedItem, fields, ifMatch, idempotencyKey }),
    output: item,
    isKeyed: true,
    run: (agent, { data, idempotencyKey: under, ...request }) =>
      writtenOnce(under, ['update_item', request], (once) => {
        const { collection: name, key: of, ifMatch: tags, ...query } = request
        return agent.updateItem({ collection: name, key: of, tags: listOf(tags), once }, data, query)
      }),
  }),
  delete_item: tool({
    title: 'Delete an item',
    description: 'Deletes the one item with this key. This cannot be undone.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({ collection, key, ifMatch, idempotencyKey }),
    output: z.strictObject({ deleted: z.literal(true) }),
    isKeyed: true,
    run: (agent, { idempotencyKey: under, ...request }) =>
      writtenOnce(under, ['delete_item', request], async (once) => {
        const { collection: name, key: of, ifMatch: tags } = request
        await agent.deleteItem({ collection: name, key: of, tags: listOf(tags), once })
        return '{"deleted":true}'
      }),
  }),
  batch_items: tool({
    title: 'Run several operations',
    description:
      'Runs operations in order in one transaction, all or none, on collections of one data source, and answers what each ' +
      'answers. {"$ref": "name[0].id"} in data or as key stands for a value of the earlier operation with that name under ' +
      '`as`, {"$ref": "name.id"} where that has a key. A filter {"_all": true} means all items.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    // The use case parses the operations itself; its errors name the path.
    input: z.strictObject({ operations: z.unknown(), idempotencyKey }),
    published: z.strictObject({ operations: z.array(operation).min(1).max(MAX_OPERATIONS), idempotencyKey }),
    output: z.array(z.union([z.array(item), item, z.null()])),
    isKeyed: true,
    meta: z.array(listMeta.nullable()),
    async run(agent, { operations, idempotencyKey: under }) {
      let metas: ToolAnswer['metas']
      const answer = await writtenOnce(under, ['batch_items', {}], async (once) => {
        const batch = await agent.batchItems(operations, once)
        metas = batch.meta
        return `[${batch.data.join(',')}]`
      })
      return { ...answer, metas }
    },
  }),
  link_file: tool({
    title: 'Link a file',
    description:
      'An address by which anybody reads a file for a while: its content is not in the items of ServiceFile, which list_items reads.',
    hints: reading,
    input: z.strictObject({
      id: z.uuid(must('a UUID')).describe('Of an item of ServiceFile, or of what leads to one.'),
      expiresIn: linkLifetime().optional().describe('Such as "5m"; 1h if absent, and at most.'),
    }),
    output: z.strictObject({ url: z.string(), expiresAt: z.string() }),
    run: async (agent, { id, expiresIn = LONGEST_LINK }) => ({
      data: JSON.stringify(await agent.linkFile(id, expiresIn)),
    }),
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
      'deletes its data, and takes allow. With dryRun it only tells what it would do; then send its `plan`.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    input: z.strictObject({
      operations: z.unknown(),
      plan: z.unknown().optional(),
      dryRun: z.boolean(must('true or false')).optional(),
      allow,
    }),
    // The use case parses operations and plan itself; its errors name the path.
    published: migrationSchema().extend({ dryRun: z.boolean().optional(), allow }),
    output: z.looseObject({ applied: z.boolean() }),
    async run(agent, { operations, plan, dryRun = false, allow: allowed = [] }) {
      if (dryRun) {
        return { data: JSON.stringify({ applied: false, ...(await agent.previewMigration(operations)) }) }
      }
      if (allowed.length === 0) requireKept(operations)
      await agent.migrate({ operations, plan })
      return { data: '{"applied":true}' }
    },
  }),
  read_model: tool({
    title: 'Read the model file',
    description: 'Data model, how it is called and shown, roles and policies: the file that plan_model takes.',
    hints: reading,
    input: z.strictObject({}),
    output: z.looseObject({ version: z.number() }),
    run: async (agent) => ({ data: await agent.readModel() }),
  }),
  plan_model: tool({
    title: 'Plan a model file',
    description:
      'What apply_model would change, the rights gained and lost, and the data destroyed. Its `plan` is for apply_model.',
    hints: reading,
    input: z.strictObject({ model }),
    output: z.looseObject({ plan: z.string() }),
    run: async (agent, sent) => ({ data: JSON.stringify(await agent.planModel(sent)) }),
  }),
  apply_model: tool({
    title: 'Apply a model file',
    description: 'Makes the workspace what the file says, all or nothing, as it was planned.',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    input: z.strictObject({ model, plan: text().describe('From the answer of plan_model.'), allow }),
    output: z.looseObject({ changes: z.array(z.unknown()) }),
    run: async (agent, sent) => ({ data: JSON.stringify(await agent.applyModel(sent)) }),
  }),
}

/** Throws 422 for the first operation that deletes data. Leaves invalid operations to the use case. */
function requireKept(operations: unknown, path = 'operations'): void {
  if (!Array.isArray(operations)) return
  for (const [index, operation] of operations.entries()) {
    const { kind, data } = (operation ?? {}) as {
      readonly kind?: unknown
      readonly data?: { readonly operations?: unknown }
    }
    const place = `${path}[${index}]`
    if (kind === 'deleteCollection' || kind === 'deletePrimitiveField') {
      throw fault(place, `${kind} deletes data: allow must be ["drop"]`)
    }
    if (kind === 'updateCollection') requireKept(data?.operations, `${place}.data.operations`)
  }
}

/** Runs a write once with this idempotency key. `request` identifies the request together with the data. */
async function writtenOnce(
  key: string | undefined,
  request: readonly [tool: AgentTool, input: unknown],
  write: (once: OnceKey | undefined) => Promise<string>,
): Promise<ToolAnswer> {
  if (key === undefined) return { data: await write(undefined) }
  let isReplay = false
  const onReplay = () => {
    isReplay = true
  }
  const data = await write({ key, request: JSON.stringify(request), onReplay, waited: 0 })
  return isReplay ? { data, replayed: true } : { data }
}

function listOf(sent: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof sent === 'string' ? [sent] : sent
}

type Sketch<Input extends z.ZodType> = Omit<Tool, 'run' | 'input'> & {
  readonly input: Input
  /** A more precise schema than `input`, to publish. */
  readonly published?: z.ZodType
  readonly run: (tools: AgentTools, read: z.infer<Input>) => Promise<ToolAnswer>
}

function tool<Input extends z.ZodType>({ input, published = input, run, ...rest }: Sketch<Input>): Tool {
  return { ...rest, input: published, run: (agent, sent, numbers) => run(agent, readArguments(input, sent, numbers)) }
}
