/**
 * How a workspace's model changes, whoever decides what becomes of it: in turn, as the next version, in one transaction
 * with whatever else the system database has to do, and published when it stands.
 */
import { ServiceError } from '../../core/error.ts'
import type { ModelRecords } from '../../core/model/model.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports.ts'
import { loadModel, loadVersion, saveModel } from '../../store/models.ts'
import { param, type Sql, sql, statement } from '../../store/statements.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { compileModel, type ModelCache } from './model-cache.ts'

export type ModelChange<Answer> = {
  /** The records to keep; unchanged ones are the same objects. */
  readonly records: ModelRecords
  /** Run in the same transaction, after the model is saved. */
  readonly statements: readonly Statement[]
  readonly answer: Answer
  /** What other databases have to do before the model is saved. */
  readonly elsewhere?: ExternalChanges
}

export type ExternalChanges = {
  /** Run in the system database ahead of the work, in one transaction with taking the turn. */
  readonly announce: readonly Statement[]
  /** What it throws ends the change, and nothing is saved. */
  readonly run: () => Promise<void>
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
  /** Whoever changes a model step by step has it in memory; reading it back costs more than the rest of a small change. */
  async function load(workspace: WorkspaceRow) {
    const version = await loadVersion(database, workspace.id)
    const known = version === undefined ? undefined : models.known(workspace.id, version)
    const loaded = known ?? (await loadModel(database, workspace))
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
    const save = [...saveModel(workspace.apiName, records, change.records), ...change.statements]
    if (change.elsewhere === undefined) {
      if (!(await inTurn([takeTurn(workspace.id, version, fence), ...save]))) return undefined
    } else {
      const { announce, run } = change.elsewhere
      const own = await drawFence(fence)
      if (!(await inTurn([reserveTurn(workspace.id, version, own), ...announce]))) return undefined
      await run()
      // Whoever took the turn meanwhile has found the mark; what was done elsewhere cannot be undone.
      if (!(await inTurn([keepTurn(workspace.id, version, own), ...save]))) throw overtaken()
    }
    models.keep(workspace.id, next)
    return change
  }

  /** False where the turn was lost, and with it all of the batch. */
  async function inTurn(statements: readonly Statement[]): Promise<boolean> {
    try {
      await database.batch(statements)
      return true
    } catch (cause) {
      if (cause instanceof SqlFault && cause.state === DIVISION_BY_ZERO) return false
      throw cause
    }
  }

  async function drawFence(fence: Sql): Promise<Sql> {
    const [[own] = []] = await database.query(statement(sql`select ${fence}`))
    return sql`${param(own ?? null)}::bigint`
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
  return demandTurn(
    { workspaceId, version },
    sql`model_version = model_version + 1, fence = ${fence}`,
    sql`fence < ${fence}`,
  )
}

/** The same for work that is still to come: the turn is ours until a later holder takes it. */
function reserveTurn(workspaceId: string, version: number, fence: Sql): Statement {
  return demandTurn({ workspaceId, version }, sql`fence = ${fence}`, sql`fence < ${fence}`)
}

function keepTurn(workspaceId: string, version: number, fence: Sql): Statement {
  return demandTurn({ workspaceId, version }, sql`model_version = model_version + 1`, sql`fence = ${fence}`)
}

type Place = { readonly workspaceId: string; readonly version: number }

function demandTurn({ workspaceId, version }: Place, settings: Sql, holds: Sql): Statement {
  return statement(sql`
    with turn as (
      update service.workspace set ${settings}
      where id = ${param(workspaceId)}::uuid and model_version = ${param(String(version))}::bigint and ${holds}
      returning 1)
    select 1 / count(*) from turn`)
}

function overtaken(): ServiceError {
  return new ServiceError('unavailable', 'Another migration ran concurrently; introspect the data source first')
}
