/** Describes `POST /api/{workspace}/items` (docs/contract.md#batches): operations on any collections of the workspace. */
import { MAX_OPERATIONS, type OperationKind, operationKinds } from '../plan/batch/operation.ts'
import { errorResponses } from './answers.ts'
import { itemParameters } from './item-parameters.ts'
import { itemErrors } from './item-paths.ts'
import { component, type JsonSchema } from './schema.ts'

export const batchTag = { name: 'All collections', description: 'Operations on several collections at once.' }

/** The path item; `example` is a collection that the caller may read. */
export function batchPath(example: string): JsonSchema {
  const content = {
    schema: {
      type: 'object',
      properties: {
        operations: {
          type: 'array',
          minItems: 1,
          maxItems: MAX_OPERATIONS,
          items: { oneOf: operationKinds.map(operationOf) },
        },
      },
      required: ['operations'],
      additionalProperties: false,
    },
    example: { operations: [{ kind: 'read', collection: example, limit: 2 }] },
  }
  return {
    post: {
      operationId: 'runBatch',
      summary: 'Run operations on items, all or none',
      description:
        'In order, in one transaction of one data source. `{"$ref": "name.field"}`, or `name[0].field` for an item of a list, ' +
        'stands for a value of the earlier operation that has the name under `as`: a field of its key, or one that relations join by. ' +
        'An error names the index of the operation under `meta.operation`.',
      tags: [batchTag.name],
      parameters: [{ $ref: '#/components/parameters/idempotencyKey' }],
      requestBody: { required: true, content: { 'application/json': content } },
      responses: { 200: answer, ...errorResponses(itemErrors) },
    },
  }
}

const item = { type: 'object', additionalProperties: true }
const items = { type: 'array', items: item }

const answer = {
  description: 'What each operation answers, in order.',
  headers: {
    'Idempotency-Replayed': {
      description: '`true` where an earlier request with this key got it.',
      schema: { type: 'string' },
    },
  },
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          data: { type: 'array', items: { anyOf: [items, item, { type: 'null' }] } },
          meta: {
            type: 'array',
            description: 'In the place of each read with `meta` what it asks for.',
            items: { anyOf: [component('ResponseMeta'), { type: 'null' }] },
          },
        },
        required: ['data'],
        additionalProperties: false,
      },
    },
  },
}

function operationOf(kind: OperationKind): JsonSchema {
  const { properties, required } = ownMembers[kind]
  return {
    type: 'object',
    properties: { kind: { const: kind }, ...common, ...properties },
    required: ['kind', 'collection', ...required],
    additionalProperties: false,
  }
}

const common = {
  collection: { type: 'string' },
  as: { type: 'string', pattern: '^[A-Za-z]\\w{0,63}$', description: 'The name that later operations refer to.' },
  fields: itemParameters.fields.schema,
  deep: { type: 'object', additionalProperties: true },
}

const key = {
  description: 'The primary key, of several fields an object of them. Without it the operation is about many items.',
  anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'object', additionalProperties: true }],
}
const filter = { type: 'object', additionalProperties: true }
const ifMatch = {
  description: 'The `_etag` of the item as it was read, or several.',
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }],
}
const max = { ...itemParameters.max.schema, description: itemParameters.max.description }

const conflict = {
  description: 'Items that are there already, by the fields of a unique index, are changed or left as they are.',
  type: 'object',
  properties: {
    fields: { type: 'array', items: { type: 'string' }, minItems: 1 },
    do: { type: 'string', enum: ['update', 'ignore'] },
  },
  required: ['fields', 'do'],
  additionalProperties: false,
}

/** The values of `meta` in a batch: neither an estimate nor a tag, which are of a list alone. */
const metaValues = ['totalCount', 'cursor']
const meta = {
  description: 'Adds the number of all items that match, the cursors of the pages beside this one, or both.',
  anyOf: [
    { type: 'string', enum: [...metaValues, metaValues.join()] },
    { type: 'array', items: { type: 'string', enum: metaValues } },
  ],
}

type Members = { readonly properties: JsonSchema; readonly required: readonly string[] }

const ownMembers: Readonly<Record<OperationKind, Members>> = {
  create: { properties: { data: items }, required: ['data'] },
  update: { properties: { key, ifMatch, filter, max, data: { anyOf: [item, items] } }, required: ['data'] },
  upsert: { properties: { conflict, data: items }, required: ['conflict', 'data'] },
  delete: { properties: { key, ifMatch, filter, max }, required: [] },
  read: {
    properties: {
      key,
      filter,
      sort: { type: 'array', items: { type: 'object', additionalProperties: true } },
      limit: itemParameters.limit.schema,
      offset: itemParameters.offset.schema,
      after: { ...itemParameters.after.schema, description: itemParameters.after.description },
      before: { ...itemParameters.before.schema, description: itemParameters.before.description },
      meta,
    },
    required: [],
  },
}
