/**
 * What one caller may do with each collection, in short: everything, nothing, or what their policies say of some fields. It is
 * told from what decides, so that whoever goes by it meets no refusal but that of a row.
 */

import { type Action, actions, type Granted, type Viewer, validRows, waysToChange } from '../access/access.ts'
import { type ItemOperation, servesOperation } from '../connector/item-capabilities.ts'
import type { Collection, Field, Model } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import type { ModelView } from './model-view.ts'

/** Of `custom`, fields are those that may be used in some rows; of a deletion there are none. */
export type ActionRights = 'all' | 'none' | { readonly access: 'custom'; readonly fields: readonly string[] }

export type CollectionRights = Readonly<Record<Action, ActionRights>>

/** By API name, without those collections with which nothing may be done. */
export function* accessView(
  model: Model,
  viewer: Viewer,
  view: ModelView,
): Parts<Readonly<Record<string, CollectionRights>>> {
  const rights: Record<string, CollectionRights> = {}
  for (const collection of model.collections.values()) {
    const own = { read: 'none', create: 'none', update: 'none', delete: 'none' } as Record<Action, ActionRights>
    for (const action of actions) {
      own[action] = rightsTo(collection, action, viewer, view)
      yield
    }
    if (actions.some((action) => own[action] !== 'none')) rights[collection.apiName] = own
  }
  return rights
}

function rightsTo(collection: Collection, action: Action, viewer: Viewer, view: ModelView): ActionRights {
  const access = viewer.accessTo(collection, action)
  if (access.kind === 'denied' || !view.may(collection, action) || !isServed(collection, action, view)) return 'none'
  const isDeletion = action === 'delete'
  const fields = isDeletion
    ? []
    : [...collection.primitives, ...collection.relations].filter((field) => isUsable(field, action))
  const extents = fields.map((field) => view.uses(collection, field, action))
  const ids = fields.map(({ id }) => id)
  if (isUnconditional(access, action, ids) && extents.every((extent) => extent === 'always')) return 'all'
  const used = fields.filter((_, index) => extents[index] !== 'never')
  return { access: 'custom', fields: used.map(({ apiName }) => apiName) }
}

/** The names of the fields with which something may be done, in some rows at least. */
export function usableFields(
  collection: Collection,
  action: Action,
  viewer: Viewer,
  view: ModelView,
): readonly string[] {
  const rights = rightsTo(collection, action, viewer, view)
  if (rights === 'none') return []
  if (rights !== 'all') return rights.fields
  const all = [...collection.primitives, ...collection.relations]
  return all.filter((field) => isUsable(field, action)).map(({ apiName }) => apiName)
}

function isUnconditional(access: Granted, action: Action, fieldIds: readonly string[]): boolean {
  if (action === 'update') {
    return waysToChange(access, fieldIds).every((ways) =>
      ways.some(({ before, valid }) => before.kind === 'all' && valid.kind === 'all'),
    )
  }
  return access.rows.kind === 'all' && (action !== 'create' || validRows(access, fieldIds).kind === 'all')
}

/** A connector may have declared less than the caller is allowed. */
export function isServed(collection: Collection, action: Action, { declared }: Pick<ModelView, 'declared'>): boolean {
  const capabilities = declared(collection)
  return capabilities === undefined || serving[action].some((one) => servesOperation(capabilities, one))
}

const serving = {
  read: ['readOne'],
  create: ['create'],
  update: ['updateOne', 'updateMany'],
  delete: ['deleteOne', 'deleteMany'],
} as const satisfies Readonly<Record<Action, readonly ItemOperation[]>>

/** What the database makes is not written. */
export function isUsable(field: Field, action: Action): boolean {
  return action === 'read' || field.kind === 'relation' || !field.isReadOnly
}
