/** Arguments of a tool → what its schema says, or 422 naming the place and what would be right there. */
import type * as z from 'zod'
import { nested } from '../../src/core/error.ts'
import { unknownMember } from '../../src/core/known-members.ts'
import { placeOf, refusePrototype } from '../request.ts'

export function readArguments<S extends z.ZodType>(schema: S, sent: unknown): z.infer<S> {
  const result = schema.safeParse(unpacked(sent))
  if (result.success) return result.data
  const [first] = result.error.issues
  const issue = first?.code === 'invalid_union' ? meant(first) : first
  const place = issue === undefined ? '' : placeOf(issue.path)
  throw fault(place === '' ? 'arguments' : place, reasonOf(issue, schema))
}

/** Agents often send a list or an object as the JSON text of it. */
function unpacked(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null) return sent
  const members = Object.entries(sent).map(([name, value]) => [name, texts.has(name) ? value : parsed(name, value)])
  return Object.fromEntries(members)
}

/** Arguments that are texts, whatever they look like. */
const texts: ReadonlySet<string> = new Set(['collection', 'key', 'meta'])

function parsed(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value, refusePrototype) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return value
    throw fault(name, 'unknown field __proto__')
  }
}

/** Of the forms that an argument can have, the one that was sent with a slip inside. */
function meant(issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue {
  const inside = issue.errors.map(([one]) => one).find((one) => one !== undefined && one.path.length > 0)
  return inside === undefined ? issue : { ...inside, path: [...issue.path, ...inside.path] }
}

function reasonOf(issue: z.core.$ZodIssue | undefined, schema: z.ZodType): string {
  if (issue?.code === 'unrecognized_keys') return unknownMember(schema, issue)
  return issue?.message ?? 'is wrong'
}

function fault(place: string, reason: string) {
  return nested('invalid', ['Failed to read the arguments', place, reason])
}
