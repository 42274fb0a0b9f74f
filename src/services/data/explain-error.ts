/**
 * Adds details to errors of item requests: the refused action and collection, and the fields of a violated constraint.
 * Only names that the caller may know are added, so that hidden and missing things give the same error.
 */
import { type Action, type Viewer, visibility } from '../../core/access/access.ts'
import { hasEntitlement, type Rights } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { ServiceErrorCode } from '../../core/error-codes.ts'
import type { Collection, Model, PrimitiveField } from '../../core/model/model.ts'
import { Forbidden } from '../../core/plan/names.ts'
import { SqlFault } from '../../core/sql/fault.ts'

export type FailedRequest = {
  readonly model: Model
  readonly viewer: Viewer
  readonly rights: Rights
  /** As in the request's path. */
  readonly name: string
  readonly action: Action
}

/** Returns `error` with the details that this caller may know. */
export function explainError(error: unknown, refused: FailedRequest): unknown {
  if (!(error instanceof ServiceError)) return error
  if (error instanceof Forbidden) return explainForbidden(error, refused)
  return error.kind === 'invalid' ? withFields(error, refused) : error
}

function explainForbidden(error: Forbidden, { model, viewer, rights, name, action }: FailedRequest): ServiceError {
  const collection = model.byName.get(name)
  if (collection === undefined || !isKnown(viewer, collection)) return new ServiceError('forbidden', error.message)
  const readsPolicies =
    hasEntitlement(rights, 'workspaceMembers:read') || hasEntitlement(rights, 'workspaceMembers:edit')
  const fields = readsPolicies && error.field !== undefined ? { fields: [error.field] } : {}
  return new ServiceError('forbidden', error.message, {
    cause: new ServiceError('forbidden', `${action} on ${name}`),
    meta: { action, collection: name, ...fields },
  })
}

const actions = ['read', 'create', 'update', 'delete'] as const

function isKnown(viewer: Viewer, collection: Collection): boolean {
  return viewer.seesModel || actions.some((action) => viewer.accessTo(collection, action).kind === 'granted')
}

function withFields(error: ServiceError, refused: FailedRequest): ServiceError {
  const { cause } = error
  if (cause instanceof ServiceError) {
    const told = withFields(cause, refused)
    if (told === cause) return error
    const { code, meta } = error
    return new ServiceError(error.kind, error.message, { cause: told, ...(code && { code }), ...(meta && { meta }) })
  }
  if (!(cause instanceof SqlFault) || error.code === undefined) return error
  const fields = constrained(cause, error.code, refused)
  return fields.length === 0
    ? error
    : new ServiceError(error.kind, error.message, { code: error.code, meta: { fields }, cause })
}

/** Returns the names of a violated constraint's fields, of those that the caller may read. */
function constrained(
  fault: SqlFault,
  code: ServiceErrorCode,
  { model, viewer, name }: FailedRequest,
): readonly string[] {
  const own = model.byName.get(name)
  if (own === undefined) return []
  const near = [own, ...own.relations.map(({ target }) => target)]
  for (const collection of new Set(near)) {
    if (fault.table !== undefined && fault.table !== collection.dbName) continue
    const fields = fieldsOf(fault, { code, model, collection })
    if (fields.length === 0) continue
    const access = viewer.accessTo(collection, 'read')
    if (access.kind === 'denied') return []
    return fields.filter((field) => visibility(access, field) !== undefined).map(({ apiName }) => apiName)
  }
  return []
}

type Place = { readonly code: ServiceErrorCode; readonly model: Model; readonly collection: Collection }

function fieldsOf({ constraint, column }: SqlFault, { code, model, collection }: Place): readonly PrimitiveField[] {
  const { indexes, primaryKey, primitives, relations } = collection
  if (code === '1003') return primitives.filter(({ dbName }) => dbName === column)
  if (constraint === undefined) return []
  // MySQL qualifies the constraint with its table.
  const bare = constraint.slice(constraint.lastIndexOf('.') + 1)
  if (code === '1002') {
    return bare === 'PRIMARY' ? primaryKey : (indexes.find(({ dbName }) => dbName === bare)?.fields ?? [])
  }
  const { constraints, relationFields } = model.records
  const ids = new Set(constraints.filter(({ dbName }) => dbName === bare).map(({ id }) => id))
  const owners = new Set(relationFields.filter(({ constraintId }) => ids.has(constraintId ?? '')).map(({ id }) => id))
  const relation = code === '1004' ? relations.find(({ id }) => owners.has(id)) : undefined
  return relation?.joins.map(({ own }) => own) ?? []
}
