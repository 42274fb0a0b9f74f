/** The parameters of items, as the documents name them: those that are the same for all collections. */

/** `components.parameters`. */
export const itemParameters = {
  fields: {
    name: 'fields',
    in: 'query',
    description:
      'What is returned: fields, `*`, and paths into relations such as `author.name` or `comments.*`. ' +
      'The limits of all lists along a path multiply, and each aggregate of a list counts as 100 items: beyond what one read may bring (100,000 items unless configured) it is 422 with code 4014.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 200 },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'How many items at most; 0 and -1 are as many as allowed.',
    schema: { type: 'integer', minimum: -1 },
  },
  offset: {
    name: 'offset',
    in: 'query',
    description: 'How many items to skip.',
    schema: { type: 'integer', minimum: 0, default: 0 },
  },
  after: {
    name: 'after',
    in: 'query',
    description: 'The cursor behind which the page begins, `next` of the page before. Never with `offset`.',
    schema: { type: 'string', minLength: 1 },
  },
  before: {
    name: 'before',
    in: 'query',
    description: 'The cursor before which the page ends, `previous` of the page behind. Never with `offset`.',
    schema: { type: 'string', minLength: 1 },
  },
  meta: {
    name: 'meta',
    in: 'query',
    description: 'Adds the number of all items that match, the cursors of the pages beside this one, or both.',
    schema: {
      type: 'string',
      enum: ['totalCount', 'totalEstimate', 'cursor', 'totalCount,cursor', 'totalEstimate,cursor'],
    },
  },
  max: {
    name: 'max',
    in: 'query',
    description: 'Where more items match, none is written: 422 with code 4013.',
    schema: { type: 'integer', minimum: 1 },
  },
}

/** The headers of items, beside them, and what a tag adds to `meta`. */
export const itemHeaders = {
  meta: {
    ...itemParameters.meta,
    description:
      'Adds the number of all items that match, or the cursors of the pages beside this one; `etag` asks for a tag of the list.',
    schema: metaSchema(itemParameters.meta.schema.enum),
  },
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Tags of the item, of which it has to have one (412 otherwise); `*` for any.',
    schema: { type: 'string' },
    example: '*',
  },
  actAs: {
    name: 'Act-As',
    in: 'header',
    description:
      'Reads as this member or role would, within what the caller may read; recorded. Needs workspaceMembers:read.',
    schema: { type: 'string', pattern: '^(user|role):[0-9a-fA-F-]{36}$' },
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'Tags of answers that the client has: 304 where one of them still holds.',
    schema: { type: 'string' },
    example: '"2jmj7l5rSw0yVb_vlWAYkK"',
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A text of your own for this write: sent again with the same one it is not done twice, and has the same answer.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: '8a0f7a2e-6f0c-4c57-9a53-3d0f5a0b6a1e',
  },
}

/** What `meta` takes, with the tag of a list beside it. */
export function metaSchema(metaValues: readonly string[]) {
  const tagged = metaValues.filter((one) => !one.includes(',')).map((one) => `${one},etag`)
  return { type: 'string', enum: [...metaValues, 'etag', ...tagged] }
}

/** The parameter of a list that tells these. */
export function metaParameter(metaValues: readonly string[]): string {
  if (metaValues.length === itemParameters.meta.schema.enum.length) return shared.meta
  const description = metaValues.includes('cursor') ? itemHeaders.meta.description : COUNTED
  return JSON.stringify({ ...itemParameters.meta, description, schema: metaSchema(metaValues) })
}

const COUNTED = 'Adds the number of all items that match; `etag` asks for a tag of the list.'

export const shared = {
  fields: '{"$ref":"#/components/parameters/fields"}',
  limit: '{"$ref":"#/components/parameters/limit"}',
  offset: '{"$ref":"#/components/parameters/offset"}',
  after: '{"$ref":"#/components/parameters/after"}',
  before: '{"$ref":"#/components/parameters/before"}',
  meta: '{"$ref":"#/components/parameters/meta"}',
  ifMatch: '{"$ref":"#/components/parameters/ifMatch"}',
  actAs: '{"$ref":"#/components/parameters/actAs"}',
  ifNoneMatch: '{"$ref":"#/components/parameters/ifNoneMatch"}',
  idempotencyKey: '{"$ref":"#/components/parameters/idempotencyKey"}',
  max: '{"$ref":"#/components/parameters/max"}',
}
