/**
 * Adds details to errors of item requests: the refused action and collection, and the fields of a violated constraint. Only
 * names that the caller may know are added, so that hidden and missing names give the same error.
 */
import { type Action, actions, type Viewer, visibility } from '../../core/access/access.ts'
import { type Rights, readsPolicies } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { ServiceErrorCode } from '../../core/error-codes.ts'
import { describeLimits } from '../../core/model/checks.ts'
import type { Collection, Model, PrimitiveField } from '../../core/model/model.ts'
import { Forbidden } from '../../core/plan/names.ts'
import { OperationFault, withOperation } from '../../core/plan/operation-fault.ts'
import { isDatabaseGiven, writtenReferences } from '../../core/plan/references.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { OutOfRange } from '../../sources/assertion-error.ts'
import { namedIn, refusedField } from './refused-value.ts'

export type FailedRequest = {
  readonly model: Model
  readonly viewer: Viewer
  readonly rights: Rights
  /** The collection name in the request's path. */
  readonly name: string
  readonly action: Action
  /** The text of its body and its query. */
  readonly sent: () => string
}

/** Returns `error` with the details that this caller may know; for a batch, also with the place of its operation. */
export function explainError(
  error: unknown,
  isBatch: boolean,
  requestOf: (operation: number) => FailedRequest,
): unknown {
  if (!(error instanceof ServiceError)) return error
  if (!(error instanceof OperationFault)) return explained(error, requestOf(0))
  const shown = explained(error.fault, requestOf(error.operation))
  return isBatch ? withOperation(shown, error.operation) : shown
}

/** The failed operation of a batch; the first if the failed one is unknown. */
export function operationOf(error: unknown): number {
  return error instanceof OperationFault ? error.operation : 0
}

function explained(error: ServiceError, refused: FailedRequest): ServiceError {
  if (error instanceof Forbidden) return explainForbidden(error, refused)
  return error.kind === 'invalid' ? withFields(error, refused) : error
}

/** For a nested write or read, names the collection of the refused item if the caller knows that collection. */
function explainForbidden(error: Forbidden, request: FailedRequest): ServiceError {
  const { model, viewer, rights } = request
  const { refused } = error
  const own = model.collections.get(refused.collectionId ?? '')
  const isNested = own !== undefined && isKnown(viewer, own)
  const collection = isNested ? own : model.byName.get(request.name)
  const { action = request.action } = isNested ? refused : request
  if (collection === undefined || !isKnown(viewer, collection)) return new ServiceError('forbidden', error.message)
  const { apiName: name } = collection
  const fields = readsPolicies(rights) && refused.field !== undefined ? { fields: [refused.field] } : {}
  return new ServiceError('forbidden', error.message, {
    cause: new ServiceError('forbidden', `${action} on ${name}`, { cause: error.cause }),
    meta: { action, collection: name, ...fields },
  })
}

function isKnown(viewer: Viewer, collection: Collection): boolean {
  return viewer.seesModel || actions.some((action) => viewer.accessTo(collection, action).kind === 'granted')
}

function withFields(error: ServiceError, refused: FailedRequest): ServiceError {
  if (error instanceof OutOfRange) return withRange(error, refused)
  const { cause } = error
  if (cause instanceof ServiceError) {
    const named = withFields(cause, refused)
    if (named === cause) return error
    const { code, meta } = error
    return new ServiceError(error.kind, error.message, { cause: named, ...(code && { code }), ...(meta && { meta }) })
  }
  if (!(cause instanceof SqlFault) || error.code === undefined) return error
  const fields = constrained(cause, error.code, refused)
  if (fields.length === 0) return error
  const owner = refused.model.collections.get(fields[0]?.collectionId ?? '')?.apiName
  const meta = {
    ...(owner !== refused.name && { collection: owner }),
    fields: fields.map(({ apiName }) => apiName),
  }
  return new ServiceError(error.kind, error.message, {
    code: error.code,
    meta,
    cause: meaningOf(cause, error.code, fields),
  })
}

/** Names the field without a check of rights, because a caller that changes a value by an operator may read the field. */
function withRange({ fieldId, kind, message, code }: OutOfRange, { model, name }: FailedRequest): ServiceError {
  const owners = [...model.collections.values()]
  const owner = owners.find(({ primitives }) => primitives.some(({ id }) => id === fieldId))
  const fields = owner?.primitives.filter(({ id }) => id === fieldId).map(({ apiName }) => apiName)
  const meta = { ...(owner?.apiName !== name && { collection: owner?.apiName }), fields }
  return new ServiceError(kind, message, { ...(code && { code }), meta })
}

/** Describes the violated check or enum in words; otherwise returns the fault itself, which callers do not see. */
function meaningOf(fault: SqlFault, code: ServiceErrorCode, [field]: readonly PrimitiveField[]): Error {
  if (field !== undefined && fault.message.startsWith('index row')) {
    return new ServiceError('invalid', `${field.apiName} is too long for its index`, { cause: fault })
  }
  const values = code === '1001' ? field?.native?.values : undefined
  const check = field?.checks?.find(({ name }) => name === bareName(fault))
  const limits = values ? { values } : check?.limits
  if (field === undefined || limits === undefined) return fault
  return new ServiceError('invalid', `${field.apiName} ${check?.says ?? describeLimits(limits)}`, { cause: fault })
}

/** Returns the fields of a violated constraint that the caller may read. */
function constrained(
  fault: SqlFault,
  code: ServiceErrorCode,
  { model, viewer, name, sent }: FailedRequest,
): readonly PrimitiveField[] {
  const own = model.byName.get(name)
  if (own === undefined) return []
  const near = new Set([own, ...own.relations.map(({ target }) => target)])
  if (code === '1001') {
    const field = refusedField(fault, near, sent())
    const access = viewer.accessTo(model.collections.get(field?.collectionId ?? '') ?? own, 'read')
    if (field !== undefined) return access.kind === 'granted' && visibility(access, field) ? [field] : []
    // Falls through: the fault of a value that is too long for an index may name the index.
  }
  // The check of a domain may apply to any of several fields, or to a value within a field.
  const isUnclear = code === '1005' && fault.table === undefined
  const hasField = (collection: Collection) => fieldsOf(fault, { code, model, collection }).length > 0
  if (isUnclear && [...near].filter(hasField).length > 1) return []
  const named = namedIn(isUnclear ? sent() : '')
  if ([...near].some(({ primitives }) => primitives.some((field) => mayHold(field, named)))) return []
  for (const collection of near) {
    if (fault.table !== undefined && fault.table !== collection.dbName) continue
    const fields = fieldsOf(fault, { code, model, collection })
    if (fields.length === 0) continue
    const access = viewer.accessTo(collection, 'read')
    if (access.kind === 'denied') return []
    // The database looks up values that it provides itself, so its constraint must not reveal more than a hidden target would.
    const names = fields.filter(isDatabaseGiven).map(({ apiName }) => apiName)
    if (code === '1004' && writtenReferences(viewer, collection, names).length > 0) return []
    return fields.filter((field) => visibility(access, field) !== undefined)
  }
  return []
}

/** True if the request names the column and the column may contain values of domains. */
function mayHold({ apiName, isList, native }: PrimitiveField, named: ReadonlySet<string>): boolean {
  const isComposite = native !== null && native.values === undefined && native.schema !== 'pg_catalog'
  return (isList || isComposite) && named.has(apiName)
}

type Place = { readonly code: ServiceErrorCode; readonly model: Model; readonly collection: Collection }

function fieldsOf(fault: SqlFault, { code, model, collection }: Place): readonly PrimitiveField[] {
  const { indexes, primaryKey, primitives, relations } = collection
  if (code === '1003') return primitives.filter(({ dbName }) => dbName === fault.column)
  const bare = bareName(fault)
  if (bare === undefined) return []
  if (code === '1005') {
    const checked = primitives.filter(({ checks = [] }) => checks.some(({ name }) => name === bare))
    // If several columns have the checks of a domain, the database does not report which column failed.
    return checked.length === 1 ? checked : []
  }
  if (code === '1002' || code === '1001') {
    return bare === 'PRIMARY' ? primaryKey : (indexes.find(({ dbName }) => dbName === bare)?.fields ?? [])
  }
  const { constraints, relationFields } = model.records
  const ids = new Set(constraints.filter(({ dbName }) => dbName === bare).map(({ id }) => id))
  const owners = new Set(relationFields.filter(({ constraintId }) => ids.has(constraintId ?? '')).map(({ id }) => id))
  const relation = code === '1004' ? relations.find(({ id }) => owners.has(id)) : undefined
  return relation?.joins.map(({ own }) => own) ?? []
}

/** MySQL and MariaDB qualify a constraint with its table. */
function bareName({ constraint }: SqlFault): string | undefined {
  return constraint?.slice(constraint.lastIndexOf('.') + 1)
}
