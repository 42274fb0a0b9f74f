/**
 * How a workspace's model changes, whoever decides what becomes of it: in turn, as the next version, in one transaction
 * with whatever else the system database has to do, and published when it stands.
 */
import { ServiceError } from '../core/error.ts'
import type { ModelRecords } from '../core/model/model.ts'
import { SqlFault } from '../core/sql/fault.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Ports } from '../ports.ts'
import { loadModel, saveModel } from '../store/models.ts'
import { param, type Sql, sql, statement } from '../store/statements.ts'
import type { WorkspaceRow } from '../store/workspaces.ts'
import { compileModel, type ModelCache } from './model-cache.ts'

export type ModelChange<Answer> = {
  /** The records to keep; unchanged ones are the same objects. */
  readonly records: ModelRecords
  /** Run in the same transaction, after the model is saved. */
  readonly statements: readonly Statement[]
  readonly answer: Answer
}

export type ModelChanges = {
  /** The records as they stand. */
  current(workspace: WorkspaceRow): Promise<ModelRecords>
  /**
   * Holds the workspace's lock while `decide` turns the current records into new ones; where these are the same and
   * there is nothing to run, nothing is written. `decide` is asked again when the model has moved on meanwhile.
   */
  change<Answer>(
    workspace: WorkspaceRow,
    decide: (records: ModelRecords) => Promise<ModelChange<Answer>>,
  ): Promise<Answer>
}

/**
 * Another one changed the model between our reading and our writing it: a holder before us whose lease lapsed or who lost
 * its connection, or one on the other platform, whose lock is another. Every lost attempt is a change of theirs that
 * stands, so this many of them came first.
 */
const MAX_ATTEMPTS = 100

export function createModelChanges({ database, workspaces }: Ports, models: ModelCache): ModelChanges {
  async function load(workspace: WorkspaceRow) {
    const loaded = await loadModel(database, workspace)
    if (loaded === undefined) throw new ServiceError('notFound', 'Workspace does not exist')
    return loaded
  }

  async function attempt<Answer>(
    workspace: WorkspaceRow,
    fence: Sql,
    decide: (records: ModelRecords) => Promise<ModelChange<Answer>>,
  ): Promise<{ readonly answer: Answer } | undefined> {
    const { version, records } = await load(workspace)
    const change = await decide(records)
    if (change.records === records && change.statements.length === 0) return change
    const next = compileModel(version + 1, change.records)
    try {
      await database.batch([
        takeTurn(workspace.id, version, fence),
        ...saveModel(workspace.apiName, records, change.records),
        ...change.statements,
      ])
    } catch (cause) {
      if (cause instanceof SqlFault && cause.state === DIVISION_BY_ZERO) return undefined
      throw cause
    }
    models.keep(workspace.id, next)
    return change
  }

  return {
    async current(workspace) {
      const { records } = await load(workspace)
      return records
    },

    async change(workspace, decide) {
      const { answer } = await workspaces.withMigrationLock(workspace.id, async (fence) => {
        const given = sql`${param(String(fence))}::bigint`
        for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
          const change = await attempt(workspace, count === 0 ? given : drawn, decide)
          if (change !== undefined) return change
        }
        throw new ServiceError('unavailable', 'Another migration of this workspace is still running')
      })
      await workspaces.changed(workspace.id)
      return answer
    },
  }
}

const DIVISION_BY_ZERO = '22012'

/** Whoever decides anew has read what the later holder wrote, and so comes after that one. */
const drawn = sql`nextval('service.fence')`

/** Fails the transaction unless the model is still the one we decided on and no later holder of the lock has written. */
function takeTurn(workspaceId: string, version: number, fence: Sql): Statement {
  return statement(sql`
    with turn as (
      update service.workspace set model_version = model_version + 1, fence = ${fence}
      where id = ${param(workspaceId)}::uuid and model_version = ${param(String(version))}::bigint
        and fence < ${fence}
      returning 1)
    select 1 / count(*) from turn`)
}
