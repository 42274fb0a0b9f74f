/** How requests are queued: by account and workspace. */
import type { Model } from '../../core/model/model.ts'
import { type Caller, personOf } from './caller.ts'
import type { QueuedWork, WorkQueue } from './work-queue.ts'

/** A model with more fields than this is large, and so is a body longer than LONG. */
const LARGE = 5_000
const LONG = 256 * 1024

/** Queues `work` on a whole model. */
export function ofWholeModel<Result>(
  queue: WorkQueue,
  { scope, model, body = '' }: { readonly scope: Requesting; readonly model: Model; readonly body?: string },
  work: () => Promise<Result>,
): Promise<Result> {
  return queue.run({ ...queuedFor(scope), isLarge: model.records.primitiveFields.length > LARGE || isLong(body) }, work)
}

/** True for a body whose contents take much memory. */
export function isLong(body: string): boolean {
  return body.length > LONG
}

/** A workspace, and the caller of a request in it. */
export type Requesting = { readonly workspace: { readonly id: string }; readonly caller: Caller }

/** The queue of an account in a workspace: a source that never answers does not delay other accounts. */
export function queuedFor({ workspace, caller }: Requesting): Omit<QueuedWork, 'isLarge'> {
  const by = personOf(caller)
  return by === undefined ? { id: workspace.id } : { id: `${workspace.id} ${by}`, by }
}
