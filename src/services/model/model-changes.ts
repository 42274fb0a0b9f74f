/**
 * Changes the model of a workspace: under a lock, as the next version, in one transaction with further statements for
 * the system database, and published after the commit.
 */
import type { Entitlement } from '../../core/access/entitlement.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { Model, ModelRecords } from '../../core/model/model.ts'
import { requireRoom } from '../../core/model/room.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports/ports.ts'
import { ofShare } from '../../sources/of-share.ts'
import {
  batchUnderLock,
  drawFence,
  type Fence,
  freshFence,
  givenFence,
  keepLock,
  reserveLock,
  takeLock,
} from '../../store/model-lock.ts'
import { loadModel, saveModel } from '../../store/models.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { loadModelVersion } from '../../store/workspaces.ts'
import { type RequestScope, rightsNow } from '../caller/callers.ts'
import { compileModel, type ModelCache } from './model-cache.ts'
import { requirePlan } from './reviewed.ts'

export type ModelChange<Answer> = {
  /** The new records; unchanged ones are the same objects. */
  readonly records: ModelRecords
  /** Statements that run in the same transaction, after the model is saved. */
  readonly statements: readonly Statement[]
  readonly answer: Answer
  /** Changes in other databases, made before the model is saved. */
  readonly elsewhere?: ExternalChanges
}

export type ExternalChanges = {
  /** Statements that run in the system database before `run`, in one transaction with taking the lock. */
  readonly announce: readonly Statement[]
  /** Makes the changes. Throws if nothing was changed; returns what to save if the changes were made only in part. */
  readonly run: () => Promise<HalfChange | undefined>
  /** Saved if the work is done but the model cannot be saved; for an overtaken change, only the statements run. */
  readonly unsaved: Saved
}

type Saved = Pick<ModelChange<unknown>, 'records' | 'statements'>

/** What is saved instead of an incomplete change, and the error that ended the change. */
export type HalfChange = Saved & { readonly error: ServiceError }

export type ModelChanges = {
  /** The current model. */
  current(workspace: WorkspaceRow): Promise<Model>
  /**
   * Holds the workspace's lock while `decide` computes new records from those of the current model; writes nothing if they are
   * the same and there are no statements. Calls `decide` again if the model has changed meanwhile. Waiting for the lock may
   * take long: `decide` gets the scope with the rights at that time, and a caller who no longer has `needed` is refused (401,
   * 403).
   */
  change<Answer>(scope: RequestScope, needed: Entitlement, decide: Decide<Answer>): Promise<Answer>
}

type Decide<Answer> = (model: Model, scope: RequestScope) => Promise<ModelChange<Answer>>

type Attempt<Answer> = { readonly answer: Answer } | { readonly error: unknown }

/**
 * Limits the retries. Another process can change the model between read and write: its lease lapsed, it lost its connection, or
 * it runs on the other platform, which uses another lock. Every failed attempt means that another process committed a change.
 */
const MAX_ATTEMPTS = 100

export type ModelChangesDeps = {
  readonly ports: Pick<Ports, 'database' | 'workspaces'>
  readonly models: ModelCache
}

export function createModelChanges(deps: ModelChangesDeps): ModelChanges {
  const { ports, models } = deps
  const { database, workspaces } = ports
  /** Uses the model in memory for successive changes; reading it back costs more than the rest of a small change. */
  async function load(workspace: WorkspaceRow) {
    const version = await loadModelVersion(database, workspace.id)
    const known = version === undefined ? undefined : models.known(workspace.id, version)
    if (known !== undefined) return known
    const loaded = await loadModel(database, workspace)
    if (loaded === undefined) throw new ServiceError('notFound', 'Workspace does not exist')
    const model = await compileModel(loaded.version, loaded.records)
    models.keep(workspace.id, model)
    return model
  }

  async function attempt<Answer>(
    workspace: WorkspaceRow,
    fence: Fence,
    decide: (model: Model) => Promise<ModelChange<Answer>>,
  ): Promise<Attempt<Answer> | undefined> {
    const own = ofShare(database, workspace.id)
    const model = await load(workspace)
    const { version, records } = model
    const change = await decide(model)
    if (change.records === records && change.statements.length === 0) return change
    requireRoom(records, change.records)
    const read = { workspaceId: workspace.id, version }
    const next = await compileModel(version + 1, change.records)
    const saving = (one: Saved) => [
      ...saveModel(workspace.apiName, records, one.records, version + 1),
      ...one.statements,
    ]
    if (change.elsewhere === undefined) {
      if (!(await batchUnderLock(own, [takeLock(read, fence), ...saving(change)]))) return undefined
      models.keep(workspace.id, next)
      return change
    }
    const { announce, run, unsaved } = change.elsewhere
    const drawn = await drawFence(database, fence)
    if (!(await batchUnderLock(own, [reserveLock(read, drawn), ...announce]))) return undefined
    const half = await run()
    const save = async (one: Saved) => {
      if (!(await batchUnderLock(own, [keepLock(read, drawn), ...saving(one)]))) return false
      models.keep(workspace.id, one === change ? next : await compileModel(version + 1, one.records))
      return true
    }
    const saved = await save(half ?? change).catch((error: unknown) => ({ error }))
    if (saved === true) return half ?? change
    // A later holder of the lock has found the mark; changes in other databases cannot be undone.
    const error = half?.error ?? (saved === false ? supersededFault() : saved.error)
    const isKept = half === undefined && (await save(unsaved).catch(() => false))
    if (!isKept) await own.batch((half ?? unsaved).statements)
    return { error }
  }

  return {
    current: load,

    async change(scope, needed, decide) {
      const { workspace, caller } = scope
      const decideNow = async (model: Model) => {
        await requirePlan(scope, model.version)
        const rights = await rightsNow(database, caller, workspace.id)
        requireEntitlement(rights, needed)
        const decided = await decide(model, { ...scope, rights })
        // `decide` may have waited long for a data source, so rights are checked again.
        requireEntitlement(await rightsNow(database, caller, workspace.id), needed)
        return decided
      }
      const done = await workspaces.withMigrationLock(workspace.id, async (fence) => {
        for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
          // A retry draws a new fence, because it has read what a later holder wrote.
          const change = await attempt(workspace, count === 0 ? givenFence(fence) : freshFence, decideNow)
          if (change !== undefined) return change
        }
        throw new ServiceError('unavailable', 'Another migration of this workspace is still running')
      })
      await workspaces.changed(workspace.id)
      if ('error' in done) throw done.error
      return done.answer
    },
  }
}

function supersededFault(): ServiceError {
  return new ServiceError('unavailable', 'Another migration ran concurrently; introspect the data source first')
}
