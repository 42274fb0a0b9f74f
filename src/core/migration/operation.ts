/**
 * Parses the body of a migration into operations (docs/contract.md#operations). One schema defines what can be sent:
 * unknown members are refused, and the first fault is reported as `Failed to read the JSON body` > path > reason.
 */

import * as z from 'zod'
import { nested, type ServiceError } from '../error.ts'
import { faultOfJson, parseExactJson, rawNumbers, withPlainNumbers } from '../exact-json.ts'
import { exceedsLimits, oversizedJson } from '../json-limits.ts'
import { unknownMember } from '../known-members.ts'
import { type InferOutput, lazily } from '../lazily.ts'
import { issuePath } from '../message-text.ts'
import { apiNameSchema, MAX_NAME_LENGTH } from '../model/api-name.ts'
import { fieldTypeSchema } from '../model/field-type.ts'
import { byteLength } from './derive.ts'

const MAX_OPERATIONS = 10_000
/**
 * Maximum number of values (names, ids) in one operation. A collection of 1,600 fields, the most that databases allow,
 * has fewer.
 */
const MAX_VALUES = 25_000

/** Parses the JSON text of a request, with its plan if it has one. Throws only ServiceError `invalid`. */
export function parseMigration(text: string): PlannedMigration {
  const { operations, plan } = read(envelope(), readJson(text), [])
  return { operations: operations.map((one, index) => readOperation(one, ['operations', index])), plan }
}

export type PlannedMigration = { readonly operations: readonly Operation[]; readonly plan?: string | undefined }

/** Operations are parsed one by one: a schema of the whole list would collect the faults of every element. */
function readOperation(sent: unknown, place: readonly PropertyKey[]): Operation {
  const excess = exceedsLimits(sent, { values: MAX_VALUES })
  if (excess !== undefined) throw bodyFault({ path: place, message: excess })
  return read(operationSchema(), sent, place)
}

function read<Schema extends z.ZodType>(schema: Schema, sent: unknown, place: readonly PropertyKey[]): z.infer<Schema> {
  const result = schema.safeParse(sent, { error: (issue) => reason(issue) })
  if (result.success) return result.data
  const [issue] = result.error.issues
  const { path, message } = issue === undefined ? { path: [], message: 'is invalid' } : deepest(issue)
  throw bodyFault({ path: [...place, ...path], message })
}

const id = lazily(() => z.guid('must be a UUID').toLowerCase())

const dbName = lazily(() =>
  z
    .string()
    .min(1, 'must not be empty')
    .refine((name) => !name.includes('\0') && name.isWellFormed(), 'has characters that no database can store')
    .refine((name) => byteLength(name) <= MAX_NAME_LENGTH, `must be at most ${MAX_NAME_LENGTH} bytes long`),
)

const engineDefault = lazily(() =>
  z.discriminatedUnion('kind', [
    z
      .strictObject({ kind: z.literal('static'), valueEncoded: z.unknown() })
      .refine((value) => value.valueEncoded !== undefined, { path: ['valueEncoded'], message: 'is required' }),
    z.strictObject({ kind: z.literal('uuid') }),
    z.strictObject({ kind: z.literal('now') }),
  ]),
)

const defaultValue = lazily(() =>
  z
    .discriminatedUnion('source', [
      z
        .strictObject({
          source: z.literal('engineManaged'),
          onCreate: engineDefault().optional(),
          onUpdate: z.strictObject({ kind: z.literal('now') }).optional(),
        })
        .refine(
          ({ onCreate, onUpdate }) => onCreate !== undefined || onUpdate !== undefined,
          'must have onCreate or onUpdate',
        ),
      z.strictObject({ source: z.literal('connectorManaged'), isAutoincrement: z.literal(true) }),
    ])
    .nullable(),
)

function operation<const Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, data: Shape) {
  return z.strictObject({ kind: z.literal(kind), data: z.strictObject(data) })
}

const changeApiName = lazily(() => operation('changeApiName', { apiName: apiNameSchema() }))
const changeDbName = lazily(() => operation('changeDbName', { dbName: dbName() }))

const changeHasHistory = lazily(() => operation('changeHasHistory', { hasHistory: z.boolean() }))

const fieldChange = lazily(() =>
  z.discriminatedUnion('kind', [
    changeApiName(),
    changeDbName(),
    operation('changeType', { type: fieldTypeSchema() }),
    operation('changeIsNullable', { isNullable: z.boolean() }),
    operation('changeDefaultValue', { defaultValue: defaultValue() }),
  ]),
)

const createPrimitiveField = lazily(() =>
  operation('createPrimitiveField', {
    id: id(),
    dbName: dbName(),
    apiName: apiNameSchema().optional(),
    type: fieldTypeSchema(),
    isNullable: z.boolean(),
    isList: z.boolean(),
    defaultValue: defaultValue().default(null),
  }),
)

const createIndex = lazily(() =>
  operation('createIndex', {
    id: id(),
    dbName: dbName().optional(),
    kind: z.enum(['primary', 'unique', 'normal']),
    fieldIds: z.array(id()).min(1, 'must not be empty'),
  }),
)

const collectionChange = lazily(() =>
  z.discriminatedUnion('kind', [
    changeApiName(),
    changeDbName(),
    changeHasHistory(),
    createPrimitiveField(),
    operation('updatePrimitiveField', { id: id(), operations: z.array(fieldChange()) }),
    operation('deletePrimitiveField', { id: id() }),
    createIndex(),
    operation('deleteIndex', { id: id() }),
  ]),
)

const action = lazily(() => z.enum(['cascade', 'restrict', 'noAction', 'setNull', 'setDefault']))

const relationSide = lazily(() =>
  z.strictObject({
    id: id(),
    apiName: apiNameSchema(),
    isList: z.boolean(),
    isConstrained: z.boolean(),
    collectionId: id(),
    fieldIds: z.array(id()).min(1, 'must not be empty'),
  }),
)

/** `throughFieldId` is the relation from this side's collection to the junction. */
const manyToManySide = lazily(() => z.strictObject({ id: id(), apiName: apiNameSchema(), throughFieldId: id() }))

const operationSchema = lazily(() =>
  z.discriminatedUnion('kind', [
    operation('createCollection', {
      id: id(),
      sourceId: id(),
      namespaceId: id().nullish(),
      dbName: dbName(),
      apiName: apiNameSchema().optional(),
      hasHistory: z.boolean().optional(),
      operations: z.array(z.discriminatedUnion('kind', [createPrimitiveField(), createIndex()])),
    }),
    operation('updateCollection', { id: id(), operations: z.array(collectionChange()) }),
    operation('deleteCollection', { id: id() }),
    operation('createRelationFieldPair', {
      kind: z.literal('single'),
      data: z.strictObject({
        relationName: dbName(),
        onDelete: action().default('noAction'),
        onUpdate: action().default('noAction'),
        firstField: relationSide(),
        secondField: relationSide(),
      }),
    }),
    operation('updateRelationFieldPair', {
      firstFieldId: id(),
      secondFieldId: id(),
      operations: z.array(
        z.discriminatedUnion('kind', [
          operation('changeApiName', { fieldId: id(), apiName: apiNameSchema() }),
          operation('changeReferentialActions', { onDelete: action().optional(), onUpdate: action().optional() }),
        ]),
      ),
    }),
    operation('deleteRelationFieldPair', { firstFieldId: id(), secondFieldId: id() }),
    operation('createManyToManyFieldPair', { firstField: manyToManySide(), secondField: manyToManySide() }),
    operation('createNamespace', { id: id(), sourceId: id(), dbName: dbName() }),
    operation('deleteNamespace', { id: id() }),
    operation('createIdempotencyLedger', { sourceId: id() }),
    operation('deleteIdempotencyLedger', { sourceId: id() }),
  ]),
)

export const migrationSchema = lazily(() =>
  z.strictObject({
    operations: z.array(operationSchema()).max(MAX_OPERATIONS, `must be at most ${MAX_OPERATIONS}`),
    plan: z.string().optional(),
  }),
)

/** The body with unparsed operations. */
const envelope = lazily(() =>
  z.strictObject({
    operations: z.array(z.unknown()).max(MAX_OPERATIONS, `must be at most ${MAX_OPERATIONS}`),
    plan: z.string().optional(),
  }),
)

export type Operation = InferOutput<typeof operationSchema>
export type FieldChange = InferOutput<typeof fieldChange>
export type CollectionChange = InferOutput<typeof collectionChange>

/** The data of one kind of operation. */
export type DataOf<Kind extends (Operation | CollectionChange)['kind']> = Extract<
  Operation | CollectionChange,
  { readonly kind: Kind }
>['data']

function readJson(text: string): unknown {
  const excess = oversizedJson(text)
  if (excess !== undefined) throw bodyFault({ path: [], message: excess })
  try {
    // A default keeps the digits that were sent.
    return withPlainNumbers(parseExactJson(text, rawNumbers()), 'valueEncoded')
  } catch (error) {
    throw bodyFault({ path: [], message: faultOfJson(text, error) })
  }
}

type Fault = { readonly path: readonly PropertyKey[]; readonly message: string }

/** `operations[0]` is a separate message; the rest of the path follows it. */
function bodyFault({ path, message }: Fault): ServiceError {
  const [first, index, ...rest] = path
  const places = index === undefined ? [issuePath(path)] : [issuePath([first ?? '', index]), issuePath(rest)]
  return nested('invalid', ['Failed to read the JSON body', ...places.filter((place) => place !== ''), message])
}

/** For a union without a match, reports the first fault of the member with the fewest faults, which was probably meant. */
function deepest(issue: z.core.$ZodIssue): Fault {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue
  const tags = issue.errors.flatMap((form) => form.find(({ code }) => code === 'invalid_value') ?? [])
  const [tag] = tags
  if (tag !== undefined && tags.length === issue.errors.length) {
    const values = tags.flatMap((wrong) => (wrong.code === 'invalid_value' ? wrong.values : []))
    return { path: [...issue.path, ...tag.path], message: `must be ${oneOf(values)}` }
  }
  const [form] = [...issue.errors].sort((one, other) => one.length - other.length)
  const inner = form?.[0]
  if (inner === undefined) return issue
  const { path, message } = deepest(inner)
  return { path: [...issue.path, ...path], message }
}

/** Messages never repeat a sent value. */
function reason(issue: z.core.$ZodRawIssue): string {
  const isMissing = issue.input === undefined
  switch (issue.code) {
    case 'invalid_type':
      return isMissing ? 'is required' : (typeReasons[issue.expected] ?? `must be ${issue.expected}`)
    case 'invalid_value':
      return isMissing ? 'is required' : `must be ${oneOf(issue.values)}`
    case 'unrecognized_keys':
      return unknownMember(issue.inst as z.ZodType, { keys: issue.keys, path: [] })
    case 'invalid_union':
      return Array.isArray(issue.options) ? `must be ${oneOf(issue.options)}` : 'is invalid'
    case 'too_small':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `must be at least ${issue.minimum}`
        : 'must not be empty'
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`
    default:
      return 'is invalid'
  }
}

const typeReasons: Readonly<Record<string, string>> = {
  string: 'must be a string',
  boolean: 'must be true or false',
  array: 'must be an array',
  object: 'must be an object',
  int: 'must be an integer',
  number: 'must be a number',
}

function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`
}
