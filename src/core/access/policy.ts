/**
 * The content of a policy (docs/contract.md#content-of-a-policy). It is stored with ids, so that a right never passes
 * to another collection or field that takes over a name, and presented with current names.
 */

import * as z from 'zod'
import { nested } from '../error.ts'
import { exceedsLimits } from '../json-limits.ts'
import { knownMembers, notOneOf, unknownMember } from '../known-members.ts'
import { type InferOutput, lazily } from '../lazily.ts'
import { issuePath, shortName } from '../message-text.ts'
import type { Collection, Field, Model } from '../model/model.ts'
import { operators } from '../model/vocabulary.ts'
import { didYouMean } from '../nearest.ts'
import { queryBounds } from '../query/brackets.ts'
import { all } from '../query/filter.ts'
import type { RawFilter } from '../query/parse.ts'
import { resolveFilter } from '../query/resolve.ts'
import { entitlementSchema } from './entitlement.ts'
import { policyVariable } from './variable.ts'

const filterSchema = lazily(() => z.record(z.string(), z.unknown()))
const fieldsSchema = lazily(() => z.union([z.literal('*'), z.array(z.string()).max(1_000)]))
const whole = lazily(() => z.literal('all'))

const actionsSchema = lazily(() =>
  z.strictObject({
    read: z
      .union([whole(), z.strictObject({ fields: fieldsSchema().optional(), filter: filterSchema().optional() })])
      .optional(),
    create: z
      .union([whole(), z.strictObject({ fields: fieldsSchema().optional(), validation: filterSchema().optional() })])
      .optional(),
    update: z
      .union([
        whole(),
        z.strictObject({
          fields: fieldsSchema().optional(),
          filter: filterSchema().optional(),
          check: filterSchema().optional(),
          validation: filterSchema().optional(),
        }),
      ])
      .optional(),
    delete: z.union([whole(), z.strictObject({ filter: filterSchema().optional() })]).optional(),
  }),
)

export const policyContentSchema = lazily(() =>
  z.strictObject({
    entitlements: z.array(entitlementSchema()).default([]),
    collections: z.record(z.string(), actionsSchema()).default({}),
  }),
)

export type PolicyContent = InferOutput<typeof policyContentSchema>
export type PolicyActions = InferOutput<typeof actionsSchema>
export type PolicyAction = Exclude<PolicyActions[keyof PolicyActions], undefined>
type Tree = Record<string, unknown>
type Detail = { fields?: '*' | string[]; filter?: Tree; check?: Tree; validation?: Tree }

/** The members of an action that are filters. */
export const conditions = ['filter', 'check', 'validation'] as const

/**
 * Maximum number of values (names, operands) in one policy. A policy is parsed at once, and all policies of a caller are loaded
 * with its rights.
 */
const MAX_VALUES = 20_000

/** Which names a policy may use, and the error for any other. */
export type PolicyNames = {
  /** Finds a collection by name or id. */
  readonly collection: (name: string) => Collection | undefined
  readonly field: (of: Collection, name: string) => Field | undefined
  readonly missing: (path: string, reason: string) => Error
}

/** Allows all names of the model. */
export function namesOf(model: Model): PolicyNames {
  return {
    collection: (name) => model.byName.get(name) ?? model.collections.get(name),
    field: (of, name) => of.fields.get(name),
    missing: fault,
  }
}

function reasonOf(issue: z.core.$ZodIssue | undefined): string | undefined {
  if (issue?.code === 'unrecognized_keys') return unknownMember(policyContentSchema(), issue)
  if (issue?.code === 'invalid_value') return notOneOf(issue.values)
  const isObject = issue?.code === 'invalid_type' && issue.expected === 'object'
  const members = issue?.code === 'invalid_union' || isObject ? knownMembers(policyContentSchema(), issue.path) : []
  if (members.length === 0) return issue?.message
  return `must be ${isObject ? '' : 'all, or '}an object of ${[...new Set(members)].join(', ')}`
}

/**
 * Parses content as sent into content as stored. Throws 422 with the path of the fault, and `names.missing` for names
 * that are not allowed.
 */
export function parsePolicy(content: unknown, model: Model, names: PolicyNames = namesOf(model)): PolicyContent {
  const excess = exceedsLimits(content, { values: MAX_VALUES })
  if (excess !== undefined) throw fault('content', excess)
  const result = policyContentSchema().safeParse(content)
  if (!result.success) {
    const [issue] = result.error.issues
    const reason = reasonOf(issue)
    throw fault(issuePath(issue?.path ?? [], 'content'), reason ?? 'is wrong')
  }
  const { entitlements, collections } = result.data
  const byId: Record<string, PolicyActions> = {}
  for (const [name, actions] of Object.entries(collections)) {
    const path = `content.collections.${shortName(name)}`
    const collection = names.collection(name)
    if (collection === undefined) {
      throw names.missing(path, `is not a collection${didYouMean(name, model.byName.keys())}`)
    }
    if (collection.id in byId) throw fault(path, 'is given twice')
    byId[collection.id] = mapActions(actions, (action, kind) =>
      storedAction(action, { names, collection, path: `${path}.${kind}` }),
    )
  }
  return { entitlements: [...new Set(entitlements)], collections: byId }
}

/**
 * Converts stored content to the sent form, with the names of `model`. Omits parts that an introspection made invalid, which
 * grant nothing, so that the content can be sent back.
 */
export function presentPolicy({ entitlements, collections }: PolicyContent, model: Model): PolicyContent {
  const byName: Record<string, PolicyActions> = {}
  for (const [id, actions] of Object.entries(collections)) {
    const collection = model.collections.get(id)
    if (collection === undefined) continue
    byName[collection.apiName] = mapActions(actions, (action) => shownAction(action, collection))
  }
  return { entitlements, collections: byName }
}

/** Returns the collections and fields that a policy refers to; they cannot be deleted while the policy exists. */
export function policyReferences({ collections }: PolicyContent): {
  readonly collectionIds: ReadonlySet<string>
  readonly fieldIds: ReadonlySet<string>
} {
  const fieldIds = new Set<string>()
  for (const actions of Object.values(collections)) {
    for (const action of Object.values(actions)) {
      if (action === 'all' || action === undefined) continue
      const detail: Detail = action
      if (detail.fields !== '*') for (const id of detail.fields ?? []) fieldIds.add(id)
      for (const name of conditions) collectFieldIds(detail[name], fieldIds)
    }
  }
  return { collectionIds: new Set(Object.keys(collections)), fieldIds }
}

/** Returns the fields and relations that the conditions of a policy compare. */
export function comparedFields({ collections }: Pick<PolicyContent, 'collections'>): ReadonlySet<string> {
  const fieldIds = new Set<string>()
  for (const action of Object.values(collections).flatMap(Object.values<PolicyAction | undefined>)) {
    if (action === 'all' || action === undefined) continue
    const detail: Detail = action
    for (const name of conditions) collectFieldIds(detail[name], fieldIds)
  }
  return fieldIds
}

/** Returns true if an action uses `$CURRENT_USER`; such a policy gives an anonymous caller nothing. */
export function usesCurrentUser(content: PolicyContent): boolean {
  return JSON.stringify(content.collections).includes('"$CURRENT_USER"')
}

export function fieldById(collection: Collection, id: string): Field | undefined {
  return collection.primitives.find((field) => field.id === id) ?? collection.relations.find((field) => field.id === id)
}

function mapActions(
  actions: PolicyActions,
  map: (action: PolicyAction, kind: string) => PolicyAction | undefined,
): PolicyActions {
  const mapped = Object.entries(actions).flatMap(([kind, action]) => {
    const made = action && map(action, kind)
    return made === undefined ? [] : [[kind, made]]
  })
  return Object.fromEntries(mapped) as PolicyActions
}

/** `path` is the path of the action; empty if its members are those of the body. */
type Sent = { readonly names: PolicyNames; readonly collection: Collection; readonly path: string }

/** Converts an action to its stored form. Throws 422 with the path of the fault. */
export function storedAction(action: PolicyAction, { names, collection, path }: Sent): PolicyAction {
  if (action === 'all') return action
  const detail: Detail = action
  const { fields } = detail
  const below = (member: string) => (path === '' ? member : `${path}.${member}`)
  const named = (of: Collection, name: string, at: string): Field => {
    const field = names.field(of, name)
    if (field === undefined) {
      throw names.missing(at, `is not a field of ${of.apiName}${didYouMean(name, of.fields.keys())}`)
    }
    return field
  }
  for (const member of conditions) {
    const value = detail[member]
    if (value === undefined) continue
    const excess = exceedsLimits(value, queryBounds)
    if (excess !== undefined) throw fault(below(member), excess)
    const resolver = {
      field: (of: Collection, name: string, at: string) => ({ field: named(of, name, at), visible: all }),
      rowsOf: () => all,
      linksOf: () => all,
      variable: policyVariable({ userId: undefined, roleIds: [] }),
    }
    resolveFilter(jsonFilter(value), { resolver, collection, path: below(member) })
  }
  const toId = (of: Collection, name: string) => named(of, name, path)
  return {
    ...(fields !== undefined && {
      fields: fields === '*' ? fields : fields.map((name) => named(collection, name, below('fields')).id),
    }),
    ...renamedConditions(detail, collection, toId, 'id'),
  }
}

/** Converts a stored action to the names of the model; undefined if its conditions are no longer valid. */
export function shownAction(action: PolicyAction, collection: Collection): PolicyAction | undefined {
  if (action === 'all') return action
  const detail: Detail = action
  const { fields } = detail
  if (!conditions.every((name) => isMeaningful(detail[name], collection))) return undefined
  return {
    ...(fields !== undefined && {
      fields: fields === '*' ? fields : fields.flatMap((id) => fieldById(collection, id)?.apiName ?? []),
    }),
    ...renamedConditions(detail, collection, fieldById, 'apiName'),
  }
}

/** Returns false if a stored filter names a deleted field, or an operator or value that the field's type does not accept. */
function isMeaningful(filter: Record<string, unknown> | undefined, collection: Collection): boolean {
  if (filter === undefined) return true
  const field = (of: Collection, id: string) => {
    const found = fieldById(of, id)
    if (found === undefined) throw fault('filter', 'is void')
    return { field: found, visible: all }
  }
  const resolver = {
    field,
    rowsOf: () => all,
    linksOf: () => all,
    variable: policyVariable({ userId: undefined, roleIds: [] }),
  }
  try {
    resolveFilter(jsonFilter(filter), { resolver, collection, path: 'filter' })
    return true
  } catch {
    return false
  }
}

type FieldOf = (of: Collection, name: string) => Field | undefined

function renamedConditions(detail: Detail, collection: Collection, fieldOf: FieldOf, by: 'id' | 'apiName'): Detail {
  return Object.fromEntries(
    conditions.flatMap((name) => {
      const part = detail[name]
      return part === undefined ? [] : [[name, renamed(part, collection, fieldOf, by)]]
    }),
  )
}

/** Returns the filter with its field names mapped; operators and operands stay unchanged. */
function renamed(
  filter: Record<string, unknown>,
  collection: Collection,
  fieldOf: FieldOf,
  by: 'id' | 'apiName',
): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(filter)) {
    if (Array.isArray(value) && name.startsWith('_')) {
      result[name] = value.map((part) => renamed(part as Record<string, unknown>, collection, fieldOf, by))
    } else if (name.startsWith('_')) result[name] = renamed(value as Record<string, unknown>, collection, fieldOf, by)
    else {
      const field = fieldOf(collection, name)
      result[field?.[by] ?? name] =
        field?.kind === 'relation' ? renamed(value as Record<string, unknown>, field.target, fieldOf, by) : value
    }
  }
  return result
}

const tests: ReadonlySet<string> = new Set(operators)

/** In a stored filter, every member name without `_` is a field id, except within operands, which may be any JSON value. */
function collectFieldIds(filter: unknown, into: Set<string>): void {
  if (Array.isArray(filter)) {
    for (const part of filter) collectFieldIds(part, into)
    return
  }
  if (typeof filter !== 'object' || filter === null) return
  for (const [name, value] of Object.entries(filter)) {
    if (tests.has(name)) continue
    if (!name.startsWith('_')) into.add(name)
    collectFieldIds(value, into)
  }
}

export function jsonFilter(value: Record<string, unknown>): RawFilter {
  return { form: 'json', value }
}

function fault(path: string, reason: string) {
  return nested('invalid', ['Failed to read the JSON body', path, reason])
}
