/**
 * Parses the arguments of a tool by its schema, or throws 422 with the path and the expected value. The limits are the same as
 * over HTTP.
 */
import type * as z from 'zod'
import { nested } from '../../src/core/error.ts'
import {
  faultOfJson,
  isRawNumber,
  parseExactJson,
  type RawNumbers,
  withPlainNumbers,
} from '../../src/core/exact-json.ts'
import { exceedsLimits, hasPrototypeMember, oversizedJson } from '../../src/core/json-limits.ts'
import { unknownMember } from '../../src/core/known-members.ts'
import { issuePath } from '../../src/core/message-text.ts'
import { queryBounds } from '../../src/core/query/brackets.ts'
import { queryFault } from '../../src/core/query/parse.ts'

/** Arguments that are query parameters in the HTTP API. */
const QUERY = ['fields', 'filter', 'sort', 'deep', 'aggregate', 'group', 'having']

/** Maximum number of elements of any other list. */
const MAX_ELEMENTS = 10_000

/** Maximum number of arguments; far more than any tool has. */
const MAX_ARGUMENTS = 100

/** `numbers` is the budget of raw numbers of the whole request. */
export function readArguments<S extends z.ZodType>(schema: S, sent: unknown, numbers: RawNumbers): z.infer<S> {
  if (typeof sent === 'object' && sent !== null && Object.keys(sent).length > MAX_ARGUMENTS) {
    throw fault('arguments', `has more than ${MAX_ARGUMENTS} members`)
  }
  const arrived = unpacked(sent, numbers)
  refuseOversized(arrived)
  const result = schema.safeParse(arrived)
  if (result.success) return result.data
  const [first] = result.error.issues
  const issue = first?.code === 'invalid_union' ? chosenIssue(first) : first
  const path = issue === undefined ? '' : issuePath(issue.path)
  throw fault(path === '' ? 'arguments' : path, reasonOf(issue, schema))
}

/** Parses arguments that are JSON text, because agents often send lists and objects so. */
function unpacked(sent: unknown, numbers: RawNumbers): unknown {
  if (typeof sent !== 'object' || sent === null) return sent
  const members = Object.entries(sent).map(([name, value]) => {
    if (name === 'key') return [name, withNumbersAsTexts(value)]
    const read = texts.has(name) ? value : parsed(name, value, numbers)
    return [name, values.has(name) ? read : withPlainNumbers(read, 'valueEncoded')]
  })
  return Object.fromEntries(members)
}

/** A key is matched by its text, so its numbers keep their digits. */
function withNumbersAsTexts(key: unknown): unknown {
  if (isRawNumber(key)) return key.rawJSON
  if (typeof key !== 'object' || key === null || Array.isArray(key)) return key
  return Object.fromEntries(
    Object.entries(key).map(([name, value]) => [name, isRawNumber(value) ? value.rawJSON : value]),
  )
}

/** Arguments that are always strings, even if they look like JSON. */
const texts: ReadonlySet<string> = new Set(['collection', 'key', 'meta', 'idempotencyKey', 'plan'])

/** Arguments with values of items or defaults, whose numbers keep their digits. */
const values: ReadonlySet<string> = new Set(['data', 'filter', 'having', 'deep', 'operations', 'model'])

/** Arguments that may have as many values as a body. */
const large: ReadonlySet<string> = new Set(['data', 'operations', 'model'])

/** Bounds of all other arguments, checked before parsing. */
const textBounds = { depth: 1_100, members: 20_000, values: 20_000, containers: 20_000 }

function parsed(name: string, value: unknown, numbers: RawNumbers): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  const excess = oversizedJson(value, large.has(name) ? undefined : textBounds)
  if (excess !== undefined) throw fault(name, excess)
  const read = jsonOf(name, value, numbers)
  if (hasPrototypeMember(value, read)) throw fault(name, 'unknown field __proto__')
  return read
}

function jsonOf(name: string, text: string, numbers: RawNumbers): unknown {
  try {
    return parseExactJson(text, numbers)
  } catch (error) {
    throw fault(name, faultOfJson(text, error))
  }
}

/** Returns the issue of the union's alternative that was probably meant. */
function chosenIssue(issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue {
  const inside = issue.errors.map(([one]) => one).find((one) => one !== undefined && one.path.length > 0)
  return inside === undefined ? issue : { ...inside, path: [...issue.path, ...inside.path] }
}

function reasonOf(issue: z.core.$ZodIssue | undefined, schema: z.ZodType): string {
  if (issue?.code === 'unrecognized_keys') return unknownMember(schema, issue)
  return issue?.message ?? 'is wrong'
}

/** Runs before the schema, which would collect a fault for every element of a long list. */
function refuseOversized(sent: unknown): void {
  if (typeof sent !== 'object' || sent === null) return
  const query: unknown[] = []
  for (const [name, value] of Object.entries(sent)) {
    if (QUERY.includes(name)) {
      const excess = exceedsLimits(value, queryBounds)
      if (excess !== undefined) throw queryFault(name, excess)
      query.push(value)
    } else if (Array.isArray(value) && value.length > MAX_ELEMENTS) {
      throw fault(name, `has more than ${MAX_ELEMENTS} elements`)
    }
  }
  const { values, length } = queryBounds
  const excess = exceedsLimits(query, { values, length })
  if (excess !== undefined) throw queryFault('arguments', excess)
}

export function fault(path: string, reason: string) {
  return nested('invalid', ['Failed to read the arguments', path, reason])
}
