/** The primitive types (docs/contract.md#types): names, parameters and families. */
import * as z from 'zod'
import { type InferOutput, lazily } from '../lazily.ts'
import { plainTypeNames } from './vocabulary.ts'

const stringParams = lazily(() =>
  z.union([
    z.strictObject({ length: z.literal('unlimited') }),
    z.strictObject({ length: z.literal('fixed'), value: z.int().min(1).max(10_485_760) }),
  ]),
)

const decimalParams = lazily(() =>
  z.union([
    z
      .strictObject({
        kind: z.literal('constrained').default('constrained'),
        precision: z.int().min(1).max(1000),
        scale: z.int().min(0).max(1000),
      })
      .refine(({ precision, scale }) => scale <= precision, 'scale must not exceed precision'),
    z.strictObject({ kind: z.literal('unconstrained') }),
  ]),
)

/** `params` is optional for a string (unlimited) and a decimal (unconstrained). */
export const fieldTypeSchema = lazily(() =>
  z.discriminatedUnion('name', [
    z.strictObject({ name: z.enum(plainTypeNames) }),
    z.strictObject({ name: z.literal('string'), params: stringParams().default({ length: 'unlimited' }) }),
    z.strictObject({ name: z.literal('decimal'), params: decimalParams().default({ kind: 'unconstrained' }) }),
  ]),
)

export type FieldType = InferOutput<typeof fieldTypeSchema>
export type TypeName = FieldType['name']
