/**
 * Merges policies into Access; no other file does (docs/contract.md#how-policies-act). Each policy with the action is
 * one grant; access.ts unites grants.
 */
import { ServiceError } from '../error.ts'
import { isFiles, isUploading, withContent } from '../model/file-collection.ts'
import type { Collection, Field, Model } from '../model/model.ts'
import { all, type Filter } from '../query/filter.ts'
import { type FieldResolver, resolveFilter } from '../query/resolve.ts'
import { type Access, type Action, denied, fullAccess, type Grant, granted, type Viewer } from './access.ts'
import { intersected, requireReadable } from './intersect.ts'
import { fieldById, jsonFilter, type PolicyAction, type PolicyContent, usesCurrentUser } from './policy.ts'
import { presentationAccess } from './presentation.ts'
import { hasEntitlement, type Rights, type ScopedRights, scopeAllows } from './principal.ts'
import { policyVariable } from './variable.ts'

/** Returns the access that `rights` give on `model`. Each collection and action is merged on first use. */
export function viewerOf(rights: Rights, model: Model): Viewer {
  if (rights.kind === 'scoped') return scopedViewer(rights, model)
  const system = systemAccessOf(rights, model)
  const merged = new Map<string, Access>()
  const viewer: Viewer = {
    seesModel: hasEntitlement(rights, 'dataModel:read'),
    accessTo(collection, action) {
      if (collection.isSystem && !isFiles(collection)) return system(viewer, collection, action)
      if (action === 'create' && isFiles(collection) && !isUploading(collection)) return denied
      if (rights.kind === 'all') return fullAccess
      const path = `${collection.id} ${action}`
      const access =
        merged.get(path) ?? mergePolicies(rights, model.collections.get(collection.id) ?? collection, action)
      merged.set(path, access)
      return access
    },
  }
  return viewer
}

/** Limits the access of the key's user to the scope of the key. */
function scopedViewer(scoped: ScopedRights, model: Model): Viewer {
  const whole = viewerOf(scoped.rights, model)
  if (scoped.within !== undefined) return readerWithin(whole, { viewer: viewerOf(scoped.within, model), model })
  const system = systemAccessOf(scoped, model)
  const viewer: Viewer = {
    seesModel: hasEntitlement(scoped, 'dataModel:read'),
    accessTo(collection, action) {
      if (!scopeAllows(scoped, collection.id, action)) return denied
      if (collection.isSystem && !isFiles(collection)) return system(viewer, collection, action)
      return whole.accessTo(collection, action)
    },
  }
  return viewer
}

/** A viewer with the read access of both; `seesModel` is that of the asking viewer. */
function readerWithin(other: Viewer, asking: { readonly viewer: Viewer; readonly model: Model }): Viewer {
  const own = asking.viewer
  const known = new Map<string, Access>()
  return {
    seesModel: own.seesModel,
    accessTo(collection, action) {
      if (action !== 'read') return denied
      const access = known.get(collection.id)
      if (access !== undefined) return access
      const theirs = other.accessTo(collection, action)
      requireReadable(asking, collection, theirs)
      const both = intersected(own.accessTo(collection, action), theirs)
      known.set(collection.id, both)
      return both
    },
  }
}

/** Access to system collections: read by entitlement. Except for names and views, only migrations write them. */
function systemAccessOf(rights: Rights, model: Model) {
  const presented = new Map<string, Access>()
  return (viewer: Viewer, collection: Collection, action: Action): Access => {
    const { apiName, id, isReadOnly } = collection
    if (isReadOnly) {
      const needed = apiName === 'ServiceDataSource' ? 'dataSource:read' : 'dataModel:read'
      return action === 'read' && hasEntitlement(rights, needed) ? fullAccess : denied
    }
    const path = `${id} ${action}`
    const access = presented.get(path) ?? presentationAccess({ rights, model, viewer }, collection, action)
    presented.set(path, access)
    return access
  }
}

type PolicyRights = Extract<Rights, { kind: 'policies' }>

function mergePolicies(rights: PolicyRights, collection: Collection, action: Action): Access {
  const speaking = rights.policies.flatMap((policy) => {
    const part = policy.collections[collection.id]?.[action]
    return part === undefined || (rights.userId === undefined && usesCurrentUser(policy)) ? [] : [part]
  })
  if (speaking.includes('all')) return fullAccess
  const resolver: FieldResolver = {
    field: (of, id) => ({ field: known(of, id), visible: all }),
    rowsOf: () => all,
    linksOf: () => all,
    variable: policyVariable(rights),
  }
  const grants = speaking.flatMap((part) => grantOf(part, collection, resolver) ?? [])
  return grants.length === 0 ? denied : granted(grants)
}

/**
 * Returns undefined if the action names a deleted field, or uses an operator that the field's new type does not support: the
 * action then grants nothing, without an error.
 */
function grantOf(action: PolicyAction, collection: Collection, resolver: FieldResolver): Grant | undefined {
  if (action === 'all') return { rows: all, fields: 'every', validation: all }
  const {
    fields = '*',
    filter,
    check,
    validation,
  }: Exclude<PolicyContent['collections'][string]['update'], 'all' | undefined> = action
  const resolved = (part: Record<string, unknown> | undefined): Filter =>
    part === undefined ? all : resolveFilter(jsonFilter(part), { resolver, collection, path: 'policy' })
  try {
    return {
      rows: resolved(filter),
      fields:
        fields === '*' ? 'every' : isUploading(collection) ? withContent(new Set(fields), collection) : new Set(fields),
      ...(check !== undefined && { check: resolved(check) }),
      validation: resolved(validation),
    }
  } catch (error) {
    if (error instanceof GoneField || error instanceof ServiceError) return undefined
    throw error
  }
}

class GoneField extends Error {}

function known(collection: Collection, id: string): Field {
  const field = fieldById(collection, id)
  if (field === undefined) throw new GoneField(`${collection.apiName} has no field ${id}`)
  return field
}
