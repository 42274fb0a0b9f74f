/**
 * The item use cases: read, create, update and delete. Items are JSON text that the database renders and nothing parses again.
 * `item-reads.ts` has the reads, `item-writes.ts` the writes.
 */
import type { Config } from '../../config.ts'
import type { Model } from '../../core/model/model.ts'
import type { PlanInList } from '../../core/plan/read.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ListAnswer, LongAnswer, Source } from '../../sources/source.ts'
import { areUntouched } from '../../store/models.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { createBindings } from './bindings.ts'
import { generatorsOf } from './generators.ts'
import type { BatchText } from './item-batch.ts'
import { createItemReads, type ItemReads } from './item-reads.ts'
import { createItemWrites, type ItemWrites } from './item-writes.ts'
import { type ListMeta, listMeta } from './list-meta.ts'
import { createLoadOnce } from './load-once.ts'
import { createOnModel } from './on-model.ts'
import { createOpenItems } from './open-items.ts'
import { createPlanCache, createViewers } from './plan-cache.ts'
import type { AggregatesQuery, BatchQuery, ItemQuery, ListQuery, OnceKey, Planned } from './planned.ts'
import { createRemainingModel, type LookAtSource, type OnMissing } from './remaining-model.ts'
import { createSnapshotRecheck } from './snapshot-recheck.ts'

export type {
  AggregatesQuery,
  BatchQuery,
  BatchText,
  ItemQuery,
  ListAnswer,
  ListMeta,
  ListQuery,
  LongAnswer,
  OnceKey,
  Planned,
}

export type Items = ItemReads &
  ItemWrites & {
    /** Runs the operations of `body` as one transaction. */
    batch(scope: RequestScope, body: unknown, query: BatchQuery): Promise<Planned<BatchText>>
  }

/** The JSON text of a list with its `meta`. */
export function listBody({ data, ...metaParts }: Pick<ListAnswer, 'data' | 'cursors'> & Partial<ListAnswer>): string {
  const meta = listMeta(metaParts)
  return meta === undefined ? `{"data":${data}}` : `{"data":${data},"meta":${JSON.stringify(meta)}}`
}

/** The JSON text of a batch with its `meta`; null for operations whose query has no `meta`. */
export function batchBody({ data, metas }: { readonly data: string; readonly metas: BatchText['meta'] }): string {
  if (metas.every((meta) => meta === undefined)) return `{"data":${data}}`
  return `{"data":${data},"meta":${JSON.stringify(metas.map((meta) => meta ?? null))}}`
}

export type ItemsDeps = {
  readonly ports: Ports
  readonly config: Config
  readonly models: ModelCache
  readonly openSource: (workspace: WorkspaceRow, model: Model, sourceId: string) => Source
  readonly look: LookAtSource
  readonly onMissing: OnMissing
}

export function createItems(deps: ItemsDeps): Items {
  const { ports, config, models, openSource, look, onMissing } = deps
  const viewers = createViewers()
  const createLimit = config.SERVICE_ITEMS__CREATE_LIMIT
  const aggregates = lateAggregates()
  const shared = {
    onModel: createOnModel({
      load: aggregates.load,
      models,
      viewers,
      lookAgain: createSnapshotRecheck(ports),
      untouched: ({ apiName }, ids, version) => areUntouched(ports.database, apiName, ids, version),
      remaining: createRemainingModel({ clock: ports.clock, look, onMissing }),
    }),
    open: createOpenItems({
      viewers,
      limits: { default: config.SERVICE_QUERY_LIMIT_DEFAULT, max: config.SERVICE_QUERY_LIMIT_MAX },
      maxRows: config.SERVICE_QUERY__MAX_ROWS,
      openSource,
      planInList: aggregates.planInList,
    }),
    plans: createPlanCache({}),
    bindings: createBindings(ports),
  }
  const loadOnce = createLoadOnce({
    ports,
    bindings: shared.bindings,
    timeToLive: config.SERVICE_IDEMPOTENCY__TTL,
    timeLimit: config.SERVICE_QUERY__TIMEOUT,
  })
  return {
    async batch(scope, body, { once, ...options }) {
      const { runBatch } = await import('./item-batch.ts')
      const deps = { ...shared, viewers, createLimit, loadOnce, generators: () => generatorsOf(ports) }
      return runBatch(deps, scope, { body, options, once })
    },
    ...createItemReads(shared),
    ...createItemWrites({ ...shared, viewers, ports, loadOnce, createLimit, maxRows: config.SERVICE_QUERY__MAX_ROWS }),
  }
}

/** Loads the planning of aggregates in lists with the first request that needs it. */
function lateAggregates() {
  let planInList: PlanInList | undefined
  return {
    planInList: () => planInList,
    async load(): Promise<void> {
      planInList = (await import('../../core/plan/aggregate.ts')).planInList
    },
  }
}
