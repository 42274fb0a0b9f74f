/** How requests are queued: what is done for one is of its account in its workspace. */
import type { Model } from '../../core/model/model.ts'
import { type Caller, personOf } from './caller.ts'
import type { QueuedWork, WorkQueue } from './work-queue.ts'

/** A model of more fields is large, and what a longer body brings. */
const LARGE = 5_000
const LONG = 256 * 1024

/** Queues `work`, which makes something of all of a model. */
export function ofWholeModel<Result>(
  queue: WorkQueue,
  { scope, model, body = '' }: { readonly scope: Requesting; readonly model: Model; readonly body?: string },
  work: () => Promise<Result>,
): Promise<Result> {
  return queue.run({ ...queuedFor(scope), isLarge: model.records.primitiveFields.length > LARGE || isLong(body) }, work)
}

/** Whether what a body brings takes much memory. */
export function isLong(body: string): boolean {
  return body.length > LONG
}

/** A workspace, and by whom a request in it is. */
export type Requesting = { readonly workspace: { readonly id: string }; readonly caller: Caller }

/** What is queued for a request is of its account in its workspace: a source that is silent holds up nobody else there. */
export function queuedFor({ workspace, caller }: Requesting): Omit<QueuedWork, 'isLarge'> {
  const by = personOf(caller)
  return by === undefined ? { id: workspace.id } : { id: `${workspace.id} ${by}`, by }
}
