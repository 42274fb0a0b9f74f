/**
 * What one caller may do with one collection by one action. A grant is what one policy gives; several grants are united
 * here. Nothing is planned without an Access; a caller without any policy has `denied`.
 */
import type { Collection, Field } from '../model/model.ts'
import { all, and, type Filter, none, unite } from '../query/filter.ts'

export type Action = 'read' | 'create' | 'update' | 'delete'

/** What one policy allows: in these rows these fields, and what must hold of the row afterwards. */
export type Grant = {
  readonly rows: Filter
  readonly fields: 'every' | ReadonlySet<string>
  readonly validation: Filter
}

export type Access = { readonly kind: 'denied' } | Granted

export type Granted = {
  readonly kind: 'granted'
  readonly grants: readonly Grant[]
  /** The rows of all grants together. */
  readonly rows: Filter
}

export const denied: Access = { kind: 'denied' }

export function granted(grants: readonly Grant[]): Granted {
  return { kind: 'granted', grants, rows: unite(grants.map(({ rows }) => rows)) }
}

export const fullAccess: Granted = granted([{ rows: all, fields: 'every', validation: all }])

/** Reads nothing, of anything: what comes back to somebody who may write but not read. */
export const writeOnlyAccess: Granted = granted([{ rows: none, fields: new Set(), validation: all }])

/** The rows in which `field` may be used, within `access.rows`; undefined where it may not be used at all. */
export function visibility(access: Granted, field: Field): Filter | undefined {
  const admitting = access.grants.filter((grant) => admits(grant, field.id))
  if (admitting.length === access.grants.length) return all
  return admitting.length === 0 ? undefined : unite(admitting.map(({ rows }) => rows))
}

/** What must be true of a row before these fields of it are written. */
export function writableRows(access: Granted, fieldIds: readonly string[]): Filter {
  return justified(access, fieldIds, ({ rows }) => rows)
}

/** What must be true of a row after these fields of it were written. */
export function validRows(access: Granted, fieldIds: readonly string[]): Filter {
  return justified(access, fieldIds, ({ rows, validation }) => and([rows, validation]))
}

/** Each field needs a grant of its own; a write of no field needs any grant. */
function justified(access: Granted, fieldIds: readonly string[], conditionOf: (grant: Grant) => Filter): Filter {
  if (fieldIds.length === 0) return unite(access.grants.map(conditionOf))
  return and(fieldIds.map((fieldId) => unite(access.grants.filter((grant) => admits(grant, fieldId)).map(conditionOf))))
}

function admits({ fields }: Grant, fieldId: string): boolean {
  return fields === 'every' || fields.has(fieldId)
}

/** Whoever asks, as far as planning is concerned. */
export type Viewer = {
  readonly accessTo: (collection: Collection, action: Action) => Access
  /** Holds `dataModel:read`: may be told that a collection or field does not exist, or is hidden. */
  readonly seesModel: boolean
}
