/**
 * Resolves names of a request to fields that the caller may use. Without the right to read the model, unknown and
 * hidden names give the same error (docs/contract.md#items).
 */

import { type Access, type Action, type Granted, linkRows, type Viewer, visibility } from '../access/access.ts'
import { nested, ServiceError } from '../error.ts'
import { QUERY_FAILED } from '../error-codes.ts'
import { shortName } from '../message-text.ts'
import type { Collection, Field, Model, PrimitiveField } from '../model/model.ts'
import { didYouMean } from '../nearest.ts'
import type { Filter } from '../query/filter.ts'
import { queryFault } from '../query/parse.ts'
import type { Operand } from '../query/placeholder.ts'

/** Returns the collection of a route and the caller's access by `action`. */
export function openCollection(
  model: Model,
  viewer: Viewer,
  name: string,
  action: Action,
): { readonly collection: Collection; readonly access: Granted } {
  const collection = model.byName.get(name)
  const access: Access = collection === undefined ? { kind: 'denied' } : viewer.accessTo(collection, action)
  if (access.kind === 'granted' && collection !== undefined) return { collection, access }
  if (collection === undefined && viewer.seesModel) {
    const hint = didYouMean(name, readableNames(model, viewer))
    throw nested('notFound', [QUERY_FAILED, `collection ${shortName(name)} does not exist${hint}`])
  }
  throw forbidden()
}

export type UsableField = { readonly field: Field; readonly visible: Filter }

/** The intended action on a collection, and the caller's access by it. */
export type Using = {
  readonly viewer: Viewer
  readonly collection: Collection
  readonly action: Action
  readonly access: Granted
}

/** Returns the field called `name`; throws if it does not exist or `access` does not include it. */
export function usableField({ viewer, collection, action, access }: Using, name: string, path: string): UsableField {
  const field = collection.fields.get(name)
  const visible = field === undefined ? undefined : visibility(access, field)
  if (field !== undefined && visible !== undefined) return { field, visible }
  if (field === undefined && viewer.seesModel) {
    const hint = didYouMean(name, readableFields(viewer, collection, access))
    throw queryFault(path, `is not a field of ${collection.apiName}${hint}`)
  }
  throw new Forbidden({ collectionId: collection.id, action, field: shortName(name) })
}

/**
 * Like `usableField`, for reading: a relation to a collection that the caller may not read is hidden, even if policies allow
 * the field.
 */
export function readableField(
  viewer: Viewer,
  collection: Collection,
  access: Granted,
  name: string,
  path: string,
): UsableField {
  return followable({ viewer, collection, action: 'read', access }, name, path)
}

/** Like `usableField`; a relation must also lead to rows that the caller may read. */
export function followable(using: Using, name: string, path: string): UsableField {
  const usable = usableField(using, name, path)
  const { field } = usable
  if (field.kind !== 'relation' || linkRows(using.viewer, field) !== undefined) return usable
  throw new Forbidden({ collectionId: using.collection.id, action: using.action, field: shortName(name) })
}

/** Names that may be suggested to the caller, who may read all of them. */
function* readableNames(model: Model, viewer: Viewer): Iterable<string> {
  for (const collection of model.collections.values()) {
    if (viewer.accessTo(collection, 'read').kind === 'granted') yield collection.apiName
  }
}

function* readableFields(viewer: Viewer, collection: Collection, access: Granted): Iterable<string> {
  const read = viewer.accessTo(collection, 'read')
  if (read.kind === 'denied') return
  for (const field of collection.fields.values()) {
    const isHidden = field.kind === 'relation' && linkRows(viewer, field) === undefined
    if (!isHidden && visibility(read, field) !== undefined && visibility(access, field) !== undefined)
      yield field.apiName
  }
}

/**
 * Returns the caller's access to the target of a relation; a relation to a collection that it may not read is hidden.
 */
export function relatedAccess(viewer: Viewer, target: Collection): Granted {
  const access = viewer.accessTo(target, 'read')
  if (access.kind === 'granted') return access
  throw new Forbidden({ collectionId: target.id, action: 'read' })
}

/** Read-only collections refuse writes, after access is checked, so that a caller without access learns nothing. */
export function writeAccess(viewer: Viewer, collection: Collection, action: Exclude<Action, 'read'>): Granted {
  const access = viewer.accessTo(collection, action)
  if (access.kind === 'denied') throw new Forbidden({ collectionId: collection.id, action })
  if (collection.isReadOnly) throw queryFault(collection.apiName, 'is read-only')
  return access
}

export function fieldEquals(field: PrimitiveField, visible: Filter, operand: Operand): Filter {
  return { kind: 'compare', field, visible, operator: '=', operand }
}

/**
 * The refused part, as far as known; `field` is a name as sent, shown only to callers who may read policies. `hasLeft`: the
 * item may be updated before the change, but not after it.
 */
export type Refused = {
  readonly collectionId?: string
  readonly action?: Action
  readonly field?: string
  readonly hasLeft?: true
}

export class Forbidden extends ServiceError {
  readonly refused: Refused

  constructor(refused: Refused = {}) {
    const cause = refused.hasLeft && new ServiceError('forbidden', 'the item would leave what you may update')
    super('forbidden', 'You are not allowed to do this', { cause })
    this.refused = refused
  }
}

export function forbidden(refused?: Refused): ServiceError {
  return new Forbidden(refused)
}

/** For the error of a write that must find rows again. */
export function lacksKey({ apiName }: Collection): string {
  return `${apiName} has neither a primary key nor a unique index of required fields`
}
