/**
 * Decides which part of a model a document shows: everything that its data sources serve, or only what one caller can
 * use. The only place that turns access into visibility (docs/contract.md#errors: hidden names never appear).
 */
import { type Action, fieldActions, linkRows, type Viewer, visibility } from '../access/access.ts'
import { canFollow, type Declarations } from '../connector/item-capabilities.ts'
import { isFiles } from '../model/file-collection.ts'
import type { Collection, Field } from '../model/model.ts'

/** In how many rows something applies. */
export type Extent = 'always' | 'sometimes' | 'never'

export type ModelView = {
  readonly may: (collection: Collection, action: Action) => boolean
  readonly uses: (collection: Collection, field: Field, action: Action) => Extent
  /** In how many of the returned rows the field has its value; it is null in the others. */
  readonly shows: (collection: Collection, field: Field) => Extent
  /** What the data source serves, independent of the caller. */
  readonly declared: Declarations
  /** How people call a collection or field, by its id. */
  readonly called: Called
  /** Whether it shows everything, names in the database and names of sources included. */
  readonly isWhole: boolean
}

/** Whether the caller can do anything with it. */
export function isKnown({ uses }: ModelView, collection: Collection, field: Field): boolean {
  return fieldActions.some((action) => uses(collection, field, action) !== 'never')
}

/** Whether the caller may name an item by these fields: they read each of them in some row. */
export function readsAll({ uses }: ModelView, collection: Collection, fields: readonly Field[]): boolean {
  return fields.every((field) => uses(collection, field, 'read') !== 'never')
}

export type Called = (id: string) => { readonly displayName?: string; readonly description?: string } | undefined

const uncalled: Called = () => undefined

export function fullModelView(declared: Declarations, called = uncalled): ModelView {
  return {
    may: (collection, action) =>
      action === 'read' || (!collection.isReadOnly && (action !== 'create' || !isFiles(collection))),
    uses: (_, field, action) => (isServed(field, action, declared) ? 'always' : 'never'),
    shows: () => 'always',
    declared,
    called,
    isWhole: true,
  }
}

/** Shows only relations between `collections`: what a document of some collections can tell whole. */
export function viewWithin(view: ModelView, collections: ReadonlySet<Collection>): ModelView {
  return {
    ...view,
    uses: (collection, field, action) =>
      field.kind === 'relation' && !collections.has(field.target) ? 'never' : view.uses(collection, field, action),
  }
}

function isServed(field: Field, action: Action, declared: Declarations): boolean {
  return field.kind === 'primitive' || action !== 'read' || canFollow(field, declared)
}

export function modelViewOf(viewer: Viewer, declared: Declarations, called = uncalled): ModelView {
  const may: ModelView['may'] = (collection, action) =>
    (action === 'read' || !collection.isReadOnly) && viewer.accessTo(collection, action).kind === 'granted'
  const uses: ModelView['uses'] = (collection, field, action) => {
    const access = viewer.accessTo(collection, action)
    if (access.kind === 'denied' || !may(collection, action) || !isServed(field, action, declared)) return 'never'
    const visible = visibility(access, field)
    // A relation to a collection that the caller may not read is hidden, whatever policies allow on the field.
    if (visible === undefined || (field.kind === 'relation' && linkRows(viewer, field) === undefined)) return 'never'
    return visible.kind === 'all' ? 'always' : 'sometimes'
  }
  return {
    may,
    uses,
    declared,
    called,
    isWhole: false,
    shows(collection, field) {
      const extent = uses(collection, field, 'read')
      const reads = viewer.accessTo(collection, 'read')
      const readsAll = reads.kind === 'granted' && reads.rows.kind === 'all'
      // A write returns its row even to a caller that may not read it, with all values null.
      const mayLeave = !readsAll && (may(collection, 'create') || may(collection, 'update'))
      // The caller may not see the related row.
      const far = field.kind === 'relation' && !field.isList ? viewer.accessTo(field.target, 'read') : reads
      const seesFar = far.kind === 'granted' && (far === reads || far.rows.kind === 'all')
      return extent === 'always' && (mayLeave || !seesFar) ? 'sometimes' : extent
    },
  }
}
