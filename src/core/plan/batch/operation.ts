/**
 * Parses the operations of a batch (docs/contract.md#batches): their members by kind, and their names for references. The
 * planner of each kind parses the content of members. Faults name the path.
 */
import type { Action } from '../../access/access.ts'
import { isObject } from '../../json-object.ts'
import { shortName } from '../../message-text.ts'
import { listKnown } from '../../nearest.ts'
import { queryFault } from '../../query/parse.ts'
import type { JsonArguments } from '../../query/parse-json.ts'

export type Operation = {
  readonly kind: OperationKind
  readonly collection: string
  readonly as: string | undefined
  /** Undefined if the operation is about many items. */
  readonly key: { readonly value: unknown } | undefined
  readonly data: unknown
  /** The entity tags of which the item must have one; undefined if any is accepted. */
  readonly tags: readonly string[] | undefined
  readonly query: JsonArguments
}

export type OperationKind = (typeof operationKinds)[number]

export const operationKinds = ['create', 'update', 'upsert', 'delete', 'read'] as const

/** The action of the corresponding route. */
export const actionOf: Readonly<Record<OperationKind, Action>> = {
  create: 'create',
  update: 'update',
  upsert: 'create',
  delete: 'delete',
  read: 'read',
}

export const MAX_OPERATIONS = 100

/** Throws 422 for anything but a list of operations. */
export function parseOperations(body: unknown): readonly Operation[] {
  if (!isObject(body)) throw queryFault('', 'must be an object such as {"operations": […]}')
  for (const name of Object.keys(body)) {
    if (name !== 'operations')
      throw queryFault(shortName(name), `is not a member of a batch${listKnown(name, ['operations'])}`)
  }
  const { operations } = body
  if (!Array.isArray(operations)) throw queryFault('operations', 'must be an array')
  if (operations.length === 0) throw queryFault('operations', 'must hold an operation')
  if (operations.length > MAX_OPERATIONS) throw queryFault('operations', `has more than ${MAX_OPERATIONS} operations`)
  const parsed = operations.map((one, index) => parseOperation(one, `operations[${index}]`))
  requireUniqueNames(parsed)
  return parsed
}

const common = ['kind', 'collection', 'as', 'fields', 'deep'] as const

/** The members of each kind, besides the common ones. */
const members: Readonly<Record<OperationKind, readonly string[]>> = {
  create: ['data'],
  update: ['key', 'ifMatch', 'filter', 'max', 'data'],
  upsert: ['conflict', 'data'],
  delete: ['key', 'ifMatch', 'filter', 'max'],
  read: ['key', 'filter', 'sort', 'limit', 'offset', 'after', 'before', 'meta'],
}

/** Members of operations on one item, and on many. */
const ofOne = ['key', 'ifMatch']
const ofLists = ['sort', 'limit', 'offset', 'after', 'before', 'meta', 'max']

const membersOfOne = membersWithout(ofLists)
const membersOfMany = membersWithout(ofOne)

function membersWithout(others: readonly string[]): typeof members {
  const known = (kind: OperationKind) => [...common, ...members[kind]].filter((name) => !others.includes(name))
  return {
    create: known('create'),
    update: known('update'),
    upsert: known('upsert'),
    delete: known('delete'),
    read: known('read'),
  }
}

function parseOperation(sent: unknown, path: string): Operation {
  if (!isObject(sent)) throw queryFault(path, 'must be an object')
  const kind = operationKinds.find((one) => one === sent.kind)
  if (kind === undefined) throw queryFault(`${path}.kind`, `must be one of ${operationKinds.join(', ')}`)
  const isOne = sent.key !== undefined
  const isNew = kind === 'create' || kind === 'upsert'
  const known = (isOne ? membersOfOne : membersOfMany)[kind]
  for (const name of Object.keys(sent)) {
    if (known.includes(name)) continue
    const what = `${kind.startsWith('u') ? 'an' : 'a'} ${kind}${isNew ? '' : isOne ? ' by key' : ' without key'}`
    throw queryFault(`${path}.${shortName(name)}`, `is not a member of ${what}${listKnown(name, known)}`)
  }
  const { collection, as, key, data, ifMatch } = sent
  if (typeof collection !== 'string') throw queryFault(`${path}.collection`, 'must be the name of a collection')
  if (as !== undefined && !(typeof as === 'string' && nameOfOperation.test(as))) {
    throw queryFault(`${path}.as`, 'must be a name of letters, digits and _, 64 at most, that begins with a letter')
  }
  for (const name of ['data', 'conflict']) {
    if (sent[name] === undefined && members[kind].includes(name)) throw queryFault(`${path}.${name}`, 'must be given')
  }
  const query: Record<string, unknown> = {}
  for (const name of Object.keys(sent)) if (ofQuery.has(name)) query[name] = sent[name]
  const tags = ifMatch === undefined ? undefined : tagsIn(ifMatch, `${path}.ifMatch`)
  return { kind, collection, as, key: key === undefined ? undefined : { value: key }, data, tags, query }
}

/** Parses entity tags in the form of `_etag`. */
function tagsIn(sent: unknown, path: string): readonly string[] {
  const tags: readonly unknown[] = Array.isArray(sent) ? sent : [sent]
  if (tags.every((tag) => typeof tag === 'string') && tags.length > 0) return tags.filter((tag) => TAG.test(tag))
  throw queryFault(path, 'must be a tag or a list of tags')
}

const nameOfOperation = /^[A-Za-z]\w{0,63}$/
const ofQuery: ReadonlySet<string> = new Set(['fields', 'deep', 'filter', 'conflict', ...ofLists])

function requireUniqueNames(operations: readonly Operation[]): void {
  const places = new Map<string, number>()
  for (const [index, { as }] of operations.entries()) {
    const first = as === undefined ? undefined : places.get(as)
    if (first !== undefined) throw queryFault(`operations[${index}].as`, `is the name of operations[${first}] as well`)
    if (as !== undefined) places.set(as, index)
  }
}

/** The form of every tag. Others match no item, and not every database accepts any text. */
const TAG = /^[A-Za-z0-9_-]{22}$/
