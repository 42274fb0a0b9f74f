/**
 * Why somebody may do something, or may not: each of their policies by itself, and all together (docs/contract.md#explaining-access).
 * Told from what decides; which rows a condition admits is left to the data source.
 */

import { type Action, actions, type Viewer, visibility, writableRows } from '../access/access.ts'
import { asksMore } from '../access/intersect.ts'
import { viewerOf } from '../access/merge.ts'
import { policyReferences, presentPolicy } from '../access/policy.ts'
import { type HeldPolicy, hasEntitlement, type Principal, type Rights } from '../access/principal.ts'
import { ANYBODY, NOBODY } from '../access/variable.ts'
import type { Declarations } from '../connector/item-capabilities.ts'
import { nested } from '../error.ts'
import { shortName } from '../message-text.ts'
import type { Collection, Field, Model } from '../model/model.ts'
import { all, and, type Filter, mapFilter, none, or, withoutTests } from '../query/filter.ts'
import { isServed, isUsable } from './access-view.ts'
import { isKnown as isKnownIn, modelViewOf } from './model-view.ts'

/** The question, by API names, the principal that it is about, and who asks. */
export type ExplainRequest = {
  readonly model: Model
  readonly declared: Declarations
  readonly callerRights: Rights
  readonly principal: Principal
  readonly collection: string
  readonly action: Action
  readonly field?: string | undefined
}

/** Refused whatever the row, or allowed in these rows. */
export type Judgement =
  | { readonly kind: 'refused'; readonly reason: 'action' | 'field' }
  | { readonly kind: 'allowed'; readonly rows: Filter }

export type JudgedPolicy = {
  readonly id: string
  readonly name: string
  readonly judgement: Judgement
  /** What a row has to meet, as the policy says it; undefined where it says nothing. */
  readonly condition: Readonly<Record<string, unknown>> | undefined
}

export type Explanation = {
  readonly collection: Collection
  readonly together: Judgement
  readonly policies: readonly JudgedPolicy[]
  /** Whoever does not read a row and its key does not find it, whatever else they may do with it. */
  readonly findable: Filter
}

type Subject = {
  readonly collection: Collection
  readonly action: Action
  readonly field: Field | undefined
  readonly declared: Declarations
  /** Whether the field leads somewhere: a relation does where its target may be read. */
  readonly isOpen: boolean
}

/** Throws 422 with its place for a name that is unknown, or that the caller may not know. */
export function explain(question: ExplainRequest): Explanation {
  const { model, principal, action, declared } = question
  const { collection, field } = namedThings(question)
  const viewer = viewerOf(rightsOf(principal), model)
  const isOpen = field === undefined || modelViewOf(viewer, declared).uses(collection, field, action) !== 'never'
  const subject: Subject = { collection, action, field, declared, isOpen }
  const reading = viewer.accessTo(collection, 'read')
  const isReader = reading.kind === 'granted'
  // Whoever does not read the key reads the item in lists, and finds nothing to change.
  const keys = isReader && action !== 'read' ? collection.key.map((part) => visibility(reading, part) ?? none) : []
  return {
    collection,
    findable: isReader ? and([reading.rows, ...keys]) : none,
    together: judged(viewer, subject),
    policies: principal.policies.map((policy) => ({
      id: policy.id,
      name: policy.name,
      judgement: judged(viewerOf(aloneRights(principal, policy), model), subject),
      condition: conditionOf(policy, collection, question),
    })),
  }
}

/**
 * Throws 403 where a condition of a policy asks about what the caller may not read: whether one row meets it would tell of
 * that.
 */
export function requireKnownNames(question: ExplainRequest, { collection, findable }: Explanation): void {
  const { model, callerRights, principal, action } = question
  const viewer = viewerOf(callerRights, model)
  const isFoundByChance = findable.kind !== 'all' && findable.kind !== 'none'
  for (const policy of principal.policies) {
    for (const one of isFoundByChance ? ([action, 'read'] as const) : [action]) {
      if (!rowsOf(policy, collection, { model, action: one }).some((rows) => asksMore({ viewer, model }, rows)))
        continue
      throw nested('forbidden', [
        'You may not read all that decides this',
        `the condition of the policy ${shortName(policy.name)} is about more than you may read`,
      ])
    }
  }
}

/** The rows of which a policy speaks, and of a creation those that may be. */
function rowsOf(
  { content }: HeldPolicy,
  collection: Collection,
  { model, action }: Pick<ExplainRequest, 'model' | 'action'>,
): readonly Filter[] {
  if (content.collections[collection.id] === undefined) return []
  // Somebody's: without any, conditions of theirs would resolve to nothing.
  const rights = { kind: 'policies', userId: NOBODY, roleIds: [NOBODY], policies: [content] } as const
  const access = viewerOf({ ...rights, entitlements: new Set() }, model).accessTo(collection, action)
  if (access.kind === 'denied') return []
  return access.grants.map(({ rows, validation }) => (action === 'create' ? validation : rows))
}

function judged(viewer: Viewer, { collection, action, field, declared, isOpen }: Subject): Judgement {
  const access = viewer.accessTo(collection, action)
  const isWritable = action === 'read' || !collection.isReadOnly
  if (access.kind === 'denied' || !isWritable || !isServed(collection, action, { declared })) {
    return { kind: 'refused', reason: 'action' }
  }
  if (field === undefined) return { kind: 'allowed', rows: action === 'create' ? all : access.rows }
  const visible = visibility(access, field)
  if (visible === undefined || !isOpen || !isUsable(field, action)) return { kind: 'refused', reason: 'field' }
  if (action === 'read') return { kind: 'allowed', rows: and([access.rows, visible]) }
  return { kind: 'allowed', rows: action === 'create' ? all : writableRows(access, [field.id]) }
}

/**
 * Of rows, those that are admitted whoever has the roles, and those that are where the conditions that name `$CURRENT_USER`
 * are met. Both are the rows themselves where none does.
 */
export function boundsOf(rows: Filter): { readonly always: Filter; readonly perhaps: Filter } {
  const known = withUserApart(rows)
  return { always: withoutTests(known, namesAnybody, 'unmet'), perhaps: withoutTests(known, namesAnybody, 'met') }
}

/** Rights as whoever has the roles has them. */
export function rightsOf({ rights, isAnybody }: Principal): Rights {
  return isAnybody && rights.kind === 'policies' ? { ...rights, userId: ANYBODY } : rights
}

function namesAnybody(filter: Filter): boolean {
  switch (filter.kind) {
    case 'compare':
    case 'match':
      return filter.operand === ANYBODY
    case 'between':
      return filter.low === ANYBODY || filter.high === ANYBODY
    case 'in':
    case 'elements':
      return filter.operands.includes(ANYBODY)
    case 'json':
      return 'operands' in filter.test && filter.test.operands.includes(ANYBODY)
    default:
      return false
  }
}

/** Of a list of values, the others stay known. */
function withUserApart(filter: Filter): Filter {
  if (filter.kind !== 'in' || !namesAnybody(filter)) return mapFilter(filter, withUserApart)
  const { negated, operands, ...of } = filter
  const others = operands.filter((operand) => operand !== ANYBODY)
  const apart: Filter = { ...of, kind: 'compare', operator: negated ? '<>' : '=', operand: ANYBODY }
  const parts = others.length === 0 ? [apart] : [{ ...filter, operands: others }, apart]
  return negated ? and(parts) : or(parts)
}

/** What a policy gives by itself to whom it is given with others. */
function aloneRights(principal: Principal, { content }: HeldPolicy): Rights {
  const { roleIds } = principal
  const rights = rightsOf(principal)
  const userId = rights.kind === 'scoped' ? undefined : rights.userId
  const entitlements = new Set(content.entitlements)
  return { kind: 'policies', userId, roleIds, policies: [content], entitlements }
}

function conditionOf(
  { content }: HeldPolicy,
  { id, apiName }: Collection,
  { model, action }: Pick<ExplainRequest, 'model' | 'action'>,
): JudgedPolicy['condition'] {
  const own = content.collections[id]
  if (own === undefined) return undefined
  const part = presentPolicy({ entitlements: [], collections: { [id]: own } }, model).collections[apiName]?.[action]
  if (part === undefined || part === 'all') return undefined
  const { filter, validation }: { filter?: Record<string, unknown>; validation?: Record<string, unknown> } = part
  return action === 'create' ? validation : filter
}

/** The names of policies are shown to every caller of this; of other things, the names of those that the caller can use or read about. */
function namedThings(question: ExplainRequest): { readonly collection: Collection; readonly field: Field | undefined } {
  const { model, callerRights, principal, declared, collection: name, field: fieldName } = question
  const viewer = viewerOf(callerRights, model)
  const view = modelViewOf(viewer, declared)
  const seesModel = hasEntitlement(callerRights, 'dataModel:read')
  const references = principal.policies.map(({ content }) => policyReferences(content))
  const collection = model.byName.get(name)
  const isKnown =
    collection !== undefined &&
    (seesModel ||
      references.some(({ collectionIds }) => collectionIds.has(collection.id)) ||
      actions.some((action) => view.may(collection, action)))
  if (!isKnown) throw unknown('collection', `${shortName(name)} is not a collection`)
  if (fieldName === undefined) return { collection, field: undefined }
  const field = collection.fields.get(fieldName)
  const isKnownField =
    field !== undefined &&
    (seesModel || references.some(({ fieldIds }) => fieldIds.has(field.id)) || isKnownIn(view, collection, field))
  if (isKnownField) return { collection, field }
  throw unknown('field', `${shortName(fieldName)} is not a field of ${collection.apiName}`)
}

function unknown(place: string, reason: string) {
  return nested('invalid', ['Failed to read the JSON body', place, reason])
}
