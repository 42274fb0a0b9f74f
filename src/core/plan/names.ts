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
    const meant = didYouMean(name, readableNames(model, viewer))
    throw nested('notFound', [QUERY_FAILED, `collection ${shortName(name)} does not exist${meant}`])
  }
  throw forbidden()
}

export type UsableField = { readonly field: Field; readonly visible: Filter }

/** Returns the field called `name`; throws if it does not exist or `access` does not include it. */
export function usableField(
  viewer: Viewer,
  collection: Collection,
  access: Granted,
  name: string,
  path: string,
): UsableField {
  const field = collection.fields.get(name)
  const visible = field === undefined ? undefined : visibility(access, field)
  if (field !== undefined && visible !== undefined) return { field, visible }
  if (field === undefined && viewer.seesModel) {
    const meant = didYouMean(name, readableFields(viewer, collection, access))
    throw queryFault(path, `is not a field of ${collection.apiName}${meant}`)
  }
  throw forbidden(shortName(name))
}

/**
 * Like `usableField`, for reading: a relation to a collection that the caller may not read is hidden, whatever policies
 * allow on the field.
 */
export function readableField(
  viewer: Viewer,
  collection: Collection,
  access: Granted,
  name: string,
  path: string,
): UsableField {
  const usable = usableField(viewer, collection, access, name, path)
  const { field } = usable
  if (field.kind === 'relation' && linkRows(viewer, field) === undefined) throw forbidden(shortName(name))
  return usable
}

/** Names that may be suggested to the caller: only those that it may read. */
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
  throw forbidden()
}

/** Read-only collections refuse writes, after access is checked, so that a caller without access learns nothing. */
export function writeAccess(viewer: Viewer, collection: Collection, action: Exclude<Action, 'read'>): Granted {
  const access = viewer.accessTo(collection, action)
  if (access.kind === 'denied') throw forbidden()
  if (collection.isReadOnly) throw queryFault(collection.apiName, 'is read-only')
  return access
}

export function fieldEquals(field: PrimitiveField, visible: Filter, operand: Operand): Filter {
  return { kind: 'compare', field, visible, operator: '=', operand }
}

/** `field` is the refused name as sent; shown only to callers that may read policies. */
export class Forbidden extends ServiceError {
  readonly field: string | undefined

  constructor(field?: string) {
    super('forbidden', 'You are not allowed to do this')
    this.field = field
  }
}

export function forbidden(field?: string): ServiceError {
  return new Forbidden(field)
}
