/** Builds the path item of the history of a collection's items (docs/contract.md#history) as JSON text. */
import type { Collection } from '../model/model.ts'
import { errorResponses } from './answers.ts'
import { shared } from './item-parameters.ts'
import { keyParameter, type PathContext, readErrors } from './item-paths.ts'
import type { JsonSchema } from './schema.ts'

/** Undefined where nothing is recorded; `isRead`: whether the caller may read single items. */
export function changesPath(context: PathContext, collection: Collection, isRead: boolean): string | undefined {
  const { apiName, hasHistory, key } = collection
  if (!hasHistory || !isRead) return undefined
  return [
    `{"parameters":${JSON.stringify([keyParameter(context, key)])},"get":{"operationId":"changesOf${apiName}"`,
    `,"summary":"Read who changed what of one item of ${apiName}","description":"${DESCRIPTION}","tags":["${apiName}"]`,
    `,"parameters":[${JSON.stringify(limit)},${shared.after},${shared.actAs}],"responses":{"200":${ANSWERED},${readFailures}}}}`,
  ].join('')
}

const DESCRIPTION =
  'The newest first, as far as the caller may read the item now. A deleted item has one for whoever reads all items without a condition.'

const limit: JsonSchema = {
  name: 'limit',
  in: 'query',
  description: 'How many changes at most.',
  schema: { type: 'integer', minimum: 1, maximum: 100, default: 100 },
}

const state: JsonSchema = {
  type: ['object', 'null'],
  description: 'Fields by their names.',
  additionalProperties: true,
}

const ANSWERED = JSON.stringify({
  description: 'The changes, and the cursor of the next page.',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: {
          data: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                at: { type: 'string', format: 'date-time' },
                actor: {
                  type: ['string', 'null'],
                  description: 'The id of who wrote; null for whoever writes beside the service.',
                },
                action: { enum: ['create', 'update', 'delete'] },
                before: state,
                after: state,
              },
              required: ['at', 'action'],
              additionalProperties: false,
            },
          },
          meta: {
            type: 'object',
            properties: { next: { type: ['string', 'null'] } },

            additionalProperties: false,
          },
        },
        required: ['data', 'meta'],
        additionalProperties: false,
      },
    },
  },
})

const readFailures = JSON.stringify(errorResponses(readErrors)).slice(1, -1)
