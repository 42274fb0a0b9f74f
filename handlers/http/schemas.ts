/** Schemas that the bodies, queries and paths of several routes share. */
import * as z from 'zod'
import { durationSchema } from '../../src/config-values.ts'
import { ServiceError } from '../../src/core/error.ts'
import { lazily } from '../../src/core/lazily.ts'
import { lineFault, NO_CONTROL } from '../../src/core/message-text.ts'
import type { ReadQuery } from '../../src/core/query/parse.ts'
import { parseItem, parseList } from '../../src/core/query/raw-query.ts'
import { searchWithoutToken } from './credentials.ts'
import { type AppContext, pathParam } from './request.ts'

/** Text that every database can store. */
export function textSchema(max: number) {
  return z
    .string()
    .max(max, `must have at most ${max} characters`)
    .refine((text) => text.isWellFormed() && !text.includes('\u0000'), 'must be valid text without NUL')
}

/** A text of one line, which may be empty. */
export function lineOf(max: number) {
  return textSchema(max).refine((text) => text.includes('\u0000') || lineFault(text) === undefined, NO_CONTROL)
}

/** A name or label. */
export const lineSchema = lazily(() => lineOf(200))
export const nameSchema = lazily(() => lineSchema().trim().min(1, 'must not be empty'))
export const descriptionSchema = lazily(() => textSchema(2_000).nullable())
export const emailSchema = lazily(() =>
  z.email('must be an e-mail address').max(320, 'must have at most 320 characters'),
)

/** A new password. */
export const passwordSchema = lazily(() =>
  z
    .string()
    .min(10, 'must have at least 10 characters')
    .refine((text) => new TextEncoder().encode(text).length <= 256, 'must have at most 256 bytes'),
)

/** A list of ids without duplicates. */
export const idsSchema = lazily(() =>
  z
    .array(z.uuid('must be a UUID').toLowerCase())
    .max(200, 'must have at most 200 entries')
    .transform((ids) => [...new Set(ids)]),
)

const CENTURY = 100 * 365 * 86_400_000

/** A duration from now. */
export const lifetimeSchema = lazily(() =>
  durationSchema().refine((length) => length > 0 && length <= CENTURY, 'must be positive and at most 100 years'),
)

/** Returns the id in the path; throws 404 for text that is not an id. */
export function idOf(c: AppContext, what: string): string {
  const result = z.uuid().safeParse(pathParam(c, 'id'))
  if (result.success) return result.data.toLowerCase()
  throw new ServiceError('notFound', `${what} does not exist`)
}

/** Parses the query string of a list. */
export function listQuery(c: AppContext): ReadQuery {
  return parseList(searchWithoutToken(c.req.url))
}

/** Parses the query string of a single item. */
export function itemQuery(c: AppContext): ReadQuery {
  return parseItem(searchWithoutToken(c.req.url))
}
