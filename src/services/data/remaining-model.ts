/**
 * The model without columns that were dropped or renamed outside of the service, until the next introspection, so that only
 * requests that name such a field fail. Also removes closed collections.
 */

import { andThen, type Eventual } from '../../core/and-then.ts'
import type { Model } from '../../core/model/model.ts'
import { withoutClosed, withoutFields } from '../../core/model/without-fields.ts'
import { keyOf, locatedCollections } from '../../core/sql/catalog-ids.ts'
import type { SourceSchema } from '../../core/sql/source-schema.ts'
import { type Age, type Clock, startAge } from '../../ports/clock.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { compileModel } from '../model/model-cache.ts'

/** Reads the schema that a source has now. */
export type LookAtSource = (workspace: WorkspaceRow, model: Model, sourceId: string) => Promise<SourceSchema>

/** Called for a source that lacks a table or a column of the model, at a limited rate. */
export type OnMissing = (workspace: WorkspaceRow, sourceId: string) => void

export type RemainingModel = {
  /** Returns the model without closed collections. */
  open(model: Model): Eventual<Model>
  /** Returns the model without fields that are known to be missing. */
  of(model: Model): Model
  /** Looks at the source of a collection; undefined if nothing is missing beyond what `of` removes. */
  without(workspace: WorkspaceRow, model: Model, collection: string): Promise<Model | undefined>
}

export type RemainingModelDeps = { readonly clock: Clock; readonly look: LookAtSource; readonly onMissing: OnMissing }

/** Milliseconds after which a restored column is seen, and minimum interval between two looks at a source. */
const MAX_AGE = 30_000

export function createRemainingModel(deps: RemainingModelDeps): RemainingModel {
  const { clock, look, onMissing } = deps
  const known = new WeakMap<Model, { readonly remaining: Model; readonly age: Age; readonly sources: Set<string> }>()

  const fresh = (model: Model) => {
    const found = known.get(model)
    return found === undefined || found.age() > MAX_AGE ? undefined : found
  }

  const opened = new WeakMap<Model, Model>()

  return {
    open(model) {
      const known = opened.get(model)
      if (known !== undefined) return known
      const records = withoutClosed(model.records)
      return andThen(records === model.records ? model : compileModel(model.version, records), (open) => {
        opened.set(model, open)
        return open
      })
    },

    of: (model) => fresh(model)?.remaining ?? model,

    async without(workspace, model, collection) {
      const sourceId = model.byName.get(collection)?.sourceId
      const before = fresh(model)
      if (sourceId === undefined || before?.sources.has(sourceId) === true) return undefined
      const { remaining = model, sources = new Set<string>(), age = startAge(clock) } = before ?? {}
      // A source that cannot be looked at has reported its failure already.
      const gone = await look(workspace, model, sourceId).then(
        (schema) => missingFields(model, sourceId, schema),
        () => new Set<string>(),
      )
      const next =
        gone.size === 0 ? remaining : await compileModel(model.version, withoutFields(remaining.records, gone))
      known.set(model, { remaining: next, age, sources: sources.add(sourceId) })
      onMissing(workspace, sourceId)
      return next === remaining ? undefined : next
    },
  }
}

/** The missing columns of existing tables; requests for a missing table fail by themselves. */
function missingFields({ records }: Model, sourceId: string, schema: SourceSchema): ReadonlySet<string> {
  const columns = new Map(
    schema.tables.map((table) => [keyOf(table), new Set(table.columns.map(({ dbName }) => dbName))]),
  )
  const tables = new Map(
    locatedCollections(records, sourceId, schema.defaultNamespace).map(({ record, place }) => [
      record.id,
      columns.get(keyOf(place)),
    ]),
  )
  return new Set(
    records.primitiveFields.flatMap(({ id, collectionId, dbName }) =>
      tables.get(collectionId)?.has(dbName) === false ? [id] : [],
    ),
  )
}
