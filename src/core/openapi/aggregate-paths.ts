/**
 * Builds the path item of a collection's aggregates (docs/contract.md#aggregates) as JSON text. All but the filter is the
 * same for all collections.
 */
import { filterInput } from '../manifest/filter-input.ts'
import { aggregatesInput, canAggregate } from '../manifest/query-schema.ts'
import type { Collection } from '../model/model.ts'
import { truncationUnits } from '../query/aggregate-query.ts'
import { errorResponses } from './answers.ts'
import { filterExample } from './examples.ts'
import { itemParameters } from './item-parameters.ts'
import { itemErrors, type PathContext, readErrors, structured } from './item-paths.ts'
import { component, type JsonSchema } from './schema.ts'

/** Undefined where the caller may not list the collection, or its data source groups nothing. */
export function aggregatePath(context: PathContext, collection: Collection): string | undefined {
  const { interner, schemas } = context
  const { apiName } = collection
  if (!canAggregate(interner, collection)) return undefined
  const aggregates = schemas.of(aggregatesInput(interner), 'sent')
  const filter = {
    schema: schemas.of(filterInput(interner, collection), 'sent'),
    example: filterExample(interner, collection),
  }
  const parameters = [
    structured('aggregate', { schema: aggregates, example: aggregateExample }),
    structured('group', { schema: component('ServiceGroups'), example: [] }),
    structured('filter', filter),
    structured('having', { schema: component('ServiceGroupFilter'), example: {} }),
    structured('sort', { schema: component('ServiceGroupSort'), example: [] }),
    ...plainNames.map((name) => JSON.stringify({ $ref: `#/components/parameters/${name}` })),
  ]
  const properties = {
    aggregate: aggregates,
    group: component('ServiceGroups'),
    filter: filter.schema,
    having: component('ServiceGroupFilter'),
    sort: component('ServiceGroupSort'),
    ...Object.fromEntries(plainNames.map((name) => [name, itemParameters[name].schema])),
  }
  const content = {
    schema: { type: 'object', properties, additionalProperties: false },
    example: { aggregate: aggregateExample, filter: filter.example },
  }
  const tags = `"tags":["${apiName}"]`
  return [
    `{"get":{"operationId":"aggregate${apiName}","summary":"Aggregate items of ${apiName}","description":"${DESCRIPTION}",${tags}`,
    `,"parameters":[${parameters.join()}],"responses":{"200":${ANSWERED},${readFailures}}}`,
    `,"x-query":{"operationId":"queryAggregates${apiName}","summary":"Aggregate items of ${apiName} by a body",${tags}`,
    `,"requestBody":{"required":true,"content":{"application/json":${JSON.stringify(content)}}}`,
    `,"responses":{"200":${ANSWERED},${queryFailures}}}}`,
  ].join('')
}

const DESCRIPTION =
  'One element for each group, sorted by the values of the groups; without `group` one for all items. QUERY takes the parameters as a JSON body, see `x-query`.'

const plainNames = ['limit', 'offset', 'meta'] as const

const aggregateExample = { items: { count: '*' } }

const answer = {
  type: 'object',
  properties: { data: { type: 'array', items: component('ServiceGroup') }, meta: component('ResponseMeta') },
  required: ['data'],
  additionalProperties: false,
}
const ANSWERED = JSON.stringify({
  description: 'The groups.',
  content: { 'application/json': { schema: answer } },
})
const readFailures = JSON.stringify(errorResponses(readErrors)).slice(1, -1)
const queryFailures = JSON.stringify(errorResponses(itemErrors)).slice(1, -1)

/** A value of a group or an aggregate. */
const shown = { type: ['string', 'number', 'boolean', 'null'] }

/** The components that every such path refers to. */
export const aggregateSchemas: Readonly<Record<string, JsonSchema>> = {
  ServiceGroup: {
    type: 'object',
    description: 'The values of the group, and its aggregates by their names.',
    properties: { group: { type: 'object', additionalProperties: shown } },
    required: ['group'],
    additionalProperties: true,
  },
  ServiceGroups: {
    type: 'array',
    description: 'Fields, also behind relations to one as `author.name`.',
    items: {
      oneOf: [
        { type: 'string' },
        {
          type: 'object',
          additionalProperties: {
            type: 'object',
            properties: {
              trunc: { type: 'string', enum: truncationUnits },
              zone: { type: 'string', description: 'Such as `Europe/Berlin` or `+02:00`; UTC if absent.' },
              as: { type: 'string', description: 'The name of the group.' },
            },
            additionalProperties: false,
          },
          minProperties: 1,
          maxProperties: 1,
        },
      ],
    },
    maxItems: 8,
  },
  ServiceGroupFilter: {
    type: 'object',
    description: 'As `filter`, of the names of groups and aggregates.',
    additionalProperties: true,
  },
  ServiceGroupSort: {
    type: 'array',
    description: 'By the names of groups and aggregates.',
    items: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: {
          direction: { type: 'string', enum: ['asc', 'desc'] },
          nulls: { type: 'string', enum: ['first', 'last'] },
        },
        additionalProperties: false,
      },
      minProperties: 1,
      maxProperties: 1,
    },
  },
}
