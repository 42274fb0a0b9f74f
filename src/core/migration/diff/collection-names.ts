/**
 * Names the collections of tables that an introspection finds: after the table; if that name is taken, also after its schema,
 * its source or both. Tables of the default schema are named first.
 */
import { isSystemSource, type ModelRecords } from '../../model/model.ts'
import { systemRecords } from '../../model/system.ts'
import { NO_NAMESPACE, type SourceSchema, type SourceTable } from '../../sql/source-schema.ts'
import { deriveApiName } from '../derive.ts'
import { chooseNames, joinNames } from '../names.ts'
import type { DiffContext, TableMatch } from './context.ts'

/** The schema of `_system` that holds the collections of a workspace. */
export function dataSchemaOf({ workspace }: Pick<DiffContext, 'workspace'>): string {
  return `service_${workspace}_data`
}

export function nameCollections(
  { collections, sources }: ModelRecords,
  sourceId: string,
  {
    tables,
    schema,
    context,
  }: { readonly tables: TableMatch; readonly schema: SourceSchema; readonly context: DiffContext },
): ReadonlyMap<SourceTable, string> {
  const source = sources.find(({ id }) => id === sourceId)
  const usual = isSystemSource(source) ? dataSchemaOf(context) : schema.defaultNamespace
  const gone = new Set(tables.gone)
  const taken = new Set([
    ...systemRecords('', '').collections.map(({ apiName }) => apiName),
    ...collections.flatMap((collection) => (gone.has(collection) ? [] : [collection.apiName])),
  ])
  const { toApiName } = context
  const from = toApiName(source?.apiName ?? '')
  const unnamed = tables.added.map(({ table }) => {
    const { schema: place, dbName } = table
    const name = toApiName(dbName)
    const isUsual = place === usual || place === NO_NAMESPACE
    const within = (inner: string) => (isUsual ? inner : joinNames(toApiName(place), inner))
    const own = isUsual ? [name] : [name, within(name)]
    // In camelCase, `orders` and `Orders` would get the same name.
    const asIs = (isUsual ? [dbName] : [place, dbName]).map((text) => deriveApiName(text, () => false)).join('_')
    const candidates = [...own, joinNames(from, within(name)), asIs, `${from}_${asIs}`]
    return { table, isUsual, candidates: candidates.map(unreserved), rank: JSON.stringify([place, dbName]) }
  })
  const chosen = new Map<SourceTable, string>()
  for (const isFirst of [true, false]) {
    const those = unnamed.filter(({ isUsual }) => isUsual === isFirst)
    for (const [{ table }, name] of chooseNames(those, taken)) {
      chosen.set(table, name)
      taken.add(name)
    }
  }
  return chosen
}

/** Names that begin with `Service` are reserved for system collections of later releases. */
function unreserved(name: string): string {
  return name.replace(/^Service(?=[A-Z])/, 'service')
}
