/**
 * Parses the package.json of an extension (docs/contract.md#connectors) into its entries, or into faults that name the
 * member. Members other than `service` belong to npm and are ignored.
 */

import * as z from 'zod'
import { permissionsSchema } from '../../core/connector/permission.ts'
import { parseJson } from '../../core/exact-json.ts'
import { jsonFault } from '../../core/json-fault.ts'
import { type InferOutput, lazily } from '../../core/lazily.ts'
import { issuePath } from '../../core/message-text.ts'

export type ManifestEntry = InferOutput<typeof entrySchema>

/** `place` is the path of a member, such as `service.extensions[0].entry`; empty for the whole file. */
export type ManifestFault = { readonly place: string; readonly reason: string }

export type ManifestResult =
  | { readonly kind: 'valid'; readonly entries: readonly ManifestEntry[] }
  | { readonly kind: 'invalid'; readonly faults: readonly ManifestFault[] }

const entrySchema = lazily(() =>
  z.strictObject({
    id: z
      .string()
      .regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/, 'must be 1 to 100 letters, digits, dots, dashes and underscores'),
    type: z.literal('data-connector', 'must be data-connector'),
    name: z.string().max(200).regex(/\S/, 'must not be blank'),
    entry: z
      .string()
      .regex(/^\.\/.*\.(js|mjs|ts|mts)$/, 'must be a path beginning with ./ to a JavaScript or TypeScript file'),
    engine: z.strictObject({ permissions: permissionsSchema().default([]) }).default({ permissions: [] }),
  }),
)

const manifestSchema = lazily(() =>
  z.looseObject({
    service: z.strictObject({ extensions: z.array(entrySchema()).min(1, 'must list at least one extension') }),
  }),
)

export function parseManifest(text: string): ManifestResult {
  let content: unknown
  try {
    content = parseJson(text)
  } catch {
    return { kind: 'invalid', faults: [{ place: '', reason: jsonFault(text) }] }
  }
  const result = manifestSchema().safeParse(content)
  if (!result.success) return { kind: 'invalid', faults: result.error.issues.map(faultOf) }
  return { kind: 'valid', entries: result.data.service.extensions }
}

function faultOf(issue: z.core.$ZodIssue): ManifestFault {
  return { place: issuePath(issue.path), reason: reasonOf(issue) }
}

function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `has members that are not known: ${issue.keys.join(', ')}`
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is missing'
  if (issue.code === 'invalid_type') return `must be ${issue.expected}`
  return issue.message
}
