/**
 * Notices that the schema of a database was changed outside of the service (docs/contract.md#drift). Looks at every source
 * periodically, and at a source where a table or column turned out to be missing. Skips connectors, which have no catalog.
 */
import type { Config } from '../../config.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import { isSystemSource, type Model, type ModelRecords, type SourceRecord } from '../../core/model/model.ts'
import { sqlProviders } from '../../core/sql/address.ts'
import type { Ports } from '../../ports/ports.ts'
import {
  claimLook,
  type DriftedSource,
  loadDriftedSources,
  loadDrifts,
  loadSeenSchema,
  saveLook,
} from '../../store/drift.ts'
import { markedSources } from '../../store/sources.ts'
import { loadModelVersion, type WorkspaceRow } from '../../store/workspaces.ts'
import { recordEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { Introspection } from './introspection.ts'
import type { ModelCache } from './model-cache.ts'

export type Drift = {
  /** Looks at the sources of the workspaces that are due. Never throws: failures are observed. */
  run(): Promise<void>
  /** Looks at one source now. Never throws. */
  look(workspace: WorkspaceRow, sourceId: string): Promise<void>
  /** The JSON text of the sources that differ from the model; requires dataModel:read (403). */
  list(scope: RequestScope): Promise<string>
  /** The sources of all workspaces that differ from their models. */
  warnings(): Promise<readonly ({ readonly kind: 'schemaDrift' } & DriftedSource)[]>
}

/** Workspaces per run, since a run of a Worker may send a thousand requests. The next run continues with the others. */
const MAX_WORKSPACES = 200

/** Workspaces looked at in parallel, and sources of each, so that a slow source delays no other. */
const AT_ONCE = 8

/** Milliseconds by which a timer or a cron may fire early. */
const SLACK = 60_000

export type DriftDeps = {
  readonly ports: Pick<Ports, 'database' | 'workspaces' | 'clock' | 'ids' | 'observe'>
  readonly config: Config
  readonly models: Pick<ModelCache, 'load'>
  readonly introspection: Pick<Introspection, 'outline' | 'differences'>
}

export function createDrift(deps: DriftDeps): Drift {
  const { ports, config, models, introspection } = deps
  const { database, workspaces, clock, ids, observe } = ports
  const interval = config.SERVICE_SCHEMA__DRIFT_INTERVAL

  async function load(workspace: WorkspaceRow): Promise<Model> {
    return models.load(workspace, (await loadModelVersion(database, workspace.id)) ?? 0)
  }

  /** Runs `AT_ONCE` copies of `work` in parallel. */
  async function sideBySide(work: () => Promise<void>): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => attempt(work)))
  }

  /** Ignores a source that cannot be queried: requests for that source report the error in more detail. */
  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ServiceError)) observe({ kind: 'fault', error })
    }
  }

  /** The sources that are being looked at, each with the next look that was requested meanwhile. */
  const looking = new Map<string, (() => Promise<void>) | undefined>()

  /** Looks at a source, then runs the looks that were requested meanwhile; the source may never answer. */
  async function lookAlone(sourceId: string, look: () => Promise<void>): Promise<void> {
    try {
      for (let next: typeof look | undefined = look; next !== undefined; next = looking.get(sourceId)) {
        looking.set(sourceId, undefined)
        await next()
      }
    } finally {
      looking.delete(sourceId)
    }
  }

  async function lookAt(workspace: WorkspaceRow, model: Model, source: SourceRecord): Promise<void> {
    const { version, records } = model
    const seen = await loadSeenSchema(database, source.id)
    const isImported = records.collections.some(({ sourceId }) => sourceId === source.id)
    if (seen === undefined && !isImported && !isSystemSource(source)) return
    const outline = await introspection.outline(workspace, records, source)
    if (seen?.outline === outline && seen.modelVersion === version) return
    const place = { workspaceId: workspace.id, sourceId: source.id }
    /** Saves no outline if the schema changed during the comparison: the next look compares again. */
    const compare = async (against: ModelRecords) => {
      const found = await introspection.differences(workspace, against, source.id)
      const isSame = (await introspection.outline(workspace, against, source)) === outline
      return { found, seen: { ...place, outline: isSame ? outline : null } }
    }
    const first = await compare(records)
    if (first.found === undefined) {
      await database.batch([saveLook({ ...first.seen, modelVersion: version }, undefined, clock.now())])
      return
    }
    // A migration of ours may be running. Under the migration lock none can, so a difference found here was made by others.
    await workspaces.withMigrationLock(workspace.id, async () => {
      const { version: modelVersion, records: current } = await load(workspace)
      if ((await markedSources(database, workspace.id)).has(source.id)) return
      const { found, seen: last } = await compare(current)
      const isNew = found !== undefined && (await loadSeenSchema(database, source.id))?.isDrifted !== true
      await database.batch([
        saveLook({ ...last, modelVersion }, found, clock.now()),
        ...(isNew
          ? [
              recordEvent(ids, {
                action: 'schema.drift.v1',
                actor: { kind: 'system' },
                workspaceId: workspace.id,
                target: { type: 'source', id: source.id },
                payload: { source: source.apiName, operations: found.operations.map(({ kind }) => kind) },
              }),
            ]
          : []),
      ])
      if (isNew) {
        const message = `The data source ${source.apiName} of the workspace ${workspace.apiName} was changed outside of the service`
        observe({ kind: 'warning', message })
      }
    })
  }

  async function checkSources(workspace: WorkspaceRow): Promise<void> {
    const model = await load(workspace)
    const sources = model.records.sources.filter(hasCatalog)
    await sideBySide(async () => {
      for (let next = sources.shift(); next !== undefined; next = sources.shift()) {
        const source = next
        if (!looking.has(source.id)) await attempt(() => lookAlone(source.id, () => lookAt(workspace, model, source)))
      }
    })
  }

  return {
    run: () =>
      attempt(async () => {
        if (interval === 0) return
        let left = MAX_WORKSPACES
        await sideBySide(async () => {
          for (; left > 0; left -= 1) {
            const now = clock.now()
            const workspace = await claimLook(database, { now, due: now - interval + Math.min(SLACK, interval / 10) })
            if (workspace === undefined) break
            await attempt(() => checkSources(workspace))
          }
        })
        observe({ kind: 'drift', sources: (await loadDriftedSources(database)).length })
      }),

    look: (workspace, sourceId) =>
      attempt(async () => {
        if (interval === 0) return
        const look = async () => {
          const model = await load(workspace)
          const source = model.records.sources.find(({ id }) => id === sourceId)
          if (source !== undefined && hasCatalog(source)) await lookAt(workspace, model, source)
        }
        // The running look may have read an older schema than this look is for.
        if (looking.has(sourceId)) looking.set(sourceId, look)
        else await lookAlone(sourceId, look)
      }),

    list({ workspace, rights }) {
      requireEntitlement(rights, 'dataModel:read')
      return loadDrifts(database, workspace.id)
    },

    async warnings() {
      return (await loadDriftedSources(database)).map((source) => ({ kind: 'schemaDrift', ...source }))
    },
  }
}

function hasCatalog({ provider }: SourceRecord): boolean {
  return sqlProviders.some((name) => name === provider)
}
