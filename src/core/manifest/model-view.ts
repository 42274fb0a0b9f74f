/**
 * Which part of a model is told of: all that its data sources serve, or what of that one caller can use. The one place
 * that turns access into what a document shows (docs/contract.md#errors: what is hidden is not named).
 */
import { type Action, type Viewer, visibility } from '../access/access.ts'
import { canFollow, type Declarations } from '../connector/item-capabilities.ts'
import type { Collection, Field } from '../model/model.ts'

/** In which rows. */
export type Extent = 'always' | 'sometimes' | 'never'

export type ModelView = {
  readonly may: (collection: Collection, action: Action) => boolean
  readonly uses: (collection: Collection, field: Field, action: Action) => Extent
  /** In which of the rows that are answered the field has its value; it is null in the others. */
  readonly shows: (collection: Collection, field: Field) => Extent
  /** What of it the data source serves, whoever asks. */
  readonly declared: Declarations
}

export function fullModelView(declared: Declarations): ModelView {
  return {
    may: (collection, action) => action === 'read' || !collection.isReadOnly,
    uses: (_, field, action) => (isServed(field, action, declared) ? 'always' : 'never'),
    shows: () => 'always',
    declared,
  }
}

function isServed(field: Field, action: Action, declared: Declarations): boolean {
  return field.kind === 'primitive' || action !== 'read' || canFollow(field, declared)
}

export function modelViewOf(viewer: Viewer, declared: Declarations): ModelView {
  const may: ModelView['may'] = (collection, action) =>
    (action === 'read' || !collection.isReadOnly) && viewer.accessTo(collection, action).kind === 'granted'
  const uses: ModelView['uses'] = (collection, field, action) => {
    const access = viewer.accessTo(collection, action)
    if (access.kind === 'denied' || !may(collection, action) || !isServed(field, action, declared)) return 'never'
    const visible = visibility(access, field)
    // A relation into a collection that the caller may not read is hidden, whatever a policy says of the field.
    if (visible === undefined || (field.kind === 'relation' && !may(field.target, 'read'))) return 'never'
    return visible.kind === 'all' ? 'always' : 'sometimes'
  }
  return {
    may,
    uses,
    declared,
    shows(collection, field) {
      const extent = uses(collection, field, 'read')
      const reads = viewer.accessTo(collection, 'read')
      const readsAll = reads.kind === 'granted' && reads.rows.kind === 'all'
      // What was just written is answered also where the caller may not read it, without its values.
      const mayLeave = !readsAll && (may(collection, 'create') || may(collection, 'update'))
      // The row at the far end may be one that the caller does not see.
      const far = field.kind === 'relation' && !field.isList ? viewer.accessTo(field.target, 'read') : reads
      const seesFar = far.kind === 'granted' && (far === reads || far.rows.kind === 'all')
      return extent === 'always' && (mayLeave || !seesFar) ? 'sometimes' : extent
    },
  }
}
