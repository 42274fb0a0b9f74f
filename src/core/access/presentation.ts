/**
 * Access to the names and views of collections and fields (docs/contract.md#names-and-views). A caller who may not read the
 * model gets those of the collections and fields that the caller can use.
 */
import type { Collection, Field, Model, PrimitiveField } from '../model/model.ts'
import type { PresentationName } from '../model/presentation.ts'
import { all, and, type Filter, none, or } from '../query/filter.ts'
import {
  type Access,
  type Action,
  actions,
  denied,
  type Grant,
  granted,
  linkRows,
  usesField,
  type Viewer,
} from './access.ts'
import { hasEntitlement, type Rights } from './principal.ts'

type Asking = { readonly rights: Rights; readonly model: Model; readonly viewer: Viewer }

export function presentationAccess(asking: Asking, collection: Collection, action: Action): Access {
  const isEditor = hasEntitlement(asking.rights, 'dataModel:edit')
  if (collection.apiName === ('ServiceView' satisfies PresentationName)) return viewAccess(asking, collection, action)
  if (action !== 'read') return isEditor ? granted([everywhere]) : denied
  if (isEditor || hasEntitlement(asking.rights, 'dataModel:read')) return granted([everywhere])
  return collection.apiName === ('ServiceFieldMeta' satisfies PresentationName)
    ? ofUsableFields(asking, collection)
    : ofUsableCollections(asking, collection)
}

const everywhere: Grant = { rows: all, fields: 'every', validation: all }

/** A template names fields, so it is visible only if all of them are readable. */
function ofUsableCollections({ model, viewer }: Asking, collection: Collection): Access {
  const usable = usableCollections(model, viewer)
  const open = usable.filter((one) => isOpen(one, viewer)).map(({ id }) => id)
  const column = columnOf(collection, 'collectionId')
  const grants = [
    { rows: among(column, open), fields: 'every' as const, validation: all },
    {
      rows: among(
        column,
        usable.map(({ id }) => id),
      ),
      fields: withoutTemplate(collection),
      validation: all,
    },
  ].filter(({ rows }) => rows.kind !== 'none')
  return grants.length === 0 ? denied : granted(grants)
}

function ofUsableFields({ model, viewer }: Asking, collection: Collection): Access {
  const usable = usableCollections(model, viewer)
  const open = usable.filter((one) => isOpen(one, viewer)).map(({ id }) => id)
  const partly = usable.filter((one) => !isOpen(one, viewer))
  const fields = partly.flatMap((one) =>
    [...one.fields.values()].filter((field) => isUsable(one, field, viewer)).map(({ id }) => id),
  )
  const grants: Grant[] = []
  if (open.length > 0) grants.push({ ...everywhere, rows: among(columnOf(collection, 'collectionId'), open) })
  if (fields.length > 0) {
    const rows = among(columnOf(collection, 'fieldId'), fields)
    grants.push({ rows, fields: withoutTemplate(collection), validation: all })
  }
  return grants.length === 0 ? denied : granted(grants)
}

/** Private views belong to their owner; views of roles and of the workspace are written by accounts that may edit the model. */
function viewAccess({ rights, model, viewer }: Asking, collection: Collection, action: Action): Access {
  const isEditor = hasEntitlement(rights, 'dataModel:edit')
  const seesAll = isEditor || hasEntitlement(rights, 'dataModel:read')
  const { userId, roleIds } = holderOf(rights)
  const [owner, role] = [columnOf(collection, 'userId'), columnOf(collection, 'roleId')]
  const usable = usableCollections(model, viewer).map(({ id }) => id)
  if (!seesAll && usable.length === 0) return denied
  const ofUsable = seesAll ? all : among(columnOf(collection, 'collectionId'), usable)
  const own = userId === undefined ? none : among(owner, [userId])
  const isShared = missing(owner)
  const isSelf = and([own, missing(role)])
  if (action === 'read') {
    const shared = seesAll ? isShared : and([isShared, or([missing(role), among(role, roleIds)])])
    return granted([{ ...everywhere, rows: and([ofUsable, or([own, shared])]) }])
  }
  const rows = isEditor ? or([own, isShared]) : own
  if (rows.kind === 'none') return denied
  const validation = isEditor ? or([isSelf, isShared]) : and([ofUsable, isSelf])
  return granted([{ rows: action === 'create' ? all : rows, fields: 'every', validation }])
}

function usableCollections({ collections }: Model, { accessTo }: Viewer): readonly Collection[] {
  return [...collections.values()].filter(
    (collection) => !collection.isSystem && actions.some((action) => accessTo(collection, action).kind === 'granted'),
  )
}

function isOpen(collection: Collection, viewer: Viewer): boolean {
  return [...collection.fields.values()].every((field) => isUsable(collection, field, viewer))
}

function isUsable(collection: Collection, field: Field, viewer: Viewer): boolean {
  if (field.kind === 'relation' && linkRows(viewer, field) === undefined) return false
  return usesField(viewer, collection, field)
}

/** The user and the roles whose views these rights may read. */
export function holderOf(rights: Rights): { readonly userId: string | undefined; readonly roleIds: readonly string[] } {
  if (rights.kind === 'scoped') return holderOf(rights.rights)
  return rights.kind === 'all' ? { userId: rights.userId, roleIds: [] } : rights
}

function columnOf({ fields, apiName }: Collection, name: string): PrimitiveField {
  const field = fields.get(name)
  if (field?.kind === 'primitive') return field
  throw new TypeError(`${apiName} has no column ${name}`)
}

function withoutTemplate({ primitives }: Collection): ReadonlySet<string> {
  return new Set(primitives.filter(({ apiName }) => apiName !== 'displayTemplate').map(({ id }) => id))
}

function among(field: PrimitiveField, operands: readonly string[]): Filter {
  return operands.length === 0 ? none : { kind: 'in', field, visible: all, negated: false, operands }
}

function missing(field: PrimitiveField): Filter {
  return { kind: 'null', field, visible: all, negated: false }
}
