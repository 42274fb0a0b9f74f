/**
 * A migration: lock → apply → persist → DDL → publish. In the `_system` source, model and tables change in one transaction, so
 * a partial change is impossible (docs/contract.md#all-or-nothing). Other sources are changed before the model is saved.
 */
import { requireEntitlement } from '../../core/access/principal.ts'
import { parseMigration } from '../../core/migration/operation.ts'
import type { ModelRecords } from '../../core/model/model.ts'
import type { Ports } from '../../ports/ports.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import { type RequestScope, requireStill } from '../caller/callers.ts'
import { isLong, ofWholeModel, queuedFor } from '../caller/queued-requests.ts'
import type { WorkQueue } from '../caller/work-queue.ts'
import { rememberIds } from './catalog-identity.ts'
import type { BrokenTests, MigrationEffects } from './migration-effects.ts'
import { type MigrationWork, type ShownStatement, throwExplained } from './migration-work.ts'
import type { ModelChanges } from './model-changes.ts'
import { assertUnused, impactOf, stillFree, stillUnused } from './policy-use.ts'
import { planOn, requirePlan } from './reviewed.ts'
import type { SourceMigration } from './source-changes.ts'

export type Migrations = {
  /**
   * Applies the operations of a body. Throws 422 for a body that cannot be parsed, 409 if its plan is of another version of the
   * model, and 500 for operations that cannot be applied (docs/contract.md#migrations).
   */
  migrate(scope: RequestScope, body: string): Promise<void>
  /** Returns the statements that `migrate` would run, and the resulting model. Throws if it is known to fail. */
  preview(scope: RequestScope, body: string): Promise<Preview>
}

export type Preview = MigrationEffects & {
  readonly statements: readonly ShownStatement[]
  readonly model: ModelRecords
  /** The plan to send with a migration that must apply to this model only. */
  readonly plan: string
}

export type MigrationsDeps = {
  readonly ports: Pick<Ports, 'database' | 'ids'>
  readonly models: ModelChanges
  readonly work: MigrationWork
  readonly queue: WorkQueue
  readonly brokenTests: BrokenTests
}

export function createMigrations(deps: MigrationsDeps): Migrations {
  const { ports, models, work, queue, brokenTests } = deps
  const { database, ids } = ports

  async function migrate(scope: RequestScope, body: string): Promise<void> {
    const { workspace } = scope
    const { operations, plan } = parseMigration(body)
    const payload = { operations: operations.map(({ kind }) => kind) }
    const action = 'schema.migrate.v1'
    let works: readonly SourceMigration[] = []
    try {
      const migrated = await models.change(scope, 'dataModel:edit', async (before, now) => {
        await requirePlan({ workspace, plan }, before.version)
        const prepared = await work.prepare(now, before, operations)
        const { records, own, others } = prepared
        works = own
        const impact = impactOf({ before, after: records, operations }, now.rights)
        await assertUnused(database, workspace.id, impact)
        await work.requirePossible(workspace, prepared, { isDryRun: false })
        const { statements, elsewhere } = await work.changes(workspace, prepared, (applied) =>
          recordWorkspaceEvent(ids, scope, { action, outcome: 'failure', payload: { ...payload, applied } }),
        )
        return {
          records,
          statements: [
            ...stillUnused(workspace.id, impact),
            ...stillFree(workspace.id, impact),
            ...statements,
            recordWorkspaceEvent(ids, scope, { action, payload }),
          ],
          answer: { after: records, made: prepared.made, sources: [...own, ...others] },
          ...(elsewhere !== undefined && { elsewhere }),
        }
      })
      const { sources, ...change } = migrated
      await rememberIds(database, { workspace: workspace.apiName, ...change }, sources)
    } catch (cause) {
      await throwExplained(cause, works)
    }
  }

  return {
    async migrate(scope, body) {
      requireEntitlement(scope.rights, 'dataModel:edit')
      // A long body takes much memory while the migration waits for the lock.
      return isLong(body)
        ? queue.run({ ...queuedFor(scope), isLarge: true }, () => migrate(scope, body))
        : migrate(scope, body)
    },

    async preview(scope, body) {
      const { workspace, rights } = scope
      requireEntitlement(rights, 'dataModel:edit')
      const before = await models.current(workspace)
      const preview = await ofWholeModel(queue, { scope, model: before, body }, async () => {
        const { operations } = parseMigration(body)
        const prepared = await work.prepare(scope, before, operations)
        const { records } = prepared
        const impact = impactOf({ before, after: records, operations }, rights)
        await assertUnused(database, workspace.id, impact)
        await work.requirePossible(workspace, prepared, { isDryRun: true })
        const { migrationEffects } = await import('./migration-effects.ts')
        return {
          statements: await work.shown(prepared),
          model: records,
          plan: await planOn(workspace, before.version),
          ...(await migrationEffects({ ports, brokenTests }, scope, { work: prepared, operations })),
        }
      })
      await requireStill(scope, 'dataModel:edit')
      return preview
    },
  }
}
