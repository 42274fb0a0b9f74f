/** Schemas for the arguments of tools, with their error messages. */
import * as z from 'zod'
import { operationKinds } from '../../src/core/plan/batch/operation.ts'
import { CHARACTERS, MOST_CHARACTERS } from '../http/idempotency-key.ts'

/** Error texts of schemas: the expected value, or that the argument is missing. */
export function must(be: string) {
  return {
    error: ({ input }: { readonly input: unknown }) => (input === undefined ? 'must be given' : `must be ${be}`),
  }
}

/** Like `must`, for arguments that agents often send as JSON text. */
export function mustHold(be: string) {
  return {
    error: ({ input }: { readonly input: unknown }) =>
      input === undefined
        ? 'must be given'
        : `must be ${be}${typeof input === 'string' ? '; the text is not JSON of one' : ''}`,
  }
}

export const text = () => z.string(must('a text'))
export const count = () => z.int(must('an integer')).optional()

export const collection = text().describe('API name, as read_schema lists it.')
export const fields = z
  .union([text(), z.array(text())], must('a list of texts'))
  .optional()
  .describe(
    'Returned: names, `*`, `_etag`, paths into relations such as `author.name`. All primitive fields if absent.',
  )
export const filter = z
  .record(z.string(), z.unknown(), mustHold('an object'))
  .describe('Such as {"status": {"_eq": "open"}}, {"_or": [{…}, {…}]}, {"author": {"name": {"_contains": "A"}}}.')
export const key = z
  .union([z.string(), z.number(), z.record(z.string(), z.unknown())], must('a text, a number or an object'))
  .describe('The primary key; of several fields an object of them, such as {"room": "hall", "place": 1}.')
export const ifMatch = z
  .union([text(), z.array(text())], must('a text or a list of texts'))
  .optional()
  .describe('The `_etag` of the item as read, or several; nothing happens where it has none of them.')
export const idempotencyKey = z
  .string(must('a text'))
  .max(MOST_CHARACTERS, `must have at most ${MOST_CHARACTERS} characters`)
  .regex(CHARACTERS, 'must be one text of visible characters')
  .optional()
  .describe(
    'A new text of your own, such as a UUID. The same call sent again with it is done once, and answered as it was.',
  )
export const item = z.record(z.string(), z.unknown(), mustHold('an object'))
export const newItem = item.describe(
  'A member for each field. A relation to one takes {"_connect": {"key": {"id": 1}}} for an item that is there, or ' +
    '{"_create": {"data": {…}}} for a new one; a relation to many takes a list of {"_connect": {"keys": [{"id": 1}]}} and ' +
    '{"_create": {"data": [{…}]}}. A key names the primary key or the fields of a unique index. What is created can hold ' +
    'the same in turn.',
)
export const changedItem = item.describe(
  'The fields to change; others stay. A number takes {"_increment": -1}, too, a list {"_append": […]} or {"_remove": […]}. ' +
    'A relation takes a list of operations: {"_connect": {"key": {"id": 1}}}, ' +
    '{"_create": {"data": {…}}}, {"_update": {"data": {…}}}, {"_disconnect": {}} or {"_delete": {}} where it is to one; ' +
    '{"_connect": {"keys": [{"id": 1}]}}, {"_create": {"data": [{…}]}}, {"_update": {"filter": {…}, "data": {…}}}, ' +
    '{"_disconnect": {"filter": {…}}} or {"_delete": {"filter": {…}}} where it is to many. The error ' +
    'names what a relation takes.',
)
export const operation = z
  .looseObject({
    kind: z.enum(operationKinds),
    collection,
    as: text().optional(),
  })
  .describe(
    'Other members: of create `data`, a list; of update `data` with `key` or `filter`, or a list of items with their keys; of ' +
      'upsert `data`, a list, and `conflict`; of delete `key` or `filter`; of read `key`, or `filter`, `sort`, `limit`, `offset`, `after`, `before` and `meta`; of each `fields`. As in the tools for one operation.',
  )
/** Options of a sort term; other members name fields of a to-one relation, which the use case parses. */
export const sortOptions = z.looseObject(
  {
    direction: z.enum(['asc', 'desc'], must('asc or desc')).optional(),
    nulls: z.enum(['first', 'last'], must('first or last')).optional(),
  },
  must('an object such as {"direction": "desc"}'),
)

export const metaNames = ['totalCount', 'cursor'] as const
export const metaTexts = [...metaNames, 'totalCount,cursor'] as const
export const cursor = () => z.string(must('a cursor')).optional()

export const listMeta = z.strictObject({
  totalCount: z.int().optional(),
  next: z.string().nullable().optional(),
  previous: z.string().nullable().optional(),
})

export const allow = z
  .array(z.literal('drop', must('drop')), must('a list'))
  .optional()
  .describe('["drop"] where collections or fields may be deleted with their data.')
export const model = z
  .record(z.string(), z.unknown(), mustHold('an object'))
  .describe('A whole model file, as read_model answers it: what is not in it is deleted.')
