/**
 * Loads the declarations of the connectors behind a model, for documents. An introspection that changes a declaration
 * creates a new version of the model, so they are read once per version.
 */
import { type Declarations, noCapabilities } from '../../core/connector/item-capabilities.ts'
import { qualifiedName } from '../../core/connector/schema.ts'
import type { Model, SourceRecord } from '../../core/model/model.ts'
import { sqlProviders } from '../../core/sql/address.ts'
import type { Ports } from '../../ports/ports.ts'
import { loadCapabilities } from '../../store/capabilities.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'

/** Loads the declarations for a model of `workspace`; queries the system database only if it has connectors. */
export type LoadDeclarations = (workspace: WorkspaceRow, model: Model) => Promise<Declarations>

export type DeclarationsDeps = Pick<Ports, 'database'>

export function createDeclarations(deps: DeclarationsDeps): LoadDeclarations {
  const { database } = deps
  const known = new WeakMap<Model, Declarations>()
  return async (workspace, model) => {
    const kept = known.get(model)
    if (kept !== undefined) return kept
    const connectors = [...model.sources.values()].filter(isConnector)
    const bySource = new Map(
      await Promise.all(
        connectors.map(async ({ id }) => {
          const imported = await loadCapabilities(database, { workspaceId: workspace.id, sourceId: id })
          return [id, imported?.capabilities] as const
        }),
      ),
    )
    const declared: Declarations = ({ sourceId, schema, dbName }) =>
      bySource.has(sourceId)
        ? (bySource.get(sourceId)?.get(qualifiedName(schema, dbName)) ?? noCapabilities)
        : undefined
    known.set(model, declared)
    return declared
  }
}

/** True also for a connector that is not installed at present. */
function isConnector({ provider }: SourceRecord): boolean {
  return sqlProviders.every((one) => one !== provider)
}
