/**
 * Access: what one caller may do with one collection by one action, as the union of the grants of the caller's policies;
 * `denied` without a matching policy. Every plan requires an Access.
 */
import type { Collection, Field, Model, RelationField } from '../model/model.ts'
import { all, and, type Filter, filterText, isTrue, none, unite } from '../query/filter.ts'

export const actions = ['read', 'create', 'update', 'delete'] as const
export type Action = (typeof actions)[number]

/** A deletion affects whole rows, so it has no fields. */
export const fieldActions = ['read', 'create', 'update'] as const satisfies readonly Action[]

/**
 * What one policy allows: the rows and fields that may be used, and the conditions that a row must meet after a write.
 */
export type Grant = {
  readonly rows: Filter
  readonly fields: 'every' | ReadonlySet<string>
  /** For an update, the rows that may result from `rows`; `rows` itself if absent. */
  readonly check?: Filter | undefined
  readonly validation: Filter
}

export type Access = { readonly kind: 'denied' } | Granted

export type Granted = {
  readonly kind: 'granted'
  readonly grants: readonly Grant[]
  /** Union of the rows of all grants. */
  readonly rows: Filter
}

export const denied: Access = { kind: 'denied' }

/** Grants with equal rows share one filter object, so that they can be compared by identity. */
export function granted(grants: readonly Grant[]): Granted {
  const known = new Map<string, Filter>()
  const shared = grants.map((grant) => {
    const text = filterText(grant.rows)
    const rows = known.get(text) ?? grant.rows
    known.set(text, rows)
    return { ...grant, rows }
  })
  return { kind: 'granted', grants: shared, rows: unite(shared.map(({ rows }) => rows)) }
}

export const fullAccess: Granted = granted([{ rows: all, fields: 'every', validation: all }])

/** Reads no row of any collection; used for the response to a caller that may write but not read. */
export const writeOnlyAccess: Granted = granted([{ rows: none, fields: new Set(), validation: all }])

/**
 * Returns the rows, within `access.rows`, in which `field` may be used; undefined if no grant admits the field. If every grant
 * has the rows of a grant that admits the field, these are all rows.
 */
export function visibility(access: Granted, field: Field): Filter | undefined {
  const rows = new Set(access.grants.filter((grant) => admits(grant, field.id)).map((grant) => grant.rows))
  if (rows.size === 0) return undefined
  return access.grants.every((grant) => rows.has(grant.rows)) ? all : unite([...rows])
}

/** True if the viewer may know of a field: by seeing the model, or by using the field in some row. */
export function knowsField(viewer: Viewer, collection: Collection, field: Field): boolean {
  return viewer.seesModel || usesField(viewer, collection, field)
}

/** True if the viewer may use the field by some action in some row. */
export function usesField({ accessTo }: Viewer, collection: Collection, field: Field): boolean {
  return fieldActions.some((action) => {
    const access = accessTo(collection, action)
    return access.kind === 'granted' && visibility(access, field) !== undefined
  })
}

/**
 * True if the viewer may use all of these fields in every row of the collection, without any check or validation. An undefined
 * field makes the result false.
 */
export function holdsEveryRow(
  viewer: Viewer,
  action: Action,
  collection: Collection,
  fields: readonly (Field | undefined)[],
): boolean {
  const access = viewer.accessTo(collection, action)
  if (access.kind === 'denied') return false
  const free = access.grants.filter(({ check = all, validation }) => and([check, validation]).kind === 'all')
  const holds = (grants: readonly Grant[]) => unite(grants.map(({ rows }) => rows)).kind === 'all'
  return (
    holds(free) && fields.every((field) => field !== undefined && holds(free.filter((one) => admits(one, field.id))))
  )
}

/** True if the viewer may do anything at all. */
export function mayDoAnything(viewer: Viewer, { collections }: Model): boolean {
  return [...collections.values()].some((one) =>
    actions.some((action) => viewer.accessTo(one, action).kind === 'granted'),
  )
}

/** Returns the condition that a row must meet before these fields are written. */
export function writableRows(access: Granted, fieldIds: readonly string[]): Filter {
  return justified(access, fieldIds, ({ rows }) => rows)
}

/** Returns the condition that a new row with these fields must meet. */
export function validRows(access: Granted, fieldIds: readonly string[]): Filter {
  return justified(access, fieldIds, ({ rows, validation }) => and([rows, validation]))
}

/** One way that a row may change: from `before` to `after`, where it also has to be `valid`. */
export type Way = { readonly before: Filter; readonly after: Filter; readonly valid: Filter }

/**
 * Returns the ways in which rows may change when these fields are written. The result is a list of lists: a change needs one
 * way of each list, to hold before and after. The ways of a list come from the grants that admit some of the fields. Grants
 * without a check share one way, so that a row may pass from the rows of one to those of another.
 */
export function waysToChange(access: Granted, fieldIds: readonly string[]): readonly (readonly Way[])[] {
  const sets = new Map<string, readonly Grant[]>()
  for (const id of fieldIds) {
    const grants = access.grants.filter((grant) => admits(grant, id))
    sets.set(grants.map((grant) => access.grants.indexOf(grant)).join(), grants)
  }
  return (fieldIds.length === 0 ? [access.grants] : [...sets.values()]).map(waysOf)
}

function waysOf(grants: readonly Grant[]): readonly Way[] {
  const plain = grants.filter(({ check }) => check === undefined)
  const before = unite(plain.map(({ rows }) => rows))
  const valid = unite(plain.map(({ rows, validation }) => and([rows, validation])))
  const shared = plain.length === 0 ? [] : [{ before, after: before, valid }]
  const own = grants.flatMap(({ rows, check, validation }) =>
    check === undefined ? [] : [{ before: rows, after: check, valid: and([check, validation]) }],
  )
  return [...shared, ...own]
}

/** Every field must be covered by a grant; a write without fields needs any one grant. */
function justified(access: Granted, fieldIds: readonly string[], conditionOf: (grant: Grant) => Filter): Filter {
  if (fieldIds.length === 0) return unite(access.grants.map(conditionOf))
  return and(fieldIds.map((fieldId) => unite(access.grants.filter((grant) => admits(grant, fieldId)).map(conditionOf))))
}

/** True if a grant admits this field. */
export function admits({ fields }: Grant, fieldId: string): boolean {
  return fields === 'every' || fields.has(fieldId)
}

/**
 * Returns the rows of the junction that a many-to-many field counts: those whose link to the other side the caller may
 * read; all for other relations. Undefined if the caller may not follow the relation at all.
 */
export function linkRows({ accessTo }: Viewer, { target, through }: RelationField): Filter | undefined {
  if (accessTo(target, 'read').kind === 'denied') return undefined
  if (through === undefined) return all
  const access = accessTo(through.far.collection, 'read')
  const visible = access.kind === 'granted' ? visibility(access, through.far) : undefined
  return access.kind === 'denied' || visible === undefined ? undefined : and([access.rows, isTrue(visible)])
}

/** The caller's access to every collection, as planning needs it. */
export type Viewer = {
  readonly accessTo: (collection: Collection, action: Action) => Access
  /** Has `dataModel:read`: messages may tell the caller that a collection or field does not exist or is hidden. */
  readonly seesModel: boolean
}
