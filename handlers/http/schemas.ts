/** Schemas that the bodies and queries of several routes share. */
import * as z from 'zod'
import { durationSchema } from '../../src/config.ts'
import { lazily } from '../../src/core/lazily.ts'
import type { ReadQuery } from '../../src/core/query/parse.ts'
import { parseItem, parseList } from '../../src/core/query/raw-query.ts'
import { searchWithoutToken } from './credentials.ts'
import type { AppContext } from './request.ts'

/** Text that every database can store. */
export function textSchema(max: number) {
  return z
    .string()
    .max(max, `must have at most ${max} characters`)
    .refine((text) => text.isWellFormed() && !text.includes('\u0000'), 'must be valid text without NUL')
}

export const nameSchema = lazily(() => textSchema(200).trim().min(1, 'must not be empty'))
export const descriptionSchema = lazily(() => textSchema(2_000).nullable())
export const emailSchema = lazily(() =>
  z.email('must be an e-mail address').max(320, 'must have at most 320 characters'),
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

/** Parses the query string of a list. */
export function listQuery(c: AppContext): ReadQuery {
  return parseList(searchWithoutToken(c.req.url))
}

/** Parses the query string of a single item. */
export function itemQuery(c: AppContext): ReadQuery {
  return parseItem(searchWithoutToken(c.req.url))
}
