/** Opens a collection for a caller: access, limits of a request, and source. */
import type { Action } from '../../core/access/access.ts'
import type { Model } from '../../core/model/model.ts'
import { spendPlanned } from '../../core/plan/budget.ts'
import { openCollection } from '../../core/plan/names.ts'
import type { PageLimits, PlanInList, ReadContext } from '../../core/plan/read.ts'
import type { Source } from '../../sources/source.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { Viewers } from './plan-cache.ts'

/** Returns the context of a plan and the source that runs it. Throws 404 and 403 as every request for items does. */
export type OpenItems = (
  model: Model,
  scope: RequestScope,
  name: string,
  action: Action,
) => ReadContext & { readonly source: Source }

export type OpenItemsDeps = {
  readonly viewers: Viewers
  readonly limits: PageLimits
  readonly maxRows: number
  readonly openSource: (workspace: WorkspaceRow, model: Model, sourceId: string) => Source
  /** Plans aggregates in lists; undefined until a request has loaded it. */
  readonly planInList: () => PlanInList | undefined
}

export function createOpenItems(deps: OpenItemsDeps): OpenItems {
  const { viewers, limits, maxRows, openSource, planInList } = deps

  return (model, { rights, workspace, spent }, name, action) => {
    const viewer = viewers.of(rights, model)
    const { collection, access } = openCollection(model, viewer, name, action)
    const source = openSource(workspace, model, collection.sourceId)
    return { viewer, collection, access, limits, maxRows, spent, planInList: planInList(), source }
  }
}

/** A plan for sharing between requests, the number of rows that it may return, and the maximum. */
export type Counted<T> = { readonly made: T; readonly rows: number; readonly most: number }

export function counted<T>(
  { source, ...context }: ReturnType<OpenItems>,
  make: (source: Source, context: ReadContext) => T,
): Counted<T> {
  const spent = { rows: 0 }
  const made = make(source, { ...context, spent })
  return { made, rows: spent.rows, most: context.maxRows }
}

/** Counts the rows of a shared plan against the budget of a request of several calls. */
export function spentBy<T>({ spent }: RequestScope, { made, rows, most }: Counted<T>): T {
  if (spent !== undefined) spendPlanned(rows, { most, spent })
  return made
}
