/**
 * The item use cases: read, create, update and delete. Items leave as JSON text: the database rendered it and nobody
 * parses it again. The reads are `item-reads.ts`, the writes `item-writes.ts`.
 */
import type { Config } from '../../config.ts'
import type { Model } from '../../core/model/model.ts'
import type { Ports } from '../../ports.ts'
import type { ListAnswer, LongAnswer, Source } from '../../sources/source.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { createBindings } from './bindings.ts'
import { createItemReads, type ItemReads } from './item-reads.ts'
import { createItemWrites, type ItemWrites } from './item-writes.ts'
import { createOnModel } from './on-model.ts'
import { createOpenItems } from './open-items.ts'
import { createPlanCache, createViewers } from './plan-cache.ts'
import type { ItemQuery, Planned } from './planned.ts'
import { createRemainingModel, type LookAtSource } from './remaining-model.ts'
import { createSnapshotRecheck } from './snapshot-recheck.ts'

export type { ItemQuery, ListAnswer, LongAnswer, Planned }

export type Items = ItemReads & ItemWrites

export type ItemsDeps = {
  readonly ports: Ports
  readonly config: Config
  readonly models: ModelCache
  readonly openSource: (workspace: WorkspaceRow, model: Model, sourceId: string) => Source
  readonly look: LookAtSource
}

export function createItems(deps: ItemsDeps): Items {
  const { ports, config, models, openSource, look } = deps
  const viewers = createViewers()
  const shared = {
    onModel: createOnModel({
      models,
      viewers,
      lookAgain: createSnapshotRecheck(ports),
      remaining: createRemainingModel({ clock: ports.clock, look }),
    }),
    open: createOpenItems({
      viewers,
      limits: { default: config.SERVICE_QUERY_LIMIT_DEFAULT, max: config.SERVICE_QUERY_LIMIT_MAX },
      maxRows: config.SERVICE_QUERY__MAX_ROWS,
      openSource,
    }),
    plans: createPlanCache(),
    bindings: createBindings(ports),
  }
  return {
    ...createItemReads(shared),
    ...createItemWrites({ ...shared, ports, createLimit: config.SERVICE_ITEMS__CREATE_LIMIT }),
  }
}
