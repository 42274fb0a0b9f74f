/** The API name rule (docs/contract.md#api-names), applied only to names that are created or changed. */
import * as z from 'zod'
import { lazily } from '../lazily.ts'

/** In bytes: a limit of databases (PostgreSQL cuts longer names silently), which API names have as well. */
export const MAX_NAME_LENGTH = 63

const API_NAME_RULE = 'must start with a letter and contain only letters, digits and underscores'

export const apiNameSchema = lazily(() =>
  z
    .string()
    .max(MAX_NAME_LENGTH)
    .regex(/^[A-Za-z][A-Za-z0-9_]*$/, API_NAME_RULE),
)

/** Narrower, since workspace names are part of paths and of schema names (docs/contract.md#service). */
export const workspaceNameSchema = lazily(() =>
  z
    .string()
    .regex(
      /^[a-z][a-z0-9_]{0,39}$/,
      'must be 1 to 40 lower-case letters, digits and underscores, and start with a letter',
    )
    .refine((name) => name !== 'system' && name !== 'auth', 'is a reserved name'),
)
