/**
 * A migration: lock → apply → persist → DDL → publish. In the `_system` source model and tables change in one
 * transaction, so nothing partial is possible (contract 7).
 */
import { requireEntitlement } from '../core/access/principal.ts'
import { ServiceError } from '../core/error.ts'
import { applyOperations, migrationFault, type SourceChange } from '../core/migration/apply.ts'
import { type Operation, parseMigration } from '../core/migration/operation.ts'
import type { ModelRecords } from '../core/model/model.ts'
import { compileChange } from '../core/sql/ddl.ts'
import type { Dialect } from '../core/sql/dialect.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { postgres } from '../core/sql/postgres.ts'
import { compile, type Statement } from '../core/sql/statement.ts'
import type { Ports } from '../ports.ts'
import { dataSchema } from '../store/installation.ts'
import type { WorkspaceRow } from '../store/workspaces.ts'
import { recordIn } from './audit.ts'
import type { Entry } from './callers.ts'
import type { ModelChanges } from './model-changes.ts'
import { assertUnused, stillUnused } from './policies.ts'

export type Migrations = {
  /** Applies the operations of a body as sent; 422 where it cannot be read, 500 where it cannot be applied (seed). */
  migrate(entry: Entry, body: string): Promise<void>
  /** What `migrate` would run, and the model that it would leave behind; nothing is changed. */
  preview(entry: Entry, body: string): Promise<Preview>
}

export type Preview = {
  readonly statements: readonly { readonly sourceId: string; readonly sql: string }[]
  readonly model: ModelRecords
}

export function createMigrations({ database, ids }: Ports, models: ModelChanges): Migrations {
  function apply(workspace: WorkspaceRow, current: ModelRecords, operations: readonly Operation[]) {
    return applyOperations(current, operations, {
      workspace: workspace.apiName,
      dialectOf: (sourceId) => dialectOf(current, sourceId),
      dataNamespaceOf: (sourceId) => dataNamespaceOf(workspace, current, sourceId),
    })
  }

  return {
    async migrate(entry, body) {
      const { workspace, rights } = entry
      requireEntitlement(rights, 'dataModel:edit')
      const operations = parseMigration(body)
      const payload = { operations: operations.map(({ kind }) => kind) }
      let changes: readonly SourceChange[] = []
      try {
        await models.change(workspace, async (current) => {
          const applied = apply(workspace, current, operations)
          changes = applied.changes
          await assertUnused(database, workspace.id, current, applied.records)
          return {
            records: applied.records,
            statements: [
              ...stillUnused(workspace.id, current, applied.records),
              ...changes.flatMap(ddl),
              recordIn(ids, entry, { action: 'schema.migrate.v1', payload }),
            ],
            answer: undefined,
          }
        })
      } catch (cause) {
        throw cause instanceof SqlFault ? refused(cause, changes) : cause
      }
    },

    async preview({ workspace, rights }, body) {
      requireEntitlement(rights, 'dataModel:edit')
      const operations = parseMigration(body)
      const current = await models.current(workspace)
      const { records, changes } = apply(workspace, current, operations)
      const statements = changes.flatMap((change) =>
        ddl(change).map(({ text }) => ({ sourceId: change.sourceId, sql: text })),
      )
      return { statements, model: records }
    },
  }
}

function dialectOf(records: ModelRecords, sourceId: string): Dialect | undefined {
  return records.sources.some(({ id, apiName }) => id === sourceId && apiName === '_system') ? postgres : undefined
}

function dataNamespaceOf(workspace: WorkspaceRow, records: ModelRecords, sourceId: string): string | null {
  const name = dataSchema(workspace.apiName)
  return (
    records.namespaces.find((namespace) => namespace.sourceId === sourceId && namespace.dbName === name)?.id ?? null
  )
}

function ddl({ change }: SourceChange): readonly Statement[] {
  return compileChange(change, postgres).map((fragment) => compile(fragment, postgres))
}

/** A fault of the database, told as one of the operation that it can be traced to. */
function refused(fault: SqlFault, changes: readonly SourceChange[]): ServiceError {
  const reason = postgres.explain(fault)?.message ?? 'The database refused a change'
  const cause = new ServiceError('failed', reason, { cause: fault })
  const guilty = [fault.constraint, fault.column, fault.table]
    .filter((name) => name !== undefined)
    .map((name) => changes.find(({ change }) => JSON.stringify(change).includes(JSON.stringify(name))))
    .find((change) => change !== undefined)
  if (guilty !== undefined) return migrationFault(guilty.operation, cause)
  return new ServiceError('failed', 'Failed to execute the migration', { cause })
}
